"""The Project below a window operator, as it grows: keys, arguments, carried columns.

Plain columns keep their names; all else is called `_key1`, `_arg1`, … by what it
is for. No name is used twice in one window query, neither below nor above.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.plan.nodes import Aggregate, Project, Scalar
from sqlwin.schema import RESERVED, type_name
from sqlwin.sql import ast
from sqlwin.sql.calls import Call, refuse_calls
from sqlwin.sql.relation import Relation, condition
from sqlwin.sql.scalars import Expr, scalar
from sqlwin.sql.scope import EDGES, Scope


@dataclass
class Below:
    """taken: every name in use, lower case."""

    relation: Relation
    columns: dict[str, Scalar] = field(default_factory=dict)
    taken: set[str] = field(default_factory=lambda: set(EDGES))

    def add(self, tree: Expr, run: ast.Run, purpose: str) -> str:
        """The name of a column that holds `tree`, resolved in the relation."""
        base = self.relation.base.schema
        made = scalar(self.relation.below(tree), base, run)
        wanted = tree.name if isinstance(tree, exp.Column) else None
        return self.put(made, purpose, wanted)

    def put(self, made: Scalar, purpose: str, wanted: str | None = None) -> str:
        for name, known in self.columns.items():
            if known.duckdb == made.duckdb:
                return name
        name = self.free(purpose, wanted)
        self.columns[name] = made
        return name

    def free(self, purpose: str, wanted: str | None = None) -> str:
        name = wanted
        count = 0
        while name is None or name.lower() in self.taken or name.startswith(RESERVED):
            count += 1
            name = f"_{purpose}{count}"
        self.taken.add(name.lower())
        return name

    def condition(self, tree: Expr, run: ast.Run) -> str:
        made = condition(self.relation.below(tree), self.relation.base.schema, run)
        return self.put(made, "where")

    def aggregate(self, call: Call, run: ast.Run) -> Aggregate:
        """The call over columns of this Project; the caller names it if it is new."""
        scope = Scope(self.relation)
        for tree in (*call.args, call.where):
            if tree is not None:
                refuse_calls(tree, run, "an aggregate's arguments")
        args = tuple(self.add(scope.resolved(arg, run), run, "arg") for arg in call.args)
        where = self.condition(scope.resolved(call.where, run), run) if call.where else None
        types = tuple(self.columns[arg].type for arg in args)
        result = call.function.result(types)
        if result is None:
            told = ", ".join(type_name(type_) for type_ in types)
            message = f"{call.function.name.upper()} takes {call.function.accepts}, not {told}"
            raise QueryError(message, run.span, legal=call.function.example)
        return Aggregate("", call.function.name, args, result, where)

    def aggregate_name(self, wanted: str | None) -> str:
        own = {name.lower() for name, _, _ in self.relation.columns}
        return self.free("agg", wanted if wanted and wanted.lower() not in own else None)

    def project(self) -> Project:
        return Project(self.relation.filtered(), tuple(self.columns.items()))
