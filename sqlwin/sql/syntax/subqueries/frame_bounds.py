"""Conditions between the times of two rows, as the bounds of a frame.

b.at BETWEEN a.ts - INTERVAL '1' HOUR AND a.ts     INTERVAL '1' HOUR PRECEDING AND CURRENT ROW
b.at < a.ts AND a.ts <= b.at + INTERVAL '1' DAY    INTERVAL '1' DAY PRECEDING
                                                     AND INTERVAL '0.000001' SECOND PRECEDING
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.syntax.subqueries.lateral_inner import Condition, Inner
from sqlwin.sql.text import ast

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ENDS = {">": "low", ">=": "low", "<": "high", "<=": "high"}
_STRICT = ("<", ">")
_MOMENT = "INTERVAL '0.000001' SECOND"


def bounds_of(inner: Inner, found: Sequence[Condition]) -> tuple[ast.Run, str, str, str] | None:
    """The time of the rows of the query, the input and the column that it is compared with, and
    the frame; None where the conditions are no bounds of time, one from above and at most one from
    below."""
    times: dict[tuple[str, str, str], str] = {}
    bounds: dict[str, str] = {}
    own_time, strict = None, False
    for own, sign, outer in (each for one in found for each in _compared(inner, one)):
        mine, theirs = _time(own), _time(outer)
        end = _ENDS.get(sign)
        if mine is None or theirs is None or (mine[1] and theirs[1]):
            return None
        if end is None or end in bounds:
            return None
        own_text, around = mine[0].sql(SqlwinSpark), theirs[0].table.lower()
        times.setdefault((own_text.lower(), around, theirs[0].name.lower()), theirs[0].name)
        own_time = replace(own, text=own_text)
        offset = theirs[1] or _negated(mine[1])
        bounds[end] = _bound(offset, sign)
        strict = strict or (not offset and sign in _STRICT)
    if len(times) != 1 or "high" not in bounds or own_time is None:
        return None
    (((_, around, _), event_time),) = times.items()
    frame = f"{bounds.get('low', 'UNBOUNDED PRECEDING')} AND {bounds['high']}"
    return own_time, around, event_time, f"{frame} EXCLUDE GROUP" if strict else frame


def _compared(inner: Inner, one: Condition) -> list[tuple[ast.Run, str, ast.Run]]:
    """Each comparison, the own side first."""
    pieces, words = one.pieces, one.words
    if words == ("BETWEEN", "AND"):
        pairs = [(pieces[0], ">=", pieces[1]), (pieces[0], "<=", pieces[2])]
    else:
        pairs = [(pieces[0], words[0], pieces[1])]
    return [
        (a, sign, b) if inner.is_own(a) else (b, _MIRRORED.get(sign, sign), a)
        for a, sign, b in pairs
    ]


def _time(run: ast.Run) -> tuple[exp.Column, str] | None:
    """A column, and what is added to it: `+ INTERVAL …`, `- INTERVAL …` or nothing."""
    tree = parsed(run)
    while isinstance(tree, exp.Paren):
        tree = tree.this
    if isinstance(tree, exp.Column):
        return tree, ""
    if not isinstance(tree, exp.Add | exp.Sub) or not isinstance(tree.this, exp.Column):
        return None
    if next(tree.expression.find_all(exp.Column), None) is not None:
        return None
    sign = "+" if isinstance(tree, exp.Add) else "-"
    return tree.this, f"{sign} {tree.expression.sql(SqlwinSpark)}"


def _negated(offset: str) -> str:
    return {"+": "-", "-": "+", "": ""}[offset[:1]] + offset[1:]


def _bound(offset: str, sign: str) -> str:
    """Without an offset it is at the row's own time, which EXCLUDE GROUP leaves out."""
    if not offset:
        return "CURRENT ROW"
    length, direction = offset[2:], "FOLLOWING" if offset[0] == "+" else "PRECEDING"
    if sign in _STRICT:
        length += f" {'+' if (offset[0] == '+') == (sign == '>') else '-'} {_MOMENT}"
    return f"{length} {direction}"
