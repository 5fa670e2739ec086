"""What a grouped query says above its window: keys, aggregates, the window's columns, GROUPING.

Expressions are rewritten from above: what the operator gives becomes a column of its
output, what it does not give is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from functools import reduce

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.functions.elsewhere import ELSEWHERE
from sqlwin.lazy_dataclass import dataclass
from sqlwin.names import nearest
from sqlwin.plan.explain.functions import meant, names
from sqlwin.plan.ir.nodes import GROUPING, Aggregate
from sqlwin.sql.expressions.calls import AggregateCall, call_at
from sqlwin.sql.expressions.places import place, word
from sqlwin.sql.expressions.scalars import Expr, column, spark
from sqlwin.sql.expressions.trees import rewritten
from sqlwin.sql.over.ranks import Ranks
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.scope import DONE, Scope
from sqlwin.sql.relations.window_columns import WINDOW
from sqlwin.sql.text import ast

NO_EDGE = {
    "window_start": "a window without bound has no beginning",
    "window_time": "a window in ROWS is made of numbers and has no last instant",
}


@dataclass
class Grouping:
    """keys: resolved expressions by their names below. names: the same the other way, where
    several may be one column below. aggregates: by the name of their output column.

    edges: the columns that the window has. sets: whether there are GROUPING SETS. rows:
    nothing is grouped, and every column that is asked for is carried as a key.
    """

    below: Below
    scope: Scope
    edges: tuple[str, ...] = ()
    sets: bool = False
    rows: bool = False
    keys: dict[str, Expr] = field(default_factory=dict)
    names: dict[Expr, str] = field(default_factory=dict)
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    called: dict[Aggregate, str] = field(default_factory=dict)
    ranks: Ranks = field(default_factory=Ranks)

    def key(self, tree: Expr, run: ast.Run) -> str:
        name = self.below.add(tree, run, "key")
        self.keys.setdefault(name, tree)
        self.names[tree] = name
        return name

    def above(self, tree: Expr, run: ast.Run, wanted: str | None) -> Expr:
        """`tree`, resolved, over the operator's output."""
        made = rewritten(
            tree, lambda node: self._above(node, run, wanted if node.parent is None else None)
        )
        return rewritten(made, unmarked)

    def _above(self, node: Expr, run: ast.Run, wanted: str | None) -> Expr:
        if isinstance(node, exp.Column) and node.table == DONE:
            return node
        if isinstance(node, exp.Column) and node.table == WINDOW:
            return self._edge(node, run)
        name = self.names.get(node)
        if name is not None:
            return column(name, DONE)
        if is_grouping(node):
            return self._grouping(node, run)
        call = call_at(node, run)
        if call is not None:
            return column(self.aggregate(call, node, run, wanted), DONE)
        if isinstance(node, exp.Column) and self.rows:
            return column(self.key(node, run), DONE)
        if isinstance(node, exp.Column):
            raise self._ungrouped(node, run)
        return node

    def _edge(self, node: exp.Column, run: ast.Run) -> Expr:
        if node.name in self.edges:
            return node
        raise QueryError(NO_EDGE[node.name], run.span, legal=", ".join(self.edges))

    def aggregate(self, call: AggregateCall, node: Expr, run: ast.Run, wanted: str | None) -> str:
        if call.over is not None:
            return self.ranks.call(call, node, run, lambda: self.below.aggregate_name(wanted))
        made = self.below.aggregate(call, run)
        name = self.called.get(made)
        if name is None:
            name = self.called[made] = self.below.aggregate_name(wanted)
            self.aggregates[name] = replace(made, name=name)
        return name

    def _grouping(self, node: Expr, run: ast.Run) -> Expr:
        """Of each key one bit, the first key's the highest: set where it is left out."""
        if not self.sets:
            message = "GROUPING says which keys a grouping set leaves out; here are no such sets"
            raise QueryError(message, word(node, run), legal="GROUP BY GROUPING SETS, ROLLUP, CUBE")
        if not node.expressions and isinstance(node, exp.GroupingId):
            return column(GROUPING, DONE)
        bits = [self._bit(key, run) for key in node.expressions]
        if not bits:
            raise QueryError("GROUPING takes a key", word(node, run), legal="GROUPING(product)")
        return exp.Paren(this=reduce(_shifted, bits))

    def _bit(self, key: Expr, run: ast.Run) -> Expr:
        name = self.names.get(key)
        if name is None:
            keys = ", ".join(spark(known) for known in self.keys.values()) or "none"
            message = f"GROUPING takes keys, and {spark(key)} is none"
            raise QueryError(message, place(key, run), legal=keys)
        shift = len(self.keys) - 1 - list(self.keys).index(name)
        moved = exp.BitwiseRightShift(
            this=column(GROUPING, DONE), expression=exp.Literal.number(shift)
        )
        return exp.BitwiseAnd(this=exp.Paren(this=moved), expression=exp.Literal.number(1))

    def _ungrouped(self, node: exp.Column, run: ast.Run) -> QueryError:
        call = _unknown_call(node)
        if call is not None and call.name.lower() == WINDOW_CALL:
            message = "a window is called in GROUP BY, and named in SELECT"
            return QueryError(message, word(call, run), legal=WINDOW_LEGAL)
        if call is not None:
            near = nearest(call.name.lower(), meant(), ELSEWHERE)
            return QueryError(f"no function is called {call.name}{near}", word(call, run))
        keys = ", ".join(spark(key) for key in self.keys.values()) or "none"
        message = f"{node.name} is neither grouped nor aggregated; the keys are: {keys}"
        legal = f"GROUP BY {node.name}, or MAX({node.name})"
        return QueryError(message, place(node, run), legal=legal)


WINDOW_CALL = "window"
WINDOW_LEGAL = "window, window.start, window.end; GROUP BY window(ts, '1 minute')"


def _unknown_call(node: Expr) -> exp.Anonymous | None:
    """The call around a column that nothing is called by: a misspelt aggregate, say."""
    above: Expr | None = node.parent
    while above is not None:
        if isinstance(above, exp.Anonymous) and above.name.lower() not in names():
            return above
        above = above.parent
    return None


def is_grouping(node: Expr) -> bool:
    return isinstance(node, exp.Grouping | exp.GroupingId)


def bare_calls(tree: Expr, run: ast.Run) -> Iterator[Expr]:
    """The aggregate calls with no OVER, and GROUPING; of nested ones the outermost."""
    call = None if is_grouping(tree) else call_at(tree, run)
    if is_grouping(tree) or (call is not None and call.over is None):
        yield tree
    elif call is None:
        for inner in tree.iter_expressions():
            yield from bare_calls(inner, run)


def unmarked(node: Expr) -> Expr:
    """Window and key columns by their plain names; `window_time` is the last instant."""
    if not isinstance(node, exp.Column):
        return node
    if node.table == WINDOW and node.name == "window_time":
        last = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("MICROSECOND"))
        return exp.Paren(this=exp.Sub(this=column("window_end"), expression=last))
    return column(node.name)


def _shifted(bits: Expr, bit: Expr) -> Expr:
    two = exp.Mul(this=exp.Paren(this=bits), expression=exp.Literal.number(2))
    return exp.Add(this=two, expression=exp.Paren(this=bit))
