"""Aggregates of no rows: COUNT is 0, a list is empty, and any other is NULL.

A query that is joined by what it is grouped by has no row there, so a LEFT JOIN gives NULL. What is
not NULL of no rows is computed around the join, of columns that have its aggregates:

>>> from sqlwin.errors import Span
>>> text = "COALESCE(MAX(v), 1) + COUNT(*)"
>>> columns, around = split(ast.Run(text, text, Span(1, 1)), "t.c{}".format)
>>> [column.text for column in columns], around
(['MAX(v)', 'COUNT(*)'], 'COALESCE(t.c1, 1) + COALESCE(t.c2, 0)')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sqlglot import exp

from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import TOKEN, closing
from sqlwin.sql.text.runs import part

_ZERO = frozenset(("count", "count_if", "approx_count_distinct", "regr_count"))
"""Aggregates that are 0 of no rows; all others are NULL, and so is arithmetic with them."""
_LISTS = frozenset(("collect_list", "collect_set"))
"""Those that are an empty list."""
_WORD, _OPENED = re.compile(r"[A-Za-z_]\w*\Z"), re.compile(r"\s*\(")
_BEHIND = re.compile(r"\s*(FILTER|WITHIN\s+GROUP)\s*\(", re.IGNORECASE)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren, exp.Literal, exp.Cast)


def split(bare: ast.Run, column: Callable[[int], str]) -> tuple[list[ast.Run], str]:
    """The aggregates that an expression calls, and what it is of columns in their place, counted
    from 1."""
    columns: list[ast.Run] = []
    text, until = "", 0
    for start, end in _calls(bare):
        columns.append(part(bare, start, end))
        text += bare.text[until:start] + _of_nothing(column(len(columns)), columns[-1])
        until = end
    return columns, text + bare.text[until:]


def _of_nothing(value: str, run: ast.Run) -> str:
    """Of no rows: of a join's column that is NULL there."""
    name = called(parsed(run), run)
    if name in _LISTS:
        return f"COALESCE({value}, ARRAY())"
    return f"COALESCE({value}, 0)" if name in _ZERO else value


def _calls(run: ast.Run) -> Iterator[tuple[int, int]]:
    """From where to where an aggregate is called, FILTER and WITHIN GROUP behind it."""
    until = 0
    for found in TOKEN.finditer(run.text):
        opened = _OPENED.match(run.text, found.end())
        if found.start() < until or opened is None or not _WORD.match(found[0]):
            continue
        end = closing(run.text, opened.end() - 1)
        while behind := _BEHIND.match(run.text, end):
            end = closing(run.text, behind.end() - 1)
        call = part(run, found.start(), end)
        if called(parsed(call), call):
            yield found.start(), end
            until = end


def called(node: Expr, run: ast.Run) -> str:
    """The name of the aggregate that it calls."""
    call = call_at(node, run)
    return "" if call is None else call.function.name.lower()


def zero(bare: ast.Run) -> bool:
    """Whether it is an aggregate that is 0."""
    return called(parsed(bare), bare) in _ZERO


def null_of_nothing(bare: ast.Run) -> bool:
    """Whether a LEFT JOIN gives what it is, NULL, or 0 for an aggregate that is."""
    return _null(parsed(bare), bare)


def _null(node: Expr, run: ast.Run, outermost: bool = True) -> bool:
    """Whether it is NULL of no rows, as a LEFT JOIN gives it, or is 0."""
    name = called(node, run)
    if name:
        return name not in _LISTS and (outermost or name not in _ZERO)
    inner = [each for each in node.iter_expressions() if not isinstance(each, exp.DataType)]
    return isinstance(node, _ARITHMETIC) and all(_null(e, run, False) for e in inner)
