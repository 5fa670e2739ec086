"""The window of a query whose FROM has none: its own, or the whole stream.

Invariant: what is grouped or aggregated has a window, and so has HAVING; without one it is the
whole stream, placed in the text where the first key or aggregate is.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.errors import QueryError, Span
from sqlwin.sql.expressions.places import word
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.over.ranks import of_windows
from sqlwin.sql.over.select import has_over
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.select.groups.cascades import cascaded
from sqlwin.sql.select.groups.grouping import bare_calls
from sqlwin.sql.sources.derived import derived, limited
from sqlwin.sql.sources.event_time import timed
from sqlwin.sql.sources.known import Known
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, whole


def window_of_rows(
    select: ast.Select,
    relation: Relation,
    known: Known,
    window: Window | None,
    made: list[Item],
    group: Sequence[ast.Run],
) -> tuple[Relation, Window | None]:
    """What the query goes over, and by which window, where none is in FROM."""
    own = window or _whole(select, made, group)
    if own is None:
        over_rows = has_over(made, select.qualify) and not of_windows(select, relation, made)
        limited_ = limited(relation, select.where)
        return derived(limited_, known) if over_rows else relation, None
    relation = derived(limited(relation, select.where), known)
    if window is None:
        relation, own = cascaded(relation, own, made, group)
    return timed(relation, own), own


def _whole(select: ast.Select, made: list[Item], group: Sequence[ast.Run]) -> Window | None:
    """The whole stream, where something is grouped or aggregated with no window."""
    span = group[0].span if group else _aggregate_place(made)
    if span is None and select.having is not None:
        if not list(bare_calls(parsed(select.having), select.having)):
            message = "HAVING needs a window, a GROUP BY or an aggregate"
            raise QueryError(message, select.having.span, legal="WHERE, or a window in FROM")
        span = select.having.span
    return None if span is None else whole(span)


def _aggregate_place(made: list[Item]) -> Span | None:
    """Of the first aggregate of a select list that has nothing with an OVER clause."""
    if has_over(made):
        return None
    found = (word(call, item.run) for item in made for call in bare_calls(item.tree, item.run))
    return next(found, None)
