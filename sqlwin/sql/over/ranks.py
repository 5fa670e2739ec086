"""Ranks of the rows of one group window: `ROW_NUMBER() OVER (PARTITION BY window_start, …)`.

Over a windowed query in FROM, or in the windowed query itself, by QUALIFY. The
window is full before its rows are ranked, so any order and any bound will do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import WindowAggregate, WindowRank
from sqlwin.plan.properties.edges import cascade, edge
from sqlwin.policies import Expired
from sqlwin.schema import Order
from sqlwin.sql.expressions.analytic_functions import RANKS
from sqlwin.sql.expressions.calls import AggregateCall, call_at
from sqlwin.sql.expressions.places import place
from sqlwin.sql.expressions.scalars import Expr, instead_of, parsed
from sqlwin.sql.expressions.trees import rewritten
from sqlwin.sql.over.above import Above, done, marked, needs_over
from sqlwin.sql.over.clauses import Named, named_windows, opened, refuse_frame
from sqlwin.sql.relations.below import ordered
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.relation import Base, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.text import ast
from sqlwin.sql.windows.policies import refuse_all
from sqlwin.windows import Unit
from sqlwin.windows.group import Ending, known_by_start
from sqlwin.windows.session import Session

EDGES = ("window_start", "window_end")
EXAMPLE = "ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC)"
Output = Callable[[Expr, ast.Run], Expr]
"""What an expression is over the windows: their columns."""


def _nothing(tree: Expr, run: ast.Run) -> Expr:
    return tree


@dataclass
class Ranks:
    """The one rank of a windowed query, once it is met. spec: as written."""

    named: Named = field(default_factory=dict)
    output: Output = _nothing
    name: str = ""
    function: str = ""
    partition: tuple[str, ...] = ()
    order: tuple[Order, ...] = ()
    spec: ast.Spec | None = None

    def call(self, call: AggregateCall, node: Expr, run: ast.Run, free: Callable[[], str]) -> str:
        """The name of the rank's column. free: a name that nothing has."""
        assert call.over is not None
        if call.function.name not in RANKS:
            message = "beside a window, OVER is for ranks of its results"
            legal = f"the windowed query in FROM, OVER in a query around it; here {EXAMPLE}"
            raise QueryError(message, place(node, run), legal=legal)
        spec = opened(call.over, self.named)
        refuse_frame(spec, call, EXAMPLE)
        made = (
            call.function.name,
            tuple(dict.fromkeys(_name(self.output(parsed(r), r), r) for r in spec.partition)),
            tuple(_order(r, self.output) for r in spec.order),
        )
        if self.spec is not None and made != (self.function, self.partition, self.order):
            message = "a second rank of windows is not supported yet"
            raise QueryError(message, place(node, run), legal="one, and queries around the query")
        if self.spec is None:
            self.spec, self.name = spec, free()
            self.function, self.partition, self.order = made
        return self.name

    def refuse_sliding(self) -> None:
        """QueryError for a rank over windows of each row."""
        if self.spec is not None:
            raise self._sliding(self.spec)

    def _sliding(self, spec: ast.Spec) -> QueryError:
        message = "a rank over windows that slide, or are in ROWS, is not supported yet"
        return QueryError(message, spec.span, legal="TUMBLE, HOP, CUMULATE, SESSION")

    def over(self, base: Base) -> WindowRank:
        assert self.spec is not None
        if not isinstance(base, WindowAggregate) or base.window.unit is Unit.ROWS:
            raise self._sliding(self.spec)
        if base.policy.expired is Expired.EMIT:
            message = "EXPIRED EMIT emits a session that is not kept, and so has no rank"
            raise QueryError(message, self.spec.span, legal="EXPIRED INTO errors, EXPIRED COUNT")
        _refuse_across(base, self.partition, self.spec)
        if not self.order:
            raise QueryError("a rank needs ORDER BY", self.spec.span, legal=EXAMPLE)
        within = tuple(name for name in self.partition if name not in EDGES)
        return WindowRank(base, self.name, self.function, within, self.order)


def _name(tree: Expr, run: ast.Run) -> str:
    if isinstance(tree, exp.Column):
        return tree.name
    message = f"a rank of windows goes by keys and aggregates as they are, not by {run.original}"
    raise QueryError(message, run.span, legal=EXAMPLE)


def _order(run: ast.Run, output: Output) -> Order:
    key = parsed(run, exp.Ordered)
    assert isinstance(key, exp.Ordered)
    return ordered(_name(output(key.this, run), run), key)


