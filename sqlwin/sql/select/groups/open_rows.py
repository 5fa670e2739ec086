"""GROUP BY of the rows of a window, by that window again: one window over the rows below it.

    SELECT window_end, SUM(d) FROM (SELECT *, v * 2 AS d FROM TUMBLE(TABLE s, …) WHERE v > 0)
    GROUP BY window_end

    SELECT window_end, SUM(d) FROM TUMBLE((SELECT *, v * 2 AS d FROM s WHERE v > 0), …)
    GROUP BY window_end

So one window aggregates as its rows come, where two would keep the rows of each window. Equal, for
which windows a row is in depends on its event time and its keys alone. What goes by the window
stays above it: conditions, arguments of aggregates and keys that are made of its columns. So do
conditions over windows of messages, which count the rows that these would leave out. One over the
rows of a session is refused: a row that it leaves out may hold the session together.

The window's columns may have other names by then. With pipes AGGREGATE is of the window in FROM,
whatever its keys are, and a condition between them is one on rows below it, of sessions too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.properties.changelog import changing
from sqlwin.sql.expressions.scalars import Expr, conjoined, parsed
from sqlwin.sql.relations.items import Item, items
from sqlwin.sql.relations.open_windows import OpenWindow, opened
from sqlwin.sql.relations.relation import NOWHERE, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.relations.window_columns import EDGES, edge_of, marked
from sqlwin.sql.select.groups.grouping import bare_calls
from sqlwin.sql.select.groups.grouping_sets import grouping_sets
from sqlwin.sql.select.groups.keys import aliases, listed
from sqlwin.sql.sources.from_clause import filtering
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import quoted
from sqlwin.sql.windows.group_by import is_group_window
from sqlwin.sql.windows.window import Window
from sqlwin.windows.group import Hop

KEYS = "GROUP BY …, window_start, window_end"
ABOVE = "window_start and window_end as keys, in SELECT and in HAVING"


def with_open_window(
    bound: Relation,
    select: ast.Select,
    before: Relation,
    window: Window,
    made: Sequence[Item],
    refused: QueryError | None,
) -> Relation:
    """The rows of a window, where they are `row_results.alone`. before: what it is a window of."""
    scope = Scope(before, windowed=bool(window.edges))
    names = [name for name, _, _ in bound.columns]
    trees = [(each, scope.resolved(each.tree, each.run)) for each in made if each.name in names]
    columns = tuple((each.name, before.below(tree, each.run), each.run) for each, tree in trees)
    rows: Relation | None = replace(before, columns=columns)
    if select.where is not None:
        below = before.below(filtering(before, select.where, "WHERE"), select.where)
        both = conjoined(before.predicate, below)
        rows = replace(before, columns=columns, predicate=both, predicate_run=select.where)
    if select.where is not None and (window.counts or window.group is None):
        rows = None
    return opened(bound, OpenWindow(window, before, rows, refused, None, (), None))


def of_open_window(select: ast.Select, relation: Relation) -> tuple[Relation, Window] | None:
    """What a query that groups the rows of a window groups by the window itself; None where it is
    something else, or has to be over the rows of each window."""
    window = relation.opened
    if window is None or not window.of(relation) or window.rows is None:
        return None
    if select.instants is not None or any(map(is_group_window, select.group)):
        return None
    piped = select.relation.piped
    if not piped and not _may_be_plain(select, relation, window):
        return None
    rows = _with_keys(window, piped)
    if rows is None:
        return None
    made = replace(rows[0], names=relation.names, reads=relation.reads, opened=None)
    query = _Query(select, made, Scope(made, windowed=piped))
    by_window, above = piped or query.groups_by(window.window), query.above()
    if window.refused is not None:
        _refuse_above(select, by_window, above)
        if not piped:
            _refuse_sets(select, query, rows[1])
    if above is not None or not by_window:
        return None
    if piped and any(name in EDGES and edge_of(t) != name for name, t, _ in made.columns):
        return None
    return made, replace(window.window, partition=rows[1], given=not piped)


def _refuse_above(select: ast.Select, by_window: bool, above: ast.Run | None) -> None:
    """QueryError for what has to be over the rows of each window, which are not kept."""
    if not by_window:
        message = "the rows of this window are grouped by it, and no key is a bound of it"
        raise QueryError(message, select.group[-1].span, legal=KEYS)
    if above is not None:
        message = "the rows of this window are grouped by it, and this is made of its bounds"
        raise QueryError(message, above.span, legal=ABOVE)


def _refuse_conditions(opened: OpenWindow) -> None:
    assert opened.rows is not None
    filtered = opened.rows.predicate is not opened.before.predicate
    if filtered and opened.window.session is not None:
        message = "a condition on the rows of SESSION would leave out what holds sessions together"
        legal = "SESSION(TABLE (SELECT … WHERE …), …), of the rows that are left"
        raise QueryError(message, opened.rows.predicate_run.span, legal=legal)


def _refuse_sets(select: ast.Select, query: _Query, keys: Sequence[ast.Run]) -> None:
    """QueryError where one of GROUPING SETS lacks a key of the sessions, whose rows are of it."""
    wanted = [query.scope.resolved(parsed(run), run) for run in keys]
    for one in query.key_sets():
        found = [key for _, key in one]
        lacking = [run for run, key in zip(keys, wanted, strict=True) if key not in found]
        if lacking:
            names = ", ".join(run.original or run.text for run in lacking)
            message = f"GROUP BY lacks {names}, by which the sessions are split"
            raise QueryError(message, select.group[-1].span, legal=f"{KEYS}, {names}")


def _may_be_plain(select: ast.Select, relation: Relation, opened: OpenWindow) -> bool:
    window: Window = opened.window
    if not select.group or window.group is None or window.counts:
        return False
    if window.partition and window.session is None:
        return False  # its keys, each once
    _refuse_conditions(opened)
    return relation.ttl is None and not changing(opened.before.filtered())


def _with_keys(opened: OpenWindow, piped: bool) -> tuple[Relation, tuple[ast.Run, ...]] | None:
    """The rows with the keys of the window, and these by the names that they have there; None where
    it goes by what is no more of the rows."""
    window: Window = opened.window
    assert opened.rows is not None
    rows, keys = opened.rows, []
    for run in window.partition:
        key = opened.before.below(Scope(opened.before).resolved(parsed(run), run), run)
        name = next((name for name, tree, _ in rows.columns if tree == key), None)
        if name is None:
            wanted = key.name if isinstance(key, exp.Column) else "key"
            if piped and rows.find(wanted) is not None:
                return None
            name = rows.free(wanted)
            rows = replace(rows, columns=(*rows.columns, (name, key, NOWHERE)))
        keys.append(replace(quoted(name, run.span), original=run.original))
    session = window.session
    runs = () if session is None else (session.gap, session.starts, session.ends)
    if all(_unchanged(run, rows, opened.before) for run in runs if isinstance(run, ast.Run)):
        return rows, tuple(keys)
    return None


def _unchanged(run: ast.Run, rows: Relation, before: Relation) -> bool:
    """Whether all that it names is what it was before the window."""
    for column in parsed(run).find_all(exp.Column):
        name = next((n for n in (part.name for part in column.parts) if before.find(n)), "")
        found, was = rows.find(name), before.find(name)
        if found is None or was is None or rows.expression(found) != before.expression(was):
            return False
    return True


@dataclass(frozen=True)
class _Query:
    """A query over rows below a window. scope: of the rows."""

    select: ast.Select
    rows: Relation
    scope: Scope

    def above(self) -> ast.Run | None:
        """Where it goes by columns of the window, which are not known below it."""
        where = self.select.where
        if where is not None and self._marked(self.scope.resolved(parsed(where), where)):
            return where
        for one in self.key_sets():
            for run, key in one:
                if self._marked(key) and edge_of(key) is None:
                    return run
        return next((run for run, call in self._calls() if self._marked(call)), None)

    def groups_by(self, window: Window) -> bool:
        """Whether the keys say which window a row is in."""
        enough = {"window_end", "window_time"}
        if isinstance(window.group, Hop) or window.session is not None:
            enough.add("window_start")
        return all(any(edge_of(key) in enough for _, key in one) for one in self.key_sets())

    def _items(self) -> list[Item]:
        return items(self.select.items, self.rows, ())

    def key_sets(self) -> list[list[tuple[ast.Run, Expr]]]:
        """Of each grouping set."""
        sets = grouping_sets(self.select.group)
        return [[(run, self._key(run)) for run in one] for one in sets or [self.select.group]]

    def _key(self, run: ast.Run) -> Expr:
        tree, run = listed(parsed(run), run, self._items())
        scope = replace(self.scope, aliases=aliases(self.scope, self._items(), run, tree))
        return scope.resolved(tree, run)

    def _calls(self) -> Iterator[tuple[ast.Run, Expr]]:
        """The aggregates."""
        for item in self._items():
            calls = bare_calls(self.scope.resolved(item.tree, item.run), item.run)
            yield from ((item.run, call) for call in calls)
        having = self.select.having
        if having is not None:
            tree = parsed(having)
            made = aliases(self.scope, self._items(), having, tree)
            scope = replace(self.scope, aliases=made)
            calls = bare_calls(scope.resolved(tree, having), having)
            yield from ((having, call) for call in calls)

    def _marked(self, tree: Expr) -> bool:
        """Whether it has a column of the window, or one that is made of such."""
        if marked(tree):
            return True
        names = (self.rows.find(node.name) for node in tree.find_all(exp.Column))
        return any(marked(self.rows.expression(name)) for name in names if name is not None)
