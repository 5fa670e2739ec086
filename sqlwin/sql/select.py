"""SELECT: from the AST to a relation over a plan node."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql import ast, windows
from sqlwin.sql.calls import call_at, refuse_calls
from sqlwin.sql.grouped import grouped
from sqlwin.sql.items import Item, items
from sqlwin.sql.overs import has_over, over
from sqlwin.sql.parser import window_call
from sqlwin.sql.policies import refuse, refuse_all
from sqlwin.sql.relation import Relation
from sqlwin.sql.scalars import conjoined, parsed, spark, word
from sqlwin.sql.scope import Scope, window_edge
from sqlwin.sql.sources import Known, bind_from, timed
from sqlwin.sql.windows import Window, refused

LEGAL = {
    "SELECT DISTINCT": "GROUP BY inside a window",
    "QUALIFY": "HAVING, or WHERE around the query as a subquery",
    "ORDER BY": "no ORDER BY: rows come as windows close",
    "LIMIT": "no LIMIT: a stream does not end",
}
_WINDOW_CALL = re.compile(r"(\w+)\s*\(", re.IGNORECASE)
_GROUPING = re.compile(
    r"(GROUPING\s+SETS|ROLLUP|CUBE)\s*\(|.*\bWITH\s+(ROLLUP|CUBE)\s*\Z", re.I | re.S
)


def bind_select(select: ast.Select, known: Known) -> Relation:
    for part in select.refused:
        raise refused(part.text, part.span, LEGAL.get(part.text, "one SELECT a query"))
    refuse(select.policies)
    known = known.inner()
    for name, cte in select.ctes:
        known.views[name.text.lower()] = bind_select(cte, known)
    relation, window = bind_from(select.relation, known, bind_select)
    window, group = _group_window(select, window)
    if (window is not None and window.hop is not None) or (window is not None and window.frame):
        relation = timed(relation, window)
    made = items(select.items, relation, () if window is None else ("window_start", "window_end"))
    for item in made:
        _same_window(item, select.group)
    return _bound(select, relation, window, made, group)


def _bound(
    select: ast.Select,
    relation: Relation,
    window: Window | None,
    made: list[Item],
    group: Sequence[ast.Run],
) -> Relation:
    if window is not None:
        _refuse_bare(select, window, made, group)
        return grouped(select, relation, window, made, group)
    if group:
        message = "GROUP BY without a window is not supported yet"
        raise QueryError(message, group[0].span, legal=windows.LEGAL_NOW)
    if select.having is not None:
        message = "HAVING needs a window"
        raise QueryError(message, select.having.span, legal="WHERE, or a window in FROM")
    narrowed = _narrowed(select, relation)
    if has_over(made):
        return over(select, narrowed, made)
    return _stateless(select, narrowed, made)


def _refuse_bare(
    select: ast.Select, window: Window, made: list[Item], group: Sequence[ast.Run]
) -> None:
    """Rows with their windows, no aggregate and no key: there is nothing to group."""
    plain = not select.group and not select.having and not window.partition
    calls = any(call_at(n, item.run) for item in made for n in item.tree.walk())
    if plain and not group and not calls:
        message = "a window without an aggregate or GROUP BY is not supported yet"
        raise QueryError(message, window.span, legal="COUNT(*), SUM(value), … or GROUP BY")


def _narrowed(select: ast.Select, relation: Relation) -> Relation:
    if select.where is None:
        return relation
    tree = parsed(select.where)
    refuse_calls(tree, select.where, "WHERE")
    resolved = Scope(relation).resolved(tree, select.where)
    both = conjoined(relation.predicate, relation.below(resolved))
    return replace(relation, predicate=both, predicate_run=select.where)


def _stateless(select: ast.Select, relation: Relation, made: list[Item]) -> Relation:
    for item in made:
        for node in item.tree.walk():
            if call_at(node, item.run) is not None:
                message = "an aggregate of a stream needs a window"
                raise QueryError(message, word(node, item.run), legal=windows.LEGAL_NOW)
    refuse_all(select.policies, "this query has no window to emit or retain")
    scope = Scope(relation)
    columns = tuple(
        (item.name, relation.below(scope.resolved(item.tree, item.run)), item.run) for item in made
    )
    return replace(relation, columns=columns, names=())


# --- windows in GROUP BY ------------------------------------------------------------


def _group_window(
    select: ast.Select, window: Window | None
) -> tuple[Window | None, tuple[ast.Run, ...]]:
    """The window, and what else GROUP BY names."""
    rest = []
    for run in select.group:
        grouping = _GROUPING.match(run.original)
        if grouping:
            what = (grouping[1] or f"WITH {grouping[2]}").upper()
            raise refused(what, run.span, "GROUP BY columns")
        call = _WINDOW_CALL.match(run.original)
        if call is None or not windows.is_window_function(call[1]):
            rest.append(run)
            continue
        if window is not None:
            raise QueryError("a query has one window", run.span, legal="one of the two")
        parsed_call = window_call(run)
        window = windows.of_call(parsed_call, parsed_call.arguments)
    return window, tuple(rest)


def _same_window(item: Item, group: Sequence[ast.Run]) -> None:
    """Flink's TUMBLE_START(…) repeats the TUMBLE(…) of GROUP BY; another one would be a slip."""
    for node in item.tree.find_all(exp.Anonymous):
        function = node.name.upper().rpartition("_")[0]
        if window_edge(node) is None:
            continue
        calls = [parsed(run) for run in group if run.original.upper().startswith(function)]
        if node.expressions not in [call.expressions for call in calls]:
            legal = ", ".join(spark(call) for call in calls) or f"{function}(…) in GROUP BY"
            message = f"{node.name.upper()} must repeat the window of GROUP BY"
            raise QueryError(message, word(node, item.run), legal=legal)