def _refuse_across(base: WindowAggregate, partition: tuple[str, ...], spec: ast.Spec) -> None:
    """Ranks across windows would never be done; and an aggregate is no key."""
    if not _names_the_window(base, partition):
        message = "a rank over windows is of the rows of one window: PARTITION BY names it"
        raise QueryError(message, spec.span, legal=EXAMPLE)
    for name, run in zip(partition, spec.partition, strict=False):
        if name not in (*base.keys, *EDGES):
            message = f"{run.original} is no key of the window"
            raise QueryError(message, run.span, legal=", ".join((*EDGES, *base.keys)))


def _names_the_window(base: WindowAggregate, partition: tuple[str, ...]) -> bool:
    """By edges that no other window has, its own or of the windows that it is of."""
    window = base.window
    if isinstance(window, Session):
        return _names_the_session(base, {*partition})
    if not isinstance(window, Ending):
        return True
    edges = [edge(base, name) for name in partition if name in (*base.keys, *EDGES)]
    return any(
        (found.kind != "start" or known_by_start(found.window))
        and window in (found.window, cascade(found.window))
        for found in edges
        if found is not None
    )


def _names_the_session(base: WindowAggregate, partition: set[str]) -> bool:
    """Those of one session key do not overlap, so one edge distinguishes them."""
    own = set() if base.sets else {*base.partition}
    needed = [{*EDGES}, *({edge, *own} for edge in EDGES if own)]
    return any(edges <= partition for edges in needed)


# --- around a windowed query ---------------------------------------------------------------


def of_windows(select: ast.Select, relation: Relation, items: Sequence[Item]) -> bool:
    """Whether all OVER calls are ranks within windows of time, whose results FROM gives.

    Any other goes by the rows of a derived stream.
    """
    base = relation.base
    if not isinstance(base, WindowAggregate):
        return False
    if relation.predicate is not None or select.where is not None:
        return False  # ranks count what a filter leaves
    timed = isinstance(base.window, Ending | Session)
    if not timed or base.window.unit is Unit.ROWS:
        return False
    named, scope = named_windows(select), Scope(relation)
    runs = [*(item.run for item in items), *([select.qualify] if select.qualify else [])]
    calls = [call_at(node, run) for run in runs if run.overs for node in parsed(run).walk()]
    return all(
        call.function.name in RANKS and _within(base, scope, opened(call.over, named))
        for call in calls
        if call is not None and call.over is not None
    )


def _within(base: WindowAggregate, scope: Scope, spec: ast.Spec) -> bool:
    """Whether PARTITION BY names the window and keys alone, and ORDER BY columns."""

    def name(run: ast.Run, into: type[Expr] | None = None) -> str:
        tree = parsed(run, into)
        made = scope.relation.below(scope.resolved(tree.this if into else tree, run))
        return made.name if isinstance(made, exp.Column) else ""

    partition = tuple(name(run) for run in spec.partition)
    keyed = all(known in (*base.keys, *EDGES) for known in partition)
    ordered_by = [name(run, exp.Ordered) for run in spec.order]
    return keyed and all(ordered_by) and _names_the_window(base, partition)


def over_windows(select: ast.Select, relation: Relation, items: Sequence[Item]) -> Relation:
    """`relation`: a windowed query."""
    base = relation.base
    assert isinstance(base, WindowAggregate)
    refuse_all(select.policies, "this query has no window of its own to emit or retain")
    binding = OfWindows(Scope(relation), named_windows(select))
    binding.ranks = Ranks(binding.named, binding.over)
    columns, predicate = binding.bound(items, select.qualify)
    run = select.qualify or select.items[0]
    return Relation(binding.ranks.over(base), columns, (), predicate, run)


def refuse_filtered(predicate: Expr | None, run: ast.Run) -> None:
    """Ranks count what a filter below them leaves, and windows are filtered only above."""
    if predicate is not None:
        message = "a rank of filtered windows is not supported yet"
        raise QueryError(message, run.span, legal="the filter above the rank, or WHERE on rows")


@dataclass
class OfWindows(Above):
    ranks: Ranks = field(default_factory=Ranks)

    def column(self, node: exp.Column, run: ast.Run) -> Expr:
        relation = self.scope.relation
        below = relation.below(self.scope.resolved(node, run))
        return instead_of(node, rewritten(below, marked))

    def call(self, call: AggregateCall, node: Expr, run: ast.Run, wanted: str | None) -> Expr:
        if call.over is None:
            raise needs_over(node, run, EXAMPLE)
        used = {column.name.lower() for column in self.scope.relation.under}

        def free() -> str:
            names = [wanted or "", *(f"_rank{n}" for n in range(1, 100))]
            return next(name for name in names if name and name.lower() not in used)

        return done(self.ranks.call(call, node, run, free))
