"""How large a value that an expression makes may get."""

from __future__ import annotations

BYTES = 4 * 2**20
"""Of one value."""
ELEMENTS = 10_000
"""Of an array that is not made of others: a SEQUENCE, an ARRAY_REPEAT."""


def check_bytes(size: float) -> None:
    """ValueError where a value would have more bytes than BYTES."""
    if size > BYTES:
        raise ValueError(f"an expression makes a value of more than {BYTES} bytes")
