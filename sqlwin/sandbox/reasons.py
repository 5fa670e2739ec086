"""Why an expression failed for a row, in the words of Spark where they are known.

Texts and functions of the table raise with Spark's error class in brackets, DuckDB's own
functions with words of its own; around each DuckDB says what kind of error it takes it for.

>>> reason("Invalid Input Error: [DIVIDE_BY_ZERO] Division by zero.")
'[DIVIDE_BY_ZERO] Division by zero.'
>>> reason("Out of Range Error: Overflow in addition of INT32 (2147483647 + 1)!")
'[ARITHMETIC_OVERFLOW] Overflow in addition of INT32 (2147483647 + 1)!'
>>> reason("Conversion Error: Could not convert string 'x' to INT32\\nLINE 1: …")
"Conversion Error: Could not convert string 'x' to INT32"
"""

from __future__ import annotations

import re

_OWN = re.compile(r"\[[A-Z][A-Z_0-9.]+\] .*")
_OVERFLOW = re.compile(r"Out of Range Error: (Overflow in \w+ of .*)")


def reason(error: str) -> str:
    """The first line that says it."""
    own = _OWN.search(error)
    if own is not None:
        return own[0]
    first = error.splitlines()[0]
    overflow = _OVERFLOW.match(first)
    return first if overflow is None else f"[ARITHMETIC_OVERFLOW] {overflow[1]}"
