"""Pieces of SQL from Python's values: names, durations, expressions.

>>> name("group"), column("o.value"), duration("1 hour 30 minutes")
('`group`', '`o`.`value`', "INTERVAL '1 hour 30 minutes'")
>>> expression("SUM(value)")
'SUM(value)'
>>> expression("1 FROM other")
Traceback (most recent call last):
sqlwin.errors.InputError: '1 FROM other' is not one expression of SQL
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta

from sqlwin.durations import micros
from sqlwin.errors import InputError, QueryError
from sqlwin.instants import format_duration
from sqlwin.sql.syntax.parser import statements
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import prepare

Duration = str | timedelta
"""`"5 seconds"`, `"1 hour 30 minutes"`, or a timedelta."""
Columns = str | Iterable[str]
"""The name of a column, or several."""

_LOOSER = re.compile(r"\b(OR|XOR)\b", re.IGNORECASE)
_PARAMETER = re.compile(r"(?<![\w:]):([A-Za-z_]\w*)")


def name(text: str) -> str:
    """In backquotes, so that it is no word of SQL."""
    if not text:
        raise InputError("a name has at least one character")
    return f"`{text.replace('`', '``')}`"


def column(text: str) -> str:
    """A column's name, maybe behind that of its input: `value`, `o.value`."""
    return ".".join(map(name, text.split(".")))


def columns(given: Columns) -> tuple[str, ...]:
    return tuple(map(column, (given,) if isinstance(given, str) else given))


def listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def duration(given: Duration) -> str:
    """InputError for what is none, or less than nothing."""
    try:
        counted = given // timedelta(microseconds=1) if isinstance(given, timedelta) else None
        length = micros(given, None) if isinstance(given, str) else counted
    except ValueError as problem:
        raise InputError(f"{problem}; legal is '5 seconds', '1 hour' …") from None
    if length is None or length < 0:
        raise InputError(f"{given!r} is no duration; legal is '5 seconds', '1 hour' …")
    return f"INTERVAL '{format_duration(length)}'"


def rows(given: int) -> str:
    if type(given) is not int or given < 0:
        raise InputError(f"{given!r} is no count of rows")
    return f"{given} ROWS"


def expression(text: str) -> str:
    """One expression of SQL, with `:name` parameters, as it is; InputError for anything else."""
    if "--" in text or "/*" in text:  # it would reach over what stands behind the expression
        raise InputError(f"an expression has no comment: {text!r}")
    if not _is_one(text):
        raise InputError(f"{text!r} is not one expression of SQL")
    return text.strip()


def all_of(conditions: Iterable[str]) -> str:
    """Conditions joined by AND; in brackets where they hold a word that binds less than it."""
    each = [expression(condition) for condition in conditions]
    if len(each) == 1:
        return each[0]
    return " AND ".join(f"({one})" if _LOOSER.search(one) else one for one in each)


def _is_one(text: str) -> bool:
    """Whether SELECT … FROM x has it as its one item, and no other clause."""
    parameters = dict.fromkeys(_PARAMETER.findall(text), "0")
    try:
        (parsed,) = statements(f"SELECT {prepare(text, parameters).text}\nFROM x")
    except (QueryError, ValueError):
        return False
    if not isinstance(parsed, ast.Select):
        return False
    read = parsed.relation.source
    bare = ast.Select(parsed.items[:1], ast.From(read), parsed.span)
    return isinstance(read, ast.Name) and read.text == "x" and parsed == bare
