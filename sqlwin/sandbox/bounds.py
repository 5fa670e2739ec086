"""How large a value may get, and how many rows are in memory at once while values grow.

DuckDB's limit of memory does not count the values that an expression makes. So each
function whose result may be much longer than its arguments is hidden by a macro of its name,
which asks first how long the result would be. Arguments are bound by a lambda: each is
computed once, however deep the calls are nested. Those that DuckDB wants to be constants,
or is quicker where they are (a pattern is compiled once), are named outside of it, once.

>>> from sqlwin.sandbox.locked import running
>>> running().execute("SELECT repeat('ab', 3)").fetchall()
[('ababab',)]
>>> running().execute("SELECT repeat('ab', 3000000)")
Traceback (most recent call last):
_duckdb.InvalidInputException: Invalid Input Error: REPEAT makes a value of more than 4194304 bytes
"""

from __future__ import annotations

from collections.abc import Collection

from sqlwin.functions.limits import BYTES, ELEMENTS

__all__ = ["BYTES", "ELEMENTS"]
STEPS = 10**7
"""Of LEVENSHTEIN, which compares every character with every one."""
ROWS = 64
"""At once in memory, where an expression calls a function below."""

_SIZES = {
    "repeat(s, n)": "greatest(p.n, 0) * CAST(strlen(CAST(p.s AS VARCHAR)) AS DOUBLE)",
    "lpad(s, n, c)": "4 * CAST(p.n AS DOUBLE)",
    "rpad(s, n, c)": "4 * CAST(p.n AS DOUBLE)",
    "replace(s, a, b)": """CASE WHEN strlen(p.s) * CAST(strlen(p.b) AS DOUBLE) <= {bytes} THEN 0
        ELSE strlen(p.s) + (strlen(p.s) - strlen(system.main.replace(p.s, p.a, '')))
             / greatest(strlen(p.a), 1) * (strlen(p.b) - strlen(p.a)) END""",
    "regexp_replace(s, a, b)": "{regexp}",
    "regexp_replace(s, a, b, o)": "CASE WHEN o <> 'g' THEN error('options') ELSE {regexp} END",
    "array_to_string(s, a)": "len(p.s) * CAST(strlen(a) AS DOUBLE)",
}
"""Bytes of a result; where that is at most BYTES, it may be any lesser number."""
_CONSTANTS = {"regexp_replace": ("a", "o"), "array_to_string": ("a",)}
"""Arguments that stay as they are."""
_FIXED = {"o": "'g'"}
"""The options of REGEXP_REPLACE, which a macro cannot pass on: Spark's replaces all."""
_REGEXP = "(strlen(p.s) + 1) * CAST(strlen(p.b) AS DOUBLE)"
_SPAN = """coalesce(TRY_CAST(CAST(p.{0} AS VARCHAR) AS DOUBLE),
    epoch(TRY_CAST(CAST(p.{0} AS VARCHAR) AS TIMESTAMPTZ)),
    epoch(TRY_CAST(CAST(p.{0} AS VARCHAR) AS INTERVAL)))"""
"""A bound or step of a sequence as a number."""

GROWING = frozenset(
    ("repeat", "lpad", "rpad", "replace", "regexp_replace", "array_to_string", "generate_series")
)
HEAVY = GROWING | {
    *("levenshtein", "list_transform", "list_filter", "list_reduce"),
    *("regexp_matches", "regexp_full_match", "regexp_extract", "regexp_extract_all"),
    *("string_split_regex", "str_split_regex", "regexp_split_to_array"),
}
"""Functions of DuckDB of which one call may make much, or take long."""


def rows_at_once(calls: Collection[str]) -> int | None:
    """Of an expression with these calls of functions; None: as many as there are."""
    heavy = sum(name in HEAVY for name in calls)
    return max(1, ROWS // heavy) if heavy else None


def _names(signature: str) -> tuple[str, list[str]]:
    function, _, args = signature.rstrip(")").partition("(")
    return function, args.split(", ")


def _guarded(signature: str, guard: str) -> str:
    """One overload of a macro. guard: an error's text where the call is refused, else NULL."""
    function, args = _names(signature)
    bare = _CONSTANTS.get(function, ())
    given = ", ".join(f"'{arg}': {arg}" for arg in args if arg not in bare)
    passed = ", ".join(_FIXED.get(arg, arg) if arg in bare else f"p.{arg}" for arg in args)
    call = f"system.main.{function}({passed})"
    case = f"CASE WHEN {guard} ELSE {call} END"
    return f"({', '.join(args)}) AS list_transform([{{{given}}}], lambda p: {case})[1]"


def _longer(function: str, size: str) -> str:
    message = f"{function.upper()} makes a value of more than {BYTES} bytes"
    return f"{size.format(bytes=BYTES, regexp=_REGEXP)} > {BYTES} THEN error('{message}')"


def _series() -> str:
    start, stop, step = (_SPAN.format(name) for name in ("a", "b", "c"))
    message = f"THEN error('SEQUENCE makes more than {ELEMENTS} elements')"
    two = _guarded("generate_series(a, b)", f"p.b - CAST(p.a AS DOUBLE) >= {ELEMENTS} {message}")
    count = f"abs({stop} - {start}) / nullif(abs({step}), 0)"
    three = _guarded("generate_series(a, b, c)", f"{count} >= {ELEMENTS} {message}")
    return f"CREATE TEMP MACRO generate_series{two}, {three};"


def _macros() -> str:
    overloads: dict[str, list[str]] = {}
    for signature, size in _SIZES.items():
        function = _names(signature)[0]
        overloads.setdefault(function, []).append(_guarded(signature, _longer(function, size)))
    long = f"strlen(p.a) * CAST(strlen(p.b) AS DOUBLE) > {STEPS}"
    guard = f"{long} THEN error('LEVENSHTEIN would take more than {STEPS} steps')"
    overloads["levenshtein"] = [_guarded("levenshtein(a, b)", guard)]
    made = (f"CREATE TEMP MACRO {name}{', '.join(each)};" for name, each in overloads.items())
    return "\n".join([*made, _series()])


MACROS = _macros()
