"""How large a value that an expression makes may get."""

from __future__ import annotations

BYTES = 4 * 2**20
"""Of one value."""
ELEMENTS = 10_000
"""Of an array that is not made of others: a SEQUENCE, an ARRAY_REPEAT."""
