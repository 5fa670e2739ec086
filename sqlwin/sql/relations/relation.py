"""A relation while it is bound: columns as expressions over a base that is a plan node.

A view or subquery with no window of its own is merged by substitution, so the
base is a stream's Scan, or the window operator of a windowed query; filters on
top are kept apart as one predicate.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.names import nearest as nearest
from sqlwin.plan.ir.nodes import (
    Filter,
    Join,
    MatchRecognize,
    Node,
    OverAggregate,
    Project,
    Scalar,
    Scan,
    StaticScan,
    Stream,
    TopN,
    Unnest,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.plan.options.connectors import PARTITIONED
from sqlwin.schema import Column, Schema, type_name
from sqlwin.sql.expressions.scalars import Expr, column, instead_of, known_column, scalar
from sqlwin.sql.expressions.trees import rewritten
from sqlwin.sql.relations.rank_bounds import OpenTop
from sqlwin.sql.relations.window_columns import is_marked
from sqlwin.sql.text import ast
from sqlwin.sql.text.depth import refuse_grown

if TYPE_CHECKING:
    from sqlwin.sql.relations.open_windows import OpenWindow

Base = (
    Scan
    | StaticScan
    | Join
    | WindowAggregate
    | OverAggregate
    | WindowedRelation
    | WindowRank
    | TopN
    | MatchRecognize
    | OpenTop
    | Unnest
)
Columns = tuple[tuple[str, Expr, ast.Run], ...]
NOWHERE = ast.Run("", "", Span(1, 1))


@dataclass(frozen=True)
class JoinSide:
    """An input of a join. columns: their own names, each with the one it has in the join.

    hidden: it is named by what it was made for alone, and no part of `*`.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    hidden: bool = False

    def find(self, name: str) -> str | None:
        """The join's name of a column of its own."""
        return self._called.get(name.lower())

    @cached_property
    def _called(self) -> dict[str, str]:
        return {own.lower(): called for own, called in reversed(self.columns)}


@dataclass(frozen=True)
class Lengths:
    """What hints say of TTLs, in microseconds, 0 for none. own: of what a query itself keeps.

    sides: of the left and the right of its join, None where no hint says; None: as `own`.
    """

    own: int
    sides: tuple[int | None, int | None] | None = None

    @property
    def both(self) -> tuple[int | None, int | None]:
        return (self.own, self.own) if self.sides is None else self.sides


