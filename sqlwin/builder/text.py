"""Pieces of SQL from Python's values: names, durations, expressions.

>>> name("group"), column("o.value"), duration("1 hour 30 minutes")
('`group`', '`o`.`value`', "INTERVAL '1 hour 30 minutes'")
>>> expression("SUM(value)")
'SUM(value)'
>>> expression("1 FROM other")
Traceback (most recent call last):
sqlwin.errors.InputError: '1 FROM other' is not one expression of SQL, without a comment or a name
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta

from sqlglot import exp

from sqlwin.durations import micros
from sqlwin.errors import InputError, QueryError
from sqlwin.instants import format_duration
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.syntax.parsing.parser import statements
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import commented, prepare

Duration = str | timedelta
"""`"5 seconds"`, `"1 hour 30 minutes"`, or a timedelta."""
Columns = str | Iterable[str]
"""The name of a column, or several."""

_LOOSER = re.compile(r"\b(OR|XOR)\b", re.IGNORECASE)
_PARAMETER = re.compile(r"(?<![\w:]):([A-Za-z_]\w*)")


def name(text: object) -> str:
    """In backquotes, so that it is no word of SQL."""
    if not isinstance(text, str):
        raise InputError(f"{text!r} is no name")
    if not text:
        raise InputError("a name has at least one character")
    return f"`{text.replace('`', '``')}`"


def column(text: object) -> str:
    """A column's name, maybe behind that of its input: `value`, `o.value`."""
    parts = text.split(".") if isinstance(text, str) else [text]
    return ".".join(map(name, parts))


def columns(given: Columns) -> tuple[str, ...]:
    return tuple(map(column, (given,) if isinstance(given, str) else given))


def listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def duration(given: Duration) -> str:
    """InputError for what is none, or less than nothing."""
    return f"INTERVAL '{format_duration(length_of(given))}'"


def length_of(given: Duration) -> int:
    """Microseconds; InputError as of `duration`."""
    try:
        counted = given // timedelta(microseconds=1) if isinstance(given, timedelta) else None
        length = micros(given, None) if isinstance(given, str) else counted
    except ValueError as problem:
        raise InputError(f"{problem}; legal is '5 seconds', '1 hour' …") from None
    if length is None or length < 0:
        raise InputError(f"{given!r} is no duration; legal is '5 seconds', '1 hour' …")
    return length


def count(given: int) -> str:
    if type(given) is not int or given < 0:
        raise InputError(f"{given!r} is no count of rows")
    return str(given)


def rows(given: int) -> str:
    return f"{count(given)} ROWS"


def expression(text: object) -> str:
    """One expression of SQL, with `:name` parameters, as it is; InputError for anything else."""
    if not isinstance(text, str) or not _is_one(text):
        raise InputError(f"{text!r} is not one expression of SQL, without a comment or a name")
    return text.strip()


def all_of(conditions: Iterable[str]) -> str:
    """Conditions joined by AND; in brackets where they hold a word that binds less than it."""
    each = [expression(condition) for condition in conditions]
    if len(each) == 1:
        return each[0]
    return " AND ".join(f"({one})" if _LOOSER.search(one) else one for one in each)


def named_items(expressions: Mapping[str, str]) -> list[str]:
    return [f"{expression(text)} AS {name(called)}" for called, text in expressions.items()]


def clause(word: str, clauses: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [f"{word} {all_of(clauses[word])}"] if clauses.get(word) else []


def _is_one(text: str) -> bool:
    """Whether SELECT … FROM x has it as its one item, and no other clause."""
    if commented(text):  # it would reach over what stands behind the expression
        return False
    if text.rstrip().endswith(","):  # which may follow the last item
        return False
    parameters = dict.fromkeys(_PARAMETER.findall(text), "0")
    try:
        (read,) = statements(f"SELECT {prepare(text, parameters).text}\nFROM x")
    except (QueryError, ValueError):
        return False
    return isinstance(read, ast.Select) and _is_bare(read) and not _is_item(read.items[0])


def _is_bare(read: ast.Select) -> bool:
    source = read.relation.source
    bare = ast.Select(read.items[:1], ast.From(source), read.span)
    return isinstance(source, ast.Name) and source.text == "x" and read == bare


def _is_item(run: ast.Run) -> bool:
    """Whether it can stand in a select list alone: it has a name of its own, or is columns."""
    try:
        tree = parsed(run)
    except QueryError:  # reported when it is bound, where it may be right
        return False
    return tree.is_star or isinstance(tree, exp.Alias)
