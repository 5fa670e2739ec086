"""The bytes of a file, uncompressed: gzip, zlib and zstd are known by how they begin.

Two of zlib's marks are text as well: `x^` and `x`, U+0001. What begins so is text if its
first bytes are UTF-8, which those of zlib practically never are.

>>> import gzip, tempfile
>>> with tempfile.NamedTemporaryFile() as file:
...     _ = file.write(gzip.compress(b"tea"))
...     file.flush()
...     content(file.name), is_compressed(file.name)
(b'tea', True)
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

_KNOWN: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"\x78\x01": zlib.decompress,
    b"\x78\x5e": zlib.decompress,
    b"\x78\x9c": zlib.decompress,
    b"\x78\xda": zlib.decompress,
    b"\x28\xb5\x2f\xfd": lambda data: _zstd(data),
}
TEXT_TOO = (b"\x78\x01", b"\x78\x5e")
"""Marks of zlib with which a text may begin."""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD = 64
FAILURES = (OSError, EOFError, zlib.error, pa.ArrowException)
"""Of a file that cannot be read, or is damaged as a whole."""


def content(path: str | Path) -> bytes:
    """One of `FAILURES` where there is no such file, or it is cut short."""
    data = Path(path).read_bytes()
    known = _of(data)
    return data if known is None else known(data)


def text(path: str | Path) -> bytes:
    """The content of a file of lines. One of `FAILURES` also where it is UTF-16: no line of it is
    UTF-8, and all would be malformed."""
    data = content(path)
    if data.startswith(_UTF16) and b"\0" in data[:_HEAD]:
        raise OSError(
            "it is UTF-16, and files are read as UTF-8: iconv -f UTF-16 -t UTF-8 makes it so"
        )
    return data


def is_compressed(path: str | Path) -> bool:
    with Path(path).open("rb") as file:
        return _of(file.read(_HEAD)) is not None


def _of(data: bytes) -> Callable[[bytes], bytes] | None:
    """data: the whole, or its first `_HEAD` bytes."""
    if data.startswith(TEXT_TOO) and _is_text(data[:_HEAD]):
        return None
    return next((opened for magic, opened in _KNOWN.items() if data.startswith(magic)), None)


def _is_text(head: bytes) -> bool:
    """Whether it is UTF-8, but for a character that is cut off at its end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _zstd(data: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return bytes(stream.read())