@dataclass(frozen=True)
class Relation:
    """columns: name, expression over `base.schema`, and where it was written.

    names: by which columns may be qualified. predicate_run: where it was written. ttl:
    what a hint STATE_TTL says of its state; None: there is none. sides: of a
    join, while its query is bound; merged: columns of USING, which stand there once; same:
    columns that it makes equal, each with the one to be read for both. emits: whether its
    operator has an EMIT of its own; retains: a RETAIN. view: the name of the view that it is,
    unchanged. reads: what FROM calls that which its operator, and those before it, read.
    versions: of versions of keys, by what each instant has one row at most. opened: of rows of
    a window, see there.
    """

    base: Base
    columns: Columns
    names: tuple[str, ...]
    predicate: Expr | None = None
    predicate_run: ast.Run = NOWHERE
    ttl: Lengths | None = None
    sides: tuple[JoinSide, ...] = ()
    merged: tuple[str, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    emits: bool = False
    retains: bool = False
    view: str = ""
    reads: tuple[str, ...] = ()
    versions: tuple[Expr, ...] | None = None
    opened: OpenWindow | None = None

    @property
    def stream(self) -> Stream | None:
        return self.base.stream if isinstance(self.base, Scan) else None

    @cached_property
    def under(self) -> Schema:
        """The columns of the base."""
        return self.base.schema

    def find(self, name: str) -> str | None:
        """The column's own spelling; names are not case sensitive."""
        return self._spelled.get(name.lower())

    def free(self, name: str) -> str:
        """The name, with what makes it no column's."""
        while self.find(name) is not None:
            name += "_"
        return name

    @cached_property
    def _spelled(self) -> dict[str, str]:
        return {name.lower(): name for name, _, _ in reversed(self.columns)}

    def expression(self, name: str) -> Expr:
        return self._expressions[name]

    @cached_property
    def _expressions(self) -> dict[str, Expr]:
        return {name: expr for name, expr, _ in reversed(self.columns)}

    def candidates(self, name: str) -> list[tuple[JoinSide, str]]:
        """The inputs of a join that have such a column, and the join's name of it."""
        found = [(side, side.find(name)) for side in self.sides]
        return [(side, called) for side, called in found if called is not None]

    def called(self, *names: str) -> Relation:
        return replace(self, names=names)

    def below(self, tree: Expr, run: ast.Run | None = None) -> Expr:
        """`tree` over this relation's columns, as one over the base's. run: where it stands."""
        own = (node for node in tree.find_all(exp.Column) if not is_marked(node))
        named = [self.expression(node.name) for node in own]
        refuse_grown(named, tree, None if run is None else run.span)
        return rewritten(tree, self._substituted)

    def _substituted(self, node: Expr) -> Expr:
        if not isinstance(node, exp.Column) or is_marked(node):
            return node
        return instead_of(node, self.expression(node.name))

    @cached_property
    def scalars(self) -> tuple[tuple[str, Scalar], ...]:
        """The columns as a plan has them."""
        return self._scalars(result=False)

    def _scalars(self, result: bool) -> tuple[tuple[str, Scalar], ...]:
        types = {column.name: column.type for column in self.under}
        return tuple(
            (name, known_column(expr, types) or scalar(expr, self.under, run, result))
            for name, expr, run in self.columns
        )

    def check(self) -> None:
        """QueryError for a column, or a condition, that no query could have."""
        self._scalars(result=True)
        if self.predicate is not None:
            condition(self.predicate, self.under, self.predicate_run)

    def plan(self, result: bool = False) -> Node:
        """Base, then Filter where there is a predicate, then Project. result: see `scalar`."""
        made = self.closed
        return Project(made.filtered(), made._scalars(result) if result else made.scalars)

    def filtered(self) -> Node:
        made = self.closed
        assert not isinstance(made.base, OpenTop)
        if made.predicate is None:
            return made.base
        predicate = condition(made.predicate, made.under, made.predicate_run)
        return Filter(made._of_folders(made.base, made.predicate), predicate)

    def _of_folders(self, base: Node, predicate: Expr) -> Node:
        """A scan of a partitioned source, with what the predicate says of its folders."""
        if not isinstance(base, Scan | StaticScan) or PARTITIONED not in dict(base.stream.options):
            return base
        from sqlwin.sql.relations.folder_conditions import folder_condition  # by need

        said = folder_condition(base.stream, predicate)
        if said is None:
            return base
        return replace(base, folders=condition(said, self.under, self.predicate_run))

    @cached_property
    def closed(self) -> Relation:
        """With the bound of its rank; where the filter has none, over the ranks of all rows.

        QueryError where it is of rows that no query can have.
        """
        if self.opened is not None:
            self.opened.refuse(self)
        if not isinstance(self.base, OpenTop):
            return self
        found = self.base.closed(self.predicate)
        if found is not None:
            return replace(self, base=found[0], predicate=found[1])
        (over, rank), name = self.base.unbounded, self.base.top.name

        def ranked(node: Expr) -> Expr:
            named = isinstance(node, exp.Column) and node.name == name
            return instead_of(node, rank) if named else node

        columns = [(called, rewritten(tree, ranked), run) for called, tree, run in self.columns]
        predicate = None if self.predicate is None else rewritten(self.predicate, ranked)
        return replace(self, base=over, columns=tuple(columns), predicate=predicate)

    def schema(self) -> Schema:
        return tuple(Column(name, made.type) for name, made in self.scalars)


def condition(tree: Expr, schema: Schema, run: ast.Run) -> Scalar:
    made = scalar(tree, schema, run)
    if not pa.types.is_boolean(made.type):
        message = f"a condition must be BOOLEAN, this is {type_name(made.type)}"
        raise QueryError(message, run.span, legal="a comparison, such as value > 0")
    return made


def of_stream(stream: Stream, static: bool = False) -> Relation:
    """static: it is a table that is looked up."""
    columns = tuple((c.name, column(c.name), NOWHERE) for c in stream.schema)
    base = StaticScan(stream) if static else Scan(stream)
    return Relation(base, columns, (stream.name,))
