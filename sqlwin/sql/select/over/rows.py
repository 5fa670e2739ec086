"""OVER of the rows of windows: a query of those rows, and OVER over it.

    SELECT *, SUM(v) OVER (PARTITION BY window_end) FROM TUMBLE(…) WHERE v > 0

is the same over `(SELECT * FROM TUMBLE(…) WHERE v > 0)`.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.select.groups.grouping import bare_calls
from sqlwin.sql.select.over.one_rank import one_rank, with_over
from sqlwin.sql.text import ast


def over_rows(select: ast.Select) -> ast.Select | None:
    """`SUM(v) OVER (PARTITION BY window_end) FROM TUMBLE(…)`: the same of the rows of the windows,
    as a query in FROM; None where it is something else, or one rank."""
    source, call = select.relation, select.relation.source
    if not isinstance(call, ast.WindowCall) or call.function.text.lower() == "session":
        return None
    beside = select.group or select.having is not None or any(map(_bare, select.items))
    if beside or source.joins or not with_over(select) or one_rank(select):
        return None
    every = ast.Run("*", "*", select.span)
    rows = ast.Select((every,), ast.From(call), select.span, where=select.where)
    over = ast.From(rows, alias=source.alias or _table(call))
    return replace(select, relation=over, where=None)


def _table(call: ast.WindowCall) -> ast.Name | None:
    names = (given.value for given in call.arguments if isinstance(given.value, ast.Name))
    return next(names, None)


def _bare(run: ast.Run) -> bool:
    return next(bare_calls(parsed(run), run), None) is not None
