"""An OverAggregate to the operator that runs it."""

from __future__ import annotations

from collections.abc import Callable

from sqlwin.kernels.folds import Fold
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.over.operator import OverAggregator
from sqlwin.operators.windows.slider import TupleSlider
from sqlwin.plan.ir.nodes import Aggregate, Node, OverAggregate, OverCall
from sqlwin.polars_frames import polars_schema, polars_type
from sqlwin.policies import Policy
from sqlwin.state.slices import ENDLESS, slice_width
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

Folding = Callable[[Aggregate, Node], Fold]


def over_operator(
    window: OverAggregate, stream: str, folding: Folding, filtered: bool, weighted: bool
) -> TupleSlider | OverAggregator:
    carried = polars_schema(window.input.schema)
    calls = tuple(_call(call, window, folding) for call in window.calls)
    if window.by_arrival:
        back, partition = window.calls[0].frame.preceding, window.calls[0].partition
        kept = (partition, carried, calls, window.where, window.policy.retain_rows)
        if back is None:
            from sqlwin.operators.windows.runner import TupleRunner

            return TupleRunner(stream, 0, *kept)
        return TupleSlider(stream, back + 1, *kept)
    width = slice_width(_spanned(calls) + _retained(window.policy))
    rest = (window.policy, width, window.per_instant, filtered, weighted)
    return OverAggregator(stream, carried, calls, *rest)


def _call(call: OverCall, window: OverAggregate, folding: Folding) -> FrameCall:
    """A sliding tuple window is a RANGE over message numbers."""
    frame = Frame(Unit.RANGE, call.frame.preceding) if window.by_arrival else call.frame
    made = folding(call.aggregate, window.input)
    dtype = polars_type(call.aggregate.type)
    return FrameCall(made, call.partition, frame, dtype, call.order, call.timed)


def _spanned(calls: tuple[FrameCall, ...]) -> int:
    """How long the longest RANGE frames reach, back and ahead, as far as they have an end."""
    frames = [call.frame for call in calls if call.frame.unit is Unit.RANGE and call.timed]
    back = (abs(f.preceding) for f in frames if f.preceding is not None)
    ahead = (abs(f.following) for f in frames if f.following is not None)
    return max(back, default=0) + max(ahead, default=0)


def _retained(policy: Policy) -> int:
    """Microseconds; RETAIN n ROWS alone keeps rows however old."""
    return ENDLESS if policy.retain is None else policy.retain
