"""How large a value may get, and how many rows are in memory at once while values grow.

DuckDB's limit of memory does not count the values that an expression makes. Functions that make
long values are `Vector`s, which say first how long (see `sqlwin.functions`); those of DuckDB that
do are not called at all, but for two, each hidden by a macro of its name that asks first how much
it would be. Arguments are bound by a lambda: each is computed once.

>>> from sqlwin.sandbox.locked import running
>>> running().execute("SELECT repeat('ab', 3)").fetchall()
[('ababab',)]
>>> running().execute("SELECT repeat('ab', 3000000)")
Traceback (most recent call last):
_duckdb.InvalidInputException: Invalid Input Error: REPEAT makes a value of more than 4194304 bytes
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf

from sqlwin.functions.core.limits import BYTES, ELEMENTS
from sqlwin.functions.core.vectors import PREFIX

__all__ = ["BYTES", "ELEMENTS"]
STEPS = 10**7
"""Of LEVENSHTEIN, which compares every character with every one."""
ROWS = 64
"""At once in memory, where an expression calls a function below."""
MOST_ROWS = 2048
"""And where its rows are short, and it makes no arrays in Python: as many as DuckDB takes."""
SHORT = 128
"""Bytes of a short row. What one lambda makes of a row is no more than about their square."""

GROWING = frozenset(("repeat",))
HEAVY = GROWING | {
    *("levenshtein", "list_transform", "list_filter", "list_reduce"),
    *("regexp_extract", "regexp_extract_all"),
}
"""Functions of DuckDB of which one call may make much, or take long. `list_apply`, the same as
`list_transform`, binds one value to a name, and is not heavy."""


def rows_at_once(calls: Collection[str], bytes_a_row: float = inf) -> int | None:
    """Of an expression with these calls of functions; None: as many as there are."""
    heavy = [name for name in calls if name in HEAVY]
    if not heavy:
        return None
    lambdas = heavy in (["list_transform"], ["list_filter"])
    if lambdas and bytes_a_row <= SHORT and not any(name.startswith(PREFIX) for name in calls):
        return MOST_ROWS
    return max(1, ROWS // len(heavy))


def _names(signature: str) -> tuple[str, list[str]]:
    function, _, args = signature.rstrip(")").partition("(")
    return function, args.split(", ")


def _guarded(signature: str, guard: str, message: str) -> str:
    function, args = _names(signature)
    given = ", ".join(f"'{arg}': {arg}" for arg in args)
    call = f"system.main.{function}({', '.join(f'p.{arg}' for arg in args)})"
    case = f"CASE WHEN {guard} THEN error('{message}') ELSE {call} END"
    bound = f"list_transform([{{{given}}}], lambda p: {case})[1]"
    return f"CREATE TEMP MACRO {signature} AS {bound};"


_LONG = f"greatest(p.n, 0) * CAST(strlen(CAST(p.s AS VARCHAR)) AS DOUBLE) > {BYTES}"
_SLOW = f"strlen(p.a) * CAST(strlen(p.b) AS DOUBLE) > {STEPS}"
MACROS = "\n".join(
    (
        _guarded("repeat(s, n)", _LONG, f"REPEAT makes a value of more than {BYTES} bytes"),
        _guarded("levenshtein(a, b)", _SLOW, f"LEVENSHTEIN would take more than {STEPS} steps"),
    )
)
