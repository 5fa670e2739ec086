"""The beginnings of files, of which columns are inferred."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlwin.runtime.formats.content import is_compressed, text
from sqlwin.runtime.formats.lines import BOM

SAMPLE_BYTES, SAMPLE_ROWS, SAMPLE_FILES = 1 << 20, 10_000, 5


def sample(files: Sequence[str]) -> bytes:
    """The beginnings of some files, one behind the other; a header that all have, once."""
    chosen = files[:: max(1, -(-len(files) // SAMPLE_FILES))]
    first, *others = (_head(file).removeprefix(BOM) for file in chosen)
    header = first.splitlines(keepends=True)[0] if first else b""
    return b"".join([_ended(first), *(_ended(each.removeprefix(header)) for each in others)])


def _ended(data: bytes) -> bytes:
    return data if data.endswith(b"\n") or not data else data + b"\n"


def _head(file: str) -> bytes:
    """Whole lines from the beginning, some `SAMPLE_BYTES` of them."""
    if is_compressed(file):
        return _cut(text(file))
    with Path(file).open("rb") as opened:
        return _cut(opened.read(SAMPLE_BYTES + 1))


def _cut(data: bytes) -> bytes:
    if len(data) <= SAMPLE_BYTES:
        return data
    return data[: data.rfind(b"\n", 0, SAMPLE_BYTES) + 1] or data
