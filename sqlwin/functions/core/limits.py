"""How large a value that an expression makes may get, and all that one call makes at once.

DuckDB calls a `Vector` with some thousand rows, or with all elements of arrays. Whatever makes
values that are longer than its arguments says first how long they will be (`check_bytes`,
`check_all`); what one call makes is added up. Rows that come to too much together are computed
in parts, and one that is too much by itself is an error of that row.
"""

from __future__ import annotations

import threading

import pyarrow as pa

from sqlwin import arrow_compute as pc

BYTES = 4 * 2**20
"""Of one value."""
TOGETHER = 256 * 2**20
"""Of all values of one call."""
ELEMENTS = 10_000
"""Of an array that is not made of others: a SEQUENCE, an ARRAY_REPEAT."""
_call = threading.local()


def begin() -> None:
    """A call begins: nothing is made yet."""
    _call.made = 0.0


def check_bytes(size: float) -> None:
    """ValueError where a value would have more bytes than BYTES, or all too many together."""
    _check(size, size)


def check_all(sizes: pa.Array) -> None:
    """The same of a column of sizes."""
    _check(pc.max(sizes).as_py() or 0, pc.sum(sizes).as_py() or 0)


def check_each(size: float, count: int) -> None:
    """The same of so many values of one size."""
    _check(size, size * count)


def _check(longest: float, together: float) -> None:
    if longest > BYTES:
        raise ValueError(f"an expression makes a value of more than {BYTES} bytes")
    _call.made = getattr(_call, "made", 0.0) + max(together, 0.0)
    if _call.made > TOGETHER:
        raise ValueError(f"an expression makes values of more than {TOGETHER} bytes at once")
