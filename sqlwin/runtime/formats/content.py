"""The bytes of a file, uncompressed: gzip, zlib and zstd are known by how they begin.

>>> import gzip, tempfile
>>> with tempfile.NamedTemporaryFile() as file:
...     _ = file.write(gzip.compress(b"tea"))
...     file.flush()
...     content(file.name), is_compressed(file.name)
(b'tea', True)
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

_KNOWN: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"\x78\x01": zlib.decompress,
    b"\x78\x9c": zlib.decompress,
    b"\x78\xda": zlib.decompress,
    b"\x28\xb5\x2f\xfd": lambda data: _zstd(data),
}
FAILURES = (OSError, EOFError, zlib.error, pa.ArrowException)
"""Of a file that cannot be read, or is damaged as a whole."""


def content(path: str | Path) -> bytes:
    """One of `FAILURES` where there is no such file, or it is cut short."""
    data = Path(path).read_bytes()
    known = _of(data)
    return data if known is None else known(data)


def is_compressed(path: str | Path) -> bool:
    with Path(path).open("rb") as file:
        return _of(file.read(4)) is not None


def _of(data: bytes) -> Callable[[bytes], bytes] | None:
    return next((opened for magic, opened in _KNOWN.items() if data.startswith(magic)), None)


def _zstd(data: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return bytes(stream.read())
