"""What is kept of windows: rows, accumulators, positions, floors; for EXPLAIN and for lowering."""

from __future__ import annotations

from pyarrow.types import is_floating

from sqlwin.aggregates import signature
from sqlwin.plan.ir.nodes import (
    Aggregate,
    OverAggregate,
    WindowAggregate,
)
from sqlwin.plan.properties.changelog import changing, comes_again, weighted
from sqlwin.plan.properties.facts import (
    Unranked,
    arriving,
    bucket_keys,
    counts,
)
from sqlwin.windows import Session, Unit, Whole


def full_state(aggregate: Aggregate) -> bool:
    """Whether the aggregate keeps the values themselves; one from Python never does."""
    known = signature(aggregate.function)
    return known is not None and known.keeps_values(aggregate.distinct)


def keeps_messages(window: WindowAggregate) -> bool:
    """Whether rows are kept as they are, not only what they sum up to."""
    if any(full_state(aggregate) for aggregate in window.aggregates):
        return True
    kept = [each for each in window.aggregates if not lets_go(each, window)]
    return bool(kept) and not arriving(window) and weighted(window)


def parts_sessions(window: WindowAggregate) -> bool:
    """Whether of sessions an accumulator is kept for each instant, so that they can be parted."""
    session, counted = window.window, window.policy.retain_rows is not None
    if not isinstance(session, Session):
        return False
    cut = session.cut or counted or set(window.keys) != set(window.partition)
    return cut or weighted(window)


def lets_go(aggregate: Aggregate, window: WindowAggregate) -> bool:
    """Whether a row can be taken out of what the aggregate keeps, exactly."""
    known = signature(aggregate.function)
    types = {column.name: column.type for column in window.input.schema}
    sums_floats = aggregate.function != "count" and any(
        is_floating(types[arg]) for arg in aggregate.args
    )
    return known is not None and known.invertible and not sums_floats


def keeps_positions(window: Unranked) -> bool:
    """Whether it is kept which rows are known, beside what an operator keeps of them anyway."""
    forgets = window.policy.ttl is not None or comes_again(window)
    return changing(window.input) and forgets and not isinstance(window, OverAggregate)


def keeps_floors(window: Unranked) -> bool:
    """Whether it is kept how far RETAIN n ROWS has gone, for rows that it counts may go."""
    whole = isinstance(window, WindowAggregate) and isinstance(window.window, Whole)
    return changing(window.input) and window.policy.retain_rows is not None and not whole


def keeps_keys(window: Unranked) -> bool:
    """Whether what is kept of a key does not go with time."""
    if counts(window):
        return bool(bucket_keys(window))
    calls = window.calls if isinstance(window, OverAggregate) else ()
    return any(call.partition and call.frame.unit is Unit.ROWS for call in calls)
