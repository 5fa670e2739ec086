"""The rows of a window, where a query wants nothing else of it: as they come, or as its relation.

Invariant: a row is passed on as it comes only if it never leaves its window, so that the window of
all there was is each row itself; any other window is a relation, whose rows come and go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.over.ranks import EXAMPLE as RANK
from sqlwin.sql.over.select import has_over
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.select.groups.grouped import ungrouped
from sqlwin.sql.select.groups.grouping import bare_calls
from sqlwin.sql.select.windowed import by_itself, windowed
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window


def alone(select: ast.Select) -> bool:
    """Whether it has rows of FROM alone, with no more than columns and a condition."""
    if select.relation.joins or select.relation.unnests:
        return False
    plain = ast.Select(select.items, select.relation, select.span, where=select.where)
    if replace(select, ctes=()) != plain or any(run.overs for run in select.items):
        return False
    return not any(True for run in select.items for _ in bare_calls(parsed(run), run))


def of_window(
    select: ast.Select,
    relation: Relation,
    window: Window,
    made: list[Item],
    group: Sequence[ast.Run],
) -> tuple[ast.Select, Relation] | None:
    """The rows of a window, where nothing else is wanted: all as they come, or its relation."""
    if _bare(select, window, made, group):
        return select, relation
    if window.frame is None or not by_itself(select, window, made):
        return None
    return replace(select, policies=ast.Policies()), windowed(select, relation, window)


def _bare(select: ast.Select, window: Window, made: list[Item], group: Sequence[ast.Run]) -> bool:
    """Whether rows are wanted as they come: no aggregate and no key to group by.

    What enters a window of all there was, and never leaves it, is each row itself.
    """
    refused = refusal(select, window, made, group)
    if refused is not None:
        raise refused
    if not ungrouped(select, window, made, group):
        return False
    if window.group is not None and not window.counts:
        return False  # the rows of each window, ranked or not
    assert window.frame is not None
    return window.frame.preceding is None


def refusal(
    select: ast.Select, window: Window, made: list[Item], group: Sequence[ast.Run]
) -> QueryError | None:
    """Why the rows of the window are no result."""
    if window.session is not None:
        return _of_session(select, window, made)
    if not ungrouped(select, window, made, group):
        return None
    if window.only_on_update:
        message = "emitOnlyOnUpdate goes by the rows of a group, and here each row is its own"
        return QueryError(message, window.span, legal="CUMULATE without it, or GROUP BY")
    if window.group is not None and not window.counts:
        return None
    if has_over(made, select.qualify):
        message = "OVER and a window of the stream in one query are not supported yet"
        legal = "ranks of the rows of a window of TUMBLE, HOP or CUMULATE; or OVER alone"
        return QueryError(message, window.span, legal=legal)
    if window.frame is None:
        message = "a window without an aggregate or GROUP BY is not supported yet"
        return QueryError(message, window.span, legal="COUNT(*), SUM(value), … or GROUP BY")
    return None


def _of_session(select: ast.Select, window: Window, made: list[Item]) -> QueryError | None:
    """Of sessions there are aggregates: what a row's session is may change with each row."""
    calls = (call for item in made for call in bare_calls(item.tree, item.run))
    if select.group or select.having or next(calls, None) is not None:
        return None
    runs = [*(item.run for item in made), *([select.qualify] if select.qualify else [])]
    over = next((target.span for run in runs for target in run.overs), None)
    if over is not None:
        message = "ranks of the rows of a session are not supported yet"
        return QueryError(message, over, legal=f"GROUP BY, and ranks of its groups: {RANK}")
    message = "a session without an aggregate or GROUP BY is not supported yet"
    return QueryError(message, window.span, legal="COUNT(*), SUM(value), … or GROUP BY")
