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
from dataclasses import field, replace
from itertools import islice

from sqlglot import exp

from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.calls import call_at, refuse_calls
from sqlwin.sql.expressions.scalars import Expr, parsed, spark
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.window_columns import window_edge
from sqlwin.sql.select.groups.grouping import is_grouping
from sqlwin.sql.select.groups.grouping_sets import grouping_sets
from sqlwin.sql.select.over.one_rank import of_aggregates, one_rank, window_call, with_over
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import quoted

_NUMBER = re.compile(r"\d+\Z")


def over_groups(select: ast.Select, bound: Callable[[ast.Select], Relation]) -> ast.Select | None:
    """The query around that of the groups; None where no second one is needed.

    bound: the relation of a query, for the names of its columns.
    """
    if not _beside(select) or one_rank(select):
        return None
    below = _Below(select)
    lifted = [below.run(run) if run.overs else run for run in select.items]
    qualify = None if select.qualify is None else below.run(select.qualify)
    windows = tuple((name, below.spec(spec)) for name, spec in select.windows)
    groups = below.query()
    names = [name for name, _, _ in bound(groups).columns]
    return ast.Select(
        tuple(_items(lifted, names, len(names) - len(below.items))),
        ast.From(groups),
        select.span,
        qualify=qualify,
        windows=windows,
        policies=select.policies,
        ctes=select.ctes,
        ttl=select.ttl,
        instants=select.instants,
    )


def _items(runs: Sequence[ast.Run], names: Sequence[str], more: int) -> Iterator[ast.Run]:
    """The select list, of which the query of the groups gives what has no OVER, in its order.
    more: the columns of `*` besides one."""
    given = iter(names)
    for run in runs:
        if run.overs:
            yield run
        else:
            count = 1 + more * _starred(run)
            yield from (_column(run, name) for name in islice(given, count))


def _starred(run: ast.Run) -> bool:
    tree = parsed(run)
    return isinstance(tree, exp.Star) or isinstance(tree.this, exp.Star)


def _column(run: ast.Run, name: str) -> ast.Run:
    return replace(quoted(name, run.span), original=run.original)


def _beside(select: ast.Select) -> bool:
    """Whether OVER stands beside GROUP BY, or is of aggregates."""
    runs = with_over(select)
    return bool(runs) and (bool(select.group) or any(map(of_aggregates, runs)))


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
        self.starred = any(map(_starred, self.items))
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
        if self.starred and isinstance(tree, exp.Column) and not tree.table:
            return False
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
        group = [run for run in self.select.group if not window_call(run)]
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
