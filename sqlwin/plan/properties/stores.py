"""The stores a window needs: rows, accumulators, positions, horizons."""

from __future__ import annotations

from pyarrow.types import is_floating

from sqlwin.aggregates import signature
from sqlwin.plan.ir.matches import looks_back
from sqlwin.plan.ir.nodes import Aggregate, MatchRecognize, OverAggregate, WindowAggregate
from sqlwin.plan.properties.changelog import changing, reappears, weighted
from sqlwin.plan.properties.facts import (
    Unranked,
    arriving,
    bucket_keys,
    counts,
)
from sqlwin.windows import Unit
from sqlwin.windows.group import Whole
from sqlwin.windows.session import Session


def full_state(aggregate: Aggregate) -> bool:
    """Whether the aggregate keeps the values themselves; one from Python never does."""
    known = signature(aggregate.function)
    return known is not None and known.keeps_values(aggregate.distinct, aggregate.limit)


def keeps_messages(window: WindowAggregate) -> bool:
    """Whether rows themselves are stored, besides accumulators."""
    if window.policy.discards:
        return False
    if any(full_state(aggregate) for aggregate in window.aggregates):
        return True
    not_invertible = [each for each in window.aggregates if not is_invertible(each, window)]
    return bool(not_invertible) and not arriving(window) and weighted(window)


def splits_sessions(window: WindowAggregate) -> bool:
    """Whether sessions store an accumulator for each instant, so that they can be split."""
    session = window.window
    counted = window.policy.retain_rows is not None and not arriving(window)
    if not isinstance(session, Session):
        return False
    cut = session.cut or counted or set(window.keys) != set(window.partition)
    return cut or weighted(window)


def is_invertible(aggregate: Aggregate, window: WindowAggregate) -> bool:
    """Whether a row can be subtracted from the accumulator, exactly (an invertible aggregate)."""
    known = signature(aggregate.function)
    types = {column.name: column.type for column in window.input.schema}
    sums_floats = aggregate.function != "count" and any(
        is_floating(types[arg]) for arg in aggregate.args
    )
    return known is not None and known.invertible and not sums_floats


def keeps_positions(window: Unranked) -> bool:
    """Whether the changelog normalizer stores which rows there are, besides the operator."""
    evicts = window.policy.ttl is not None or reappears(window)
    return changing(window.input) and evicts and not isinstance(window, OverAggregate)


def keeps_horizons(window: Unranked) -> bool:
    """Whether the horizon of RETAIN n ROWS is stored, as counted rows may be retracted."""
    whole = isinstance(window, WindowAggregate) and isinstance(window.window, Whole)
    return changing(window.input) and window.policy.retain_rows is not None and not whole


def keeps_keys(window: Unranked) -> bool:
    """Whether the state of a key is not evicted by time."""
    if isinstance(window, MatchRecognize):
        return bool(window.partition) and looks_back(window) > 0
    if counts(window):
        return bool(bucket_keys(window))
    calls = window.calls if isinstance(window, OverAggregate) else ()
    counting = (Unit.ROWS, Unit.GROUPS)
    return any(call.partition and call.frame.in_time.unit in counting for call in calls)
