"""Why an expression failed for a row, in the words of Spark where they are known.

Texts and functions of the table raise with Spark's error class in brackets, DuckDB's own
functions with words of its own; around each DuckDB says what kind of error it takes it for.

>>> reason("Invalid Input Error: [DIVIDE_BY_ZERO] Division by zero.")
'[DIVIDE_BY_ZERO] Division by zero.'
>>> reason("Out of Range Error: Overflow in addition of INT32 (2147483647 + 1)!")
'[ARITHMETIC_OVERFLOW] Overflow in addition of INT32 (2147483647 + 1)!'
>>> reason("Invalid Input Error: Division by zero in expression (5 % n). Use TRY(...) to …")
'[REMAINDER_BY_ZERO] Division by zero in expression (5 % n)'
>>> reason("Conversion Error: Could not convert string 'x' to INT32\\nLINE 1: …")
"[CAST_INVALID_INPUT] Could not convert string 'x' to INT32"
"""

from __future__ import annotations

import re

_PYTHON = re.compile(r"Python exception occurred while executing the UDF: \w+: (.*)")
_OWN = re.compile(r"\[[A-Z][A-Z_0-9.]+\] .*")
_CLASSES = tuple(
    (re.compile(pattern), code)
    for pattern, code in (
        (r"Out of Range Error: (Overflow in \w+ of DECIMAL.*)", "NUMERIC_VALUE_OUT_OF_RANGE"),
        (r"Out of Range Error: (Overflow .*)", "ARITHMETIC_OVERFLOW"),
        (r"Invalid Input Error: (Division by zero in .* % .*?\))\. Use .*", "REMAINDER_BY_ZERO"),
        (r"Invalid Input Error: (Division by zero in .*?\))\. Use .*", "DIVIDE_BY_ZERO"),
        (r"Conversion Error: (Could not convert string .*)", "CAST_INVALID_INPUT"),
        (r"Conversion Error: (Could not cast value .* DECIMAL.*)", "NUMERIC_VALUE_OUT_OF_RANGE"),
        (r"Conversion Error: (Casting value .* DECIMAL.*)", "NUMERIC_VALUE_OUT_OF_RANGE"),
        (r"Conversion Error: (.* out of range .*)", "CAST_OVERFLOW"),
        (r"Conversion Error: (Failed to cast decimal value .*)", "CAST_OVERFLOW"),
    )
)
"""What DuckDB says, and Spark's class of it; the first that it matches."""


def reason(error: str) -> str:
    """The first line that says it."""
    own = _OWN.search(error)
    if own is not None:
        return own[0]
    first = error.splitlines()[0]
    python = _PYTHON.search(first)
    if python is not None:
        return python[1]
    for pattern, code in _CLASSES:
        found = pattern.fullmatch(first)
        if found is not None:
            return f"[{code}] {found[1]}"
    return first
