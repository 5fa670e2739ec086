"""The Project below a window operator, as it grows: keys, arguments, carried columns.

Plain columns keep their names; all else is called `_key1`, `_arg1`, … by what it
is for. No name is used twice in one window query, neither below nor above.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace

import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlwin.aggregates import BINARY, DOUBLE, STRING, is_orderable
from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Aggregate, Project, Scalar
from sqlwin.schema import RESERVED, Order, type_name
from sqlwin.sql.expressions.analytic_functions import ANALYTIC
from sqlwin.sql.expressions.calls import AggregateCall, refuse_calls
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
from sqlwin.sql.expressions.registered import Registered
from sqlwin.sql.expressions.scalars import Expr, conjoined, not_null, scalar
from sqlwin.sql.expressions.trees import copied, rewritten_in_place
from sqlwin.sql.expressions.widening import widens
from sqlwin.sql.relations.relation import NOWHERE, Relation, condition
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.relations.window_columns import EDGES
from sqlwin.sql.text import ast


def _read(reads: str, tree: Expr) -> Expr:
    """The expression of a signature, of that argument."""
    made = sqlglot.parse_one(reads, read=SqlwinSpark)
    return rewritten_in_place(
        made, lambda node: copied(tree) if isinstance(node, exp.Column) else node
    )


def ordered(name: str, key: exp.Ordered) -> Order:
    """sqlglot has filled in where NULLs go: first ascending, last descending, as in Spark."""
    return Order(name, bool(key.args.get("desc")), not key.args.get("nulls_first"))


@dataclass
class Below:
    """trees: of columns the expressions over the relation's base. taken: every name in use, lower
    case. _named: columns by their SQL; _counts: by purpose the last number of a name."""

    relation: Relation
    columns: dict[str, Scalar] = field(default_factory=dict)
    trees: dict[str, Expr] = field(default_factory=dict)
    used: set[str] = field(default_factory=lambda: set(EDGES))
    _named: dict[str, str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def copied(self) -> Below:
        """One that grows by itself from here on."""
        return Below(
            self.relation,
            dict(self.columns),
            dict(self.trees),
            set(self.used),
            dict(self._named),
            Counter(self._counts),
        )

    def add(self, tree: Expr, run: ast.Run, purpose: str) -> str:
        """The name of a column that holds `tree`, resolved in the relation."""
        below = self.relation.below(tree)
        made = scalar(below, self.relation.under, run)
        wanted = tree.name if isinstance(tree, exp.Column) else None
        name = self.put(made, purpose, wanted)
        self.trees.setdefault(name, below)
        return name

    def put(self, made: Scalar, purpose: str, wanted: str | None = None) -> str:
        name = self._named.get(made.duckdb)
        if name is None:
            name = self._named[made.duckdb] = self.free(purpose, wanted)
            self.columns[name] = made
        return name

    def free(self, purpose: str, wanted: str | None = None) -> str:
        name = wanted
        while name is None or name.lower() in self.used or name.startswith(RESERVED):
            self._counts[purpose] += 1
            name = f"_{purpose}{self._counts[purpose]}"
        self.used.add(name.lower())
        return name

    def condition(self, tree: Expr, run: ast.Run, purpose: str = "where") -> str:
        made = condition(self.relation.below(tree), self.relation.under, run)
        return self.put(made, purpose)

    def aggregate(self, call: AggregateCall, run: ast.Run) -> Aggregate:
        """The call over columns of this Project; the caller names it if it is new."""
        known = call.function
        if known.name in ANALYTIC:
            message = f"{known.name.upper()} needs an OVER clause"
            raise QueryError(message, run.span, legal=known.example)
        keys = [key.this for key in call.order]
        for tree in (*call.args, call.where, *keys):
            if tree is not None:
                refuse_calls(tree, run, "an aggregate's arguments")
        args = tuple(self._argument(call, at, run) for at in range(len(call.args)))
        where = conjoined(call.where, not_null(call.args[0]) if call.skip else None)
        filter_ = None if where is None else self.condition(self._resolved(where, run), run)
        result = self._result(call, args, run)
        self._between(call, args, run)
        order = tuple(self.order(key, run) for key in call.order)
        how = (call.params, call.distinct, order, call.limit)
        return Aggregate("", known.name, args, result, filter_, *how)

    def _resolved(self, tree: Expr, run: ast.Run) -> Expr:
        return Scope(self.relation).resolved(tree, run)

    def _argument(self, call: AggregateCall, at: int, run: ast.Run) -> str:
        """The column of an argument, cast to what the function takes where it may be."""
        known, tree = call.function, self._resolved(call.args[at], run)
        wanted = known.types[at] if isinstance(known, Registered) else known.casts
        if wanted is None and not known.numeric and not known.reads:
            return self.add(tree, run, "arg")
        have = scalar(self.relation.below(tree), self.relation.under, run).type
        if known.reads and known.result((have,)) is not None:
            tree = _read(known.reads, tree)
        if known.casts is not None and (pa.types.is_nested(have) or have == BINARY):
            return self.add(tree, run, "arg")
        if known.numeric and have == STRING:
            tree = exp.cast(tree, type_name(DOUBLE), dialect="spark")
        elif wanted not in (None, have) and (wanted == known.casts or widens(have, wanted)):
            tree = exp.cast(tree, type_name(wanted), dialect="spark")
        return self.add(tree, run, "arg")

    def _result(self, call: AggregateCall, args: tuple[str, ...], run: ast.Run) -> pa.DataType:
        types = tuple(self.columns[arg].type for arg in args)
        result = call.function.returns(types, call.listed)
        if call.distinct and not all(map(is_orderable, types)):
            message = f"{type_name(types[0])} has no order, and so no distinct values"
            raise QueryError(message, run.span, legal="MAP_ENTRIES(value)")
        if result is None:
            types_ = ", ".join(type_name(type_) for type_ in types)
            message = f"{call.function.name.upper()} takes {call.function.accepts}, not {types_}"
            raise QueryError(message, run.span, legal=call.function.example)
        return result

    def _between(self, call: AggregateCall, args: tuple[str, ...], run: ast.Run) -> None:
        """What stands between BINARY values is BINARY, between texts a text."""
        binary = bool(args) and self.columns[args[0]].type == BINARY
        for given in call.params:
            if isinstance(given, bytes) != binary and isinstance(given, bytes | str) and given:
                of, is_ = ("BINARY", "STRING") if binary else ("STRING", "BINARY")
                message = f"{call.function.name.upper()} of {of} takes a {of} between, not a {is_}"
                legal = "LISTAGG(value, X'2C')" if binary else "LISTAGG(value, ',')"
                raise QueryError(message, run.span, legal=legal)

    def order(self, key: exp.Ordered, run: ast.Run) -> Order:
        name = self.add(self._resolved(key.this, run), run, "order")
        if not is_orderable(self.columns[name].type):
            message = f"{type_name(self.columns[name].type)} has no order"
            raise QueryError(message, run.span, legal="ORDER BY a number, a text, a time")
        return ordered(name, key)

    def aggregate_name(self, wanted: str | None) -> str:
        own = wanted is not None and self.relation.find(wanted) is not None
        return self.free("agg", None if own else wanted or None)

    def over(self) -> Relation:
        """The rows of the Project, over the relation's base."""
        columns = tuple((name, tree, NOWHERE) for name, tree in self.trees.items())
        return replace(self.relation, columns=columns)

    def project(self) -> Project:
        return Project(self.relation.filtered(), tuple(self.columns.items()))
