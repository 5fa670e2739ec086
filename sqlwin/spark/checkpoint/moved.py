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
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlwin.runtime.files.atomic_files import replaced

SCHEMAS, LOCAL = "_stateSchema", "file:"
CHUNK = 512
"""Bytes that Hadoop has a checksum of each."""


def in_place(spark: Path) -> None:
    """spark: Spark's part of a checkpoint, which nobody else writes meanwhile."""
    for file, (text, now) in _outdated(spark).items():
        _write(file, _replaced(text, now).encode())


def is_moved(spark: Path) -> bool:
    return bool(_outdated(spark))


def is_lost(spark: Path) -> bool:
    """Whether it is moved, and there is no file where Spark looks for one."""
    olds = [Path(old.removeprefix(LOCAL)) for _, now in _outdated(spark).values() for old in now]
    return not all(old.exists() for old in olds)


def _outdated(spark: Path) -> dict[Path, tuple[str, dict[str, str]]]:
    """By file its text, and the paths in it that are others now."""
    found = {}
    for file in (spark / "state").glob("*/_metadata/v2/[0-9]*"):
        data, known = file.read_bytes(), _checksum(file)
        if known.exists() and known.read_bytes() != _sums(data):
            continue
        text, operator = data.decode(), file.parents[2]
        now = {old: _now(old, operator) for old in _paths(text)}
        if any(old != new for old, new in now.items()):
            found[file] = text, now
    return found


def _replaced(text: str, now: Mapping[str, str]) -> str:
    """Spark writes all characters as they are; what this wrote once has some as escapes."""
    for old, new in now.items():
        for ascii_ in (False, True):
            text = text.replace(
                json.dumps(old, ensure_ascii=ascii_), json.dumps(new, ensure_ascii=False)
            )
    return text


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
    """Each file whole or not at all, readable as before; in between there is no checksum."""
    mode = file.stat().st_mode
    with replaced(file) as path:
        path.write_bytes(data)
        path.chmod(mode)
        _checksum(file).unlink(missing_ok=True)
    with replaced(_checksum(file)) as path:
        path.write_bytes(_sums(data))
        path.chmod(mode)


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
