"""A query lowered to the reference operator, in place of the fast one."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from sqlwin.operators.contract import Operator
from sqlwin.operators.definitions import Groups, Overs, Value
from sqlwin.operators.reference import Definition, ReferenceOperator
from sqlwin.plan.nodes import Aggregate, OverAggregate, Query, WindowAggregate
from sqlwin.runtime.lower import Lowered, lower
from sqlwin.runtime.stores import Shape, shapes
from sqlwin.schema import polars_schema
from sqlwin.windows import Unit


@shapes.register
def _none(operator: ReferenceOperator) -> list[Shape]:
    return []


def specified(query: Query) -> Lowered:
    """As `lower`, with the operator that keeps every row and computes all windows anew."""
    fast = lower(query)
    window = _window(query)
    if window is None:
        return fast
    operator: Operator = ReferenceOperator(
        Definition(
            windows=_groups(window, fast)
            if isinstance(window, WindowAggregate)
            else _overs(window, fast),
            output=_output(window),
            carried=tuple(column.name for column in window.input.schema),
            policy=window.policy,
            by_count=_counts(window),
            withdraw=fast.having is not None,
        )
    )
    return replace(fast, operator=operator)


def _window(query: Query) -> WindowAggregate | OverAggregate | None:
    node = query.plan
    while not isinstance(node, WindowAggregate | OverAggregate):
        if not hasattr(node, "input"):
            return None
        node = node.input
    return node


def _counts(window: WindowAggregate | OverAggregate) -> bool:
    if isinstance(window, WindowAggregate):
        return window.window.unit is Unit.ROWS
    return window.by_arrival


def _groups(window: WindowAggregate, fast: Lowered) -> Groups:
    values = tuple(map(_value, window.aggregates))
    return Groups(
        fast.stream.name, window.window, window.keys, values, window.partition, window.where
    )


def _overs(window: OverAggregate, fast: Lowered) -> Overs:
    return Overs(
        stream=fast.stream.name,
        carried=tuple(column.name for column in window.input.schema),
        calls=tuple((_value(c.aggregate), c.partition, c.frame) for c in window.calls),
        by_arrival=window.by_arrival,
        per_instant=window.per_instant,
        where=window.where,
    )


def _value(aggregate: Aggregate) -> Value:
    return Value(
        aggregate.name, aggregate.function, aggregate.args, aggregate.type, aggregate.where
    )


def _output(window: WindowAggregate | OverAggregate) -> dict[str, pl.DataType]:
    return polars_schema(window.schema)
