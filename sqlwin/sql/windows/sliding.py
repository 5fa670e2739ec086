"""Sliding windows of a stream: a window for each row, or each instant of a key.

One in ROWS over a result is a frame in ROWS, of its rows by event time. The numbers that
are its bounds are counted only where they are asked for, since a late row changes those of all
rows behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from sqlwin.plan.ir.nodes import Aggregate, OverAggregate, OverCall, Scalar
from sqlwin.policies import Policy
from sqlwin.sql.expressions.scalars import Expr, column, conjoined, instead_of
from sqlwin.sql.expressions.trees import copied, rewritten
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.relation import Columns, Relation
from sqlwin.sql.text import ast
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

_BIGINT = pa.int64()
_FROM_THE_FIRST = Frame(Unit.ROWS, None)


def sliding(
    below: Below,
    aggregates: Sequence[Aggregate],
    keys: tuple[str, ...],
    frame: Frame,
    policy: Policy,
    where: str | None,
) -> OverAggregate:
    """Of a declared stream, or in RANGE."""
    counts = frame.unit is Unit.ROWS
    return OverAggregate(
        below.project(),
        _calls(aggregates or [_count(below)], keys, frame),
        policy,
        by_arrival=counts,
        per_instant=not counts,
        window_columns=True,
        where=where,
    )


def over_result(
    below: Below,
    aggregates: Sequence[Aggregate],
    keys: tuple[str, ...],
    frame: Frame,
    policy: Policy,
    where: str | None,
    columns: Columns,
    having: Expr | None,
    run: ast.Run,
) -> Relation:
    """In ROWS of a result. Rows that fail WHERE are in frames, and count for no aggregate."""
    calls = _calls([_where(each, where, below) for each in aggregates], keys, frame)
    trees = [tree for _, tree, _ in columns] + ([] if having is None else [having])
    edges_read = any(_is_edge(node) for tree in trees for node in tree.find_all(exp.Column))
    number = _count(below)
    if edges_read or not calls:
        calls = (*calls, *_calls([number], keys, _FROM_THE_FIRST))
    edges = _edges(number.name, frame)
    made = tuple((name, _numbered(tree, edges), item_type) for name, tree, item_type in columns)
    having_ = None if having is None else _numbered(having, edges)
    predicate = having_ if where is None else conjoined(having_, column(where))
    return Relation(OverAggregate(below.project(), calls, policy), made, (), predicate, run)


def _calls(
    aggregates: Sequence[Aggregate], keys: tuple[str, ...], frame: Frame
) -> tuple[OverCall, ...]:
    return tuple(OverCall(aggregate, keys, frame) for aggregate in aggregates)


def _count(below: Below) -> Aggregate:
    return Aggregate(below.free("agg"), "count", (), _BIGINT)


def _where(aggregate: Aggregate, where: str | None, below: Below) -> Aggregate:
    """Of rows that WHERE and FILTER let pass."""
    if where is None or aggregate.where is None:
        return replace(aggregate, where=aggregate.where or where)
    one, other = below.columns[where], below.columns[aggregate.where]
    both = Scalar(
        f"({one.sql}) AND ({other.sql})",
        f"({one.duckdb}) AND ({other.duckdb})",
        one.type,
        tuple(dict.fromkeys((*one.inputs, *other.inputs))),
    )
    return replace(aggregate, where=below.put(both, "where"))


def _edges(number: str, frame: Frame) -> dict[str, Expr]:
    one = exp.cast(exp.Literal.number(1), "bigint")
    end = exp.Paren(this=exp.Add(this=column(number), expression=copied(one)))
    if frame.preceding is None:
        return {"window_start": one, "window_end": end}
    back = exp.Sub(this=column(number), expression=exp.Literal.number(frame.preceding))
    return {"window_start": exp.Greatest(this=back, expressions=[one]), "window_end": end}


def _is_edge(node: exp.Column) -> bool:
    return node.name in ("window_start", "window_end")


def _numbered(tree: Expr, edges: dict[str, Expr]) -> Expr:
    return rewritten(
        tree,
        lambda node: (
            instead_of(node, edges[node.name])
            if isinstance(node, exp.Column) and _is_edge(node)
            else node
        ),
    )
