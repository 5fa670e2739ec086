"""What a decoder hands on: the good rows of a file or a part of it, and why others are bad.

Every row has its number in the file, so parts that were decoded in different ways
are put together again: `Lines.of` one part, `joined` several.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import empty, polars_schema
from sqlwin.runtime.rows.conform import conform
from sqlwin.schema import Schema

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
Texts = Callable[[Sequence[int]], list[str]]
BOM = b"\xef\xbb\xbf"
NO_TEXT = "not UTF-8; row has its bytes in base64"
LITTLE = 1 << 18
"""Bytes that Python looks through in less time than importing Arrow's functions takes."""


@dataclass(frozen=True)
class Lines:
    """rows: the good ones, of the declared columns. numbers: of each. bad: reasons by number."""

    rows: pl.DataFrame
    numbers: Numbers
    bad: dict[int, str] = field(default_factory=dict)

    @staticmethod
    def of(
        frame: pl.DataFrame, columns: Schema, numbers: Numbers | None = None, blanks: bool = False
    ) -> Lines:
        """Rows of any types, as the declared columns; `blanks` as of `conform`."""
        numbers = np.arange(len(frame), dtype=np.int64) if numbers is None else numbers
        found = conform(frame, columns, blanks)
        if not found.malformed:
            return Lines(found.rows, numbers)
        keep = np.ones(len(frame), dtype=bool)
        keep[[at for at, _ in found.malformed]] = False
        bad = {int(numbers[at]): why for at, why in found.malformed}
        return Lines(found.rows.filter(pl.Series(keep)), numbers[keep], bad)

    @property
    def count(self) -> int:
        return len(self.rows) + len(self.bad)


def joined(parts: Sequence[Lines], columns: Schema) -> Lines:
    """The parts' rows in the order of their numbers."""
    if len(parts) == 1:
        return parts[0]
    rows = [empty(polars_schema(columns)), *(part.rows for part in parts)]
    numbers = np.concatenate([np.empty(0, np.int64), *(part.numbers for part in parts)])
    bad = {number: why for part in parts for number, why in part.bad.items()}
    order = np.argsort(numbers, kind="stable")
    return Lines(pl.concat(rows)[order], numbers[order], bad)


def _decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_text(data: bytes) -> bool:
    """Whether it is UTF-8; of much data Arrow looks ten times as fast as Python.

    The offsets are packed by hand: `pa.array` of a list would import pandas."""
    if len(data) < LITTLE:
        return _decodes(data)
    ends = pa.py_buffer(struct.pack("=qq", 0, len(data)))
    whole = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(data)])
    try:
        whole.cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True
