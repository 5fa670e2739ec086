"""A checkpoint whose folder was moved, or copied from elsewhere: Spark finds its schemas again.

Spark names the schemas of its state by whole paths, in spark/state/0/_metadata/v2/0:

    v2
    {"stateStoreInfo": [{"stateSchemaFilePaths": ["file:/old/state/0/_stateSchema/default/0_7c"]}]}

There is no such file after a move; after a copy it is one of the original, which may go. A path
becomes that of the file of its name in the folder as it is now, where there is one. A path that is
no file of the system's is left as it is, for such a folder has one name on all machines; and so is
a file that is damaged, which Spark refuses by its checksum.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

SCHEMAS, LOCAL = "_stateSchema", "file:"
CHUNK = 512
"""Bytes that Hadoop has a checksum of each."""


def in_place(spark: Path) -> None:
    """spark: Spark's part of a checkpoint, of which no query runs elsewhere."""
    for file in (spark / "state").glob("*/_metadata/v2/[0-9]*"):
        data, known = file.read_bytes(), _checksum(file)
        if known.exists() and known.read_bytes() != _sums(data):
            continue
        text, operator = data.decode(), file.parents[2]
        moved = text
        for old in _paths(text):
            moved = moved.replace(json.dumps(old), json.dumps(_now(old, operator)))
        if moved != text:
            _write(file, moved.encode())


def _paths(text: str) -> Iterator[str]:
    _, _, body = text.partition("\n")
    for store in json.loads(body).get("stateStoreInfo", ()):
        yield from store.get("stateSchemaFilePaths", ())


def _now(old: str, operator: Path) -> str:
    """The path of a schema in the folder of its operator."""
    _, found, name = old.rpartition(f"/{SCHEMAS}/")
    here = operator.resolve() / SCHEMAS / name
    return f"{LOCAL}{here}" if found and old.startswith(LOCAL) and here.exists() else old


def _write(file: Path, data: bytes) -> None:
    """Whole or not at all; where it ends in between, without its checksum."""
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    _checksum(file).unlink(missing_ok=True)
    Path(out.name).replace(file)
    _checksum(file).write_bytes(_sums(data))


def _checksum(file: Path) -> Path:
    """Hadoop's, of a file."""
    return file.with_name(f".{file.name}.crc")


def _sums(data: bytes) -> bytes:
    """What is in it.

    >>> _sums(b"tea").hex(" ", 4)
    '63726300 00000200 8e86d7b2'
    """
    sums = [zlib.crc32(data[at : at + CHUNK]) for at in range(0, len(data), CHUNK)]
    return b"crc\0" + struct.pack(f">{1 + len(sums)}I", CHUNK, *sums)
