"""What a query emits: names of its columns, and what a sink takes of them."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.typed import Typed
from sqlwin.plan.ir.nodes import Node, Project
from sqlwin.plan.ir.statements import Sink
from sqlwin.plan.options.connectors import PARTITIONED
from sqlwin.plan.options.sinks import changes, why_changing
from sqlwin.schema import CHANGELOG_NAMES, type_name
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.expressions.widening import widens
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import ALIAS


def named_results(relation: Relation) -> Relation:
    """The relation as a result. QueryError for a column with a name that each result has."""
    for name, _, run in relation.columns:
        if name.lower() in CHANGELOG_NAMES.values():
            message = f"each result has a column {name.lower()} of its own"
            raise QueryError(message, run.span, legal=_renamed(name, run))
    return relation


def _renamed(name: str, run: ast.Run) -> str:
    tree = parsed(run)
    if isinstance(tree, exp.Alias):
        value = " ".join(ALIAS.sub("", run.original).split())
        return f"{value} AS another name"
    starred = isinstance(tree, exp.Star) or isinstance(tree.this, exp.Star)
    return f"{name} AS another name" + (", in a list of columns" if starred else "")


def into(sink: Sink, plan: Node, statement: ast.Insert) -> Node:
    """The plan with the sink's columns: by position, numbers widened where they may be."""
    assert isinstance(plan, Project)
    if sink.columns is None:
        if PARTITIONED in (options := dict(sink.options)):
            from sqlwin.sql.sources.partitioned import check_partitions  # by need

            columns_ = [(name, scalar.type) for name, scalar in plan.columns]
            check_partitions(f"sink {sink.name}", options, columns_, statement.sink.span)
        return plan
    span = statement.sink.span
    if len(sink.columns) != len(plan.columns):
        message = f"{sink.name} has {len(sink.columns)} columns, the query {len(plan.columns)}"
        legal = ", ".join(column.name for column in sink.columns)
        raise QueryError(message, span, legal=legal)
    columns = []
    for (name, scalar), column in zip(plan.columns, sink.columns, strict=True):
        if scalar.type != column.type:
            if not widens(scalar.type, column.type):
                have, want = type_name(scalar.type), type_name(column.type)
                message = f"{sink.name} wants {want} for {column.name}, {name} is {have}"
                raise QueryError(message, span, legal=f"CAST({name} AS {want})")
            made = cast(Typed(scalar.duckdb, scalar.type), column.type)
            sql = f"CAST({scalar.sql} AS {type_name(column.type)})"
            scalar = replace(scalar, sql=sql, duckdb=made.sql, type=column.type)
        columns.append((column.name, scalar))
    return Project(plan.input, tuple(columns))


def refuse_changes(sink: Sink, plan: Node, statement: ast.Insert) -> None:
    """A sink that appends cannot take back what a later row changes."""
    if sink.changelog == "append" and changes(plan):
        why, mended = why_changing(plan)
        message = f"{sink.name} appends, and results of this query change: {why}"
        legal = "changelog = 'upsert' or 'retract'" + (f"; {mended}" if mended else "")
        raise QueryError(message, statement.sink.span, legal=legal)
