"""Expressions over what an operator gives: its columns and calls put in their places.

What each kind of operator makes of a column, and of a call, is its own; walking
expressions, the select list and QUALIFY are here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.calls import AggregateCall, call_at, refuse_calls
from sqlwin.sql.expressions.places import place
from sqlwin.sql.expressions.scalars import Expr, column, instead_of, parsed
from sqlwin.sql.expressions.trees import rewritten
from sqlwin.sql.over.clauses import Named
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.relation import Columns, Relation
from sqlwin.sql.relations.scope import DONE, Scope
from sqlwin.sql.text import ast


def done(name: str) -> exp.Column:
    return column(name, DONE)


@dataclass
class Above:
    """scope: of the relation that the query reads. named: its named windows."""

    scope: Scope
    named: Named

    def column(self, node: exp.Column, run: ast.Run) -> Expr:
        """What a column of the relation is above the operator, marked."""
        raise NotImplementedError

    def call(self, call: AggregateCall, node: Expr, run: ast.Run, wanted: str | None) -> Expr:
        """What a call is; wanted: the alias it should have, where it is a whole item."""
        raise NotImplementedError

    def over(self, tree: Expr, run: ast.Run, wanted: str | None = None) -> Expr:
        """`tree` over the operator's output, marked."""
        return rewritten(
            tree, lambda node: self._over(node, run, wanted if node.parent is None else None)
        )

    def _over(self, node: Expr, run: ast.Run, wanted: str | None) -> Expr:
        if isinstance(node, exp.Column) and node.table == DONE:
            return node
        call = call_at(node, run)
        if call is not None:
            return self.call(call, node, run, wanted)
        return self.column(node, run) if isinstance(node, exp.Column) else node

    def bound(self, items: Sequence[Item], qualify: ast.Run | None) -> tuple[Columns, Expr | None]:
        """The select list and QUALIFY, which may name what has an alias there."""
        made = [(item, self.over(item.tree, item.run, item.alias)) for item in items]
        aliases = {item.alias: tree for item, tree in made if item.alias}
        predicate = None if qualify is None else self._qualify(qualify, aliases)
        columns = tuple((item.name, plain(tree), item.run) for item, tree in made)
        return columns, None if predicate is None else plain(predicate)

    def _qualify(self, run: ast.Run, aliases: dict[str, Expr]) -> Expr:
        return self.over(aliased(parsed(run), aliases, self.scope.relation), run)


@dataclass
class Carrying(Above):
    """Over rows: columns beside the calls are carried through the operator."""

    below: Below

    def column(self, node: exp.Column, run: ast.Run) -> Expr:
        return done(self.below.add(self.scope.resolved(node, run), run, "column"))

    def partition(self, spec: ast.Spec) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._key(run) for run in spec.partition))

    def _key(self, run: ast.Run) -> str:
        tree = parsed(run)
        refuse_calls(tree, run, "PARTITION BY")
        return self.below.add(self.scope.resolved(tree, run), run, "key")


def aliased(tree: Expr, aliases: Mapping[str, Expr], relation: Relation) -> Expr:
    """`tree` with what aliases stand for, marked as done; a column of that name wins."""
    lower = {name.lower(): rewritten(made, marked) for name, made in aliases.items()}

    def named(node: Expr) -> Expr:
        if not isinstance(node, exp.Column) or node.table or relation.find(node.name):
            return node
        alias = lower.get(node.name.lower())
        return node if alias is None else instead_of(node, alias)

    return rewritten(tree, named)


def marked(node: Expr) -> Expr:
    return done(node.name) if isinstance(node, exp.Column) else node


def plain(tree: Expr) -> Expr:
    """Marked columns by their names alone."""
    return rewritten(
        tree,
        lambda node: (
            column(node.name) if isinstance(node, exp.Column) and node.table == DONE else node
        ),
    )


def needs_over(node: Expr, run: ast.Run, legal: str) -> QueryError:
    message = "this aggregate needs an OVER clause, as the others here have one"
    return QueryError(message, place(node, run), legal=legal)


def no_over(run: ast.Run) -> QueryError:
    message = "QUALIFY filters by an OVER call, and there is none here"
    return QueryError(message, run.span, legal="WHERE, or HAVING over a window")
