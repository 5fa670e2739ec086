"""OVER beside GROUP BY: a query of the groups, and OVER over its results, as SQL evaluates them.

    SELECT k, window_end, SUM(SUM(v)) OVER (PARTITION BY k ORDER BY window_end ROWS 2 PRECEDING)
    FROM TUMBLE(…) GROUP BY k, window_start, window_end HAVING COUNT(*) > 1

is

    SELECT k, window_end, SUM(`SUM(v)`) OVER (PARTITION BY k ORDER BY window_end ROWS 2 PRECEDING)
    FROM (SELECT k, window_end, SUM(v) FROM TUMBLE(…) GROUP BY … HAVING COUNT(*) > 1)

Items without OVER stand in the query of the groups as they are. Of the others, of QUALIFY and of
the keys of windows it gives what only it can: aggregates, keys, edges of its window. EMIT and
RETAIN stand above, for they are about the results.

One rank, of the rows of one window or of the groups of a whole stream, needs no second query: the
groups are ranked where they are (`over.ranks`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlwin.sql.expressions.analytic_functions import RANKS
from sqlwin.sql.expressions.calls import AggregateCall, call_at, refuse_calls
from sqlwin.sql.expressions.scalars import Expr, parsed, spark
from sqlwin.sql.over.clauses import named_windows, opened
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.scope import window_edge
from sqlwin.sql.select.grouping import is_grouping
from sqlwin.sql.select.grouping_sets import grouping_sets
from sqlwin.sql.text import ast
from sqlwin.sql.windows.calls import is_window_function

_CALL = re.compile(r"(\w+)\s*\(")
_NUMBER = re.compile(r"\d+\Z")


def over_groups(select: ast.Select, bound: Callable[[ast.Select], Relation]) -> ast.Select | None:
    """The query around that of the groups; None where no second one is needed.

    bound: the relation of a query, for the names of its columns.
    """
    if not _beside(select) or _one_rank(select):
        return None
    below = _Below(select)
    lifted = [below.run(run) if run.overs else run for run in select.items]
    qualify = None if select.qualify is None else below.run(select.qualify)
    windows = tuple((name, below.spec(spec)) for name, spec in select.windows)
    groups = below.query()
    names = iter([name for name, _, _ in bound(groups).columns])
    items = tuple(run if run.overs else _column(run, next(names)) for run in lifted)
    return ast.Select(
        items,
        ast.From(groups),
        select.span,
        qualify=qualify,
        windows=windows,
        policies=select.policies,
        ctes=select.ctes,
        ttl=select.ttl,
        instants=select.instants,
    )


def _column(run: ast.Run, name: str) -> ast.Run:
    quoted = "`" + name.replace("`", "``") + "`"
    return ast.Run(quoted, run.original, run.span)


# --- whether a second query is needed -------------------------------------------------------


def _beside(select: ast.Select) -> bool:
    """Whether OVER stands beside GROUP BY, or is of aggregates."""
    runs = _with_over(select)
    return bool(runs) and (bool(select.group) or any(map(_of_aggregates, runs)))


def _with_over(select: ast.Select) -> list[ast.Run]:
    runs = [*select.items, *([select.qualify] if select.qualify else [])]
    return [run for run in runs if run.overs]


def _of_aggregates(run: ast.Run) -> bool:
    nodes = [inner for node, _ in _over_calls(run) for inner in node.walk()]
    calls = (call_at(node, run) for node in nodes)
    return any(call is not None and call.over is None for call in calls)


def _over_calls(run: ast.Run) -> Iterator[tuple[Expr, AggregateCall]]:
    for node in parsed(run).walk():
        call = call_at(node, run)
        if call is not None and call.over is not None:
            yield node, call


def _one_rank(select: ast.Select) -> bool:
    """Whether all OVER calls are one rank, of each window by itself or of a whole stream."""
    named = named_windows(select)
    calls = [call for run in _with_over(select) for _, call in _over_calls(run)]
    if select.having is not None or any(call.function.name not in RANKS for call in calls):
        return False
    specs = [opened(call.over, named) for call in calls if call.over is not None]
    alike = {(call.function.name, *_written(spec)) for call, spec in zip(calls, specs, strict=True)}
    if len(alike) != 1 or any(_of_window(run) for run in specs[0].order):
        return False
    return not _windowed(select) or any(map(_of_window, specs[0].partition))


def _written(spec: ast.Spec) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(run.text for run in runs) for runs in (spec.partition, spec.order))


def _of_window(run: ast.Run) -> bool:
    tree = parsed(run, exp.Ordered)
    return window_edge(tree.this) is not None


def _windowed(select: ast.Select) -> bool:
    source = select.relation
    if source.window is not None or source.above is not None:
        return True
    return isinstance(source.source, ast.WindowCall) or any(map(_window_call, select.group))


def _window_call(run: ast.Run) -> bool:
    call = _CALL.match(run.original)
    return call is not None and is_window_function(call[1])


# --- the query of the groups ----------------------------------------------------------------


@dataclass
class _Below:
    """select: the whole. items: of the query of the groups. known: what each of them is, and its
    name where it has one of its own."""

    select: ast.Select
    items: list[ast.Run] = field(default_factory=list)
    known: list[tuple[Expr, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.items = [run for run in self.select.items if not run.overs]
        trees = [parsed(run) for run in self.select.items]
        plain = [tree for tree, run in zip(trees, self.select.items, strict=True) if not run.overs]
        self.known = [(tree.unalias(), tree.alias_or_name or spark(tree)) for tree in plain]
        self.aliases = {tree.alias.lower() for tree in trees if isinstance(tree, exp.Alias)}
        self.keys = [tree.unalias() for tree in self._keys(trees)]

    def query(self) -> ast.Select:
        return replace(
            self.select,
            items=tuple(self.items),
            group=tuple(map(self._numbered, self.select.group)),
            qualify=None,
            windows=(),
            policies=ast.Policies(),
            ctes=(),
        )

    def spec(self, spec: ast.Spec) -> ast.Spec:
        partition = tuple(map(self.run, spec.partition))
        return replace(spec, partition=partition, order=tuple(map(self._key, spec.order)))

    def run(self, run: ast.Run, key: bool = False) -> ast.Run:
        """The run over the columns of the groups, and so what its OVER clauses go by."""
        tree = parsed(run, exp.Ordered if key else None)
        places = {id(node): at for at, node in enumerate(tree.walk())}
        parts = [(node, ast.Part(places[id(node)], "", key)) for node in self._parts(tree, run)]
        found = [replace(part, name=self._name(node, run, part)) for node, part in parts]
        overs = tuple(self.spec(over) if isinstance(over, ast.Spec) else over for over in run.overs)
        return replace(run, below=tuple(found), overs=overs)

    def _key(self, run: ast.Run) -> ast.Run:
        return self.run(run, key=True)

    def _parts(self, tree: Expr, run: ast.Run) -> Iterator[Expr]:
        """The nodes that only the query of the groups can compute, the outermost."""
        call = None if is_grouping(tree) else call_at(tree, run)
        if is_grouping(tree) or (call is not None and call.over is None):
            for inner in tree.iter_expressions():
                refuse_calls(inner, run, "an aggregate's arguments")
            yield tree
        elif call is None and self._is_part(tree):
            yield tree
        else:
            for inner in tree.iter_expressions():
                yield from self._parts(inner, run)

    def _is_part(self, tree: Expr) -> bool:
        if window_edge(tree) is not None or tree in self.keys:
            return True
        if not isinstance(tree, exp.Column) or isinstance(tree.this, exp.Star):
            return False
        return bool(tree.table) or tree.name.lower() not in self.aliases

    def _name(self, tree: Expr, run: ast.Run, part: ast.Part) -> str:
        """The name of the column that the node is, which one of the items may be."""
        found = next((name for known, name in self.known if known == tree), None)
        if found is not None:
            return found
        name = self._free(tree.name if isinstance(tree, exp.Column) else spark(tree))
        self.known.append((tree, name))
        self.items.append(replace(run, part=replace(part, name=name), overs=()))
        return name

    def _free(self, name: str) -> str:
        used = {known.lower() for _, known in self.known}
        while name.lower() in used or name.lower() in self.aliases:
            name = f"{name}_"
        return name

    def _keys(self, trees: Sequence[Expr]) -> Iterator[Expr]:
        """What GROUP BY names; a number is a place of the select list."""
        group = [run for run in self.select.group if not _window_call(run)]
        sets = grouping_sets(group)
        for run in group if sets is None else [run for keys in sets for run in keys]:
            tree = parsed(run)
            at = int(tree.name) if isinstance(tree, exp.Literal) and tree.is_int else 0
            yield trees[at - 1] if 0 < at <= len(trees) else tree

    def _numbered(self, run: ast.Run) -> ast.Run:
        """A key that is a place of the select list, in that of the groups."""
        at = int(run.text) if _NUMBER.match(run.text) else 0
        if not 0 < at <= len(self.select.items) or self.select.items[at - 1].overs:
            return run
        before = sum(not run.overs for run in self.select.items[: at - 1])
        return replace(run, text=str(before + 1))
