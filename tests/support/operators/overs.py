"""OVER operators to test: columns k, j, v; slices and instants of a few microseconds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from sqlwin.instants import END
from sqlwin.kernels.folds import fold
from sqlwin.operators.contract import DOUBT_PART
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.over.operator import OverAggregator
from sqlwin.polars_frames import polars_type
from sqlwin.policies import Early, Late, Policy
from sqlwin.schema import PART, POSITION, TS, Order
from sqlwin.state.contract import HORIZON
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame, Reach
from tests.reference.definitions.late_frames import LateFrames
from tests.reference.definitions.overs import OverCall, Overs
from tests.reference.definitions.values import Value
from tests.reference.definitions.window import Definition
from tests.reference.operator import ReferenceOperator
from tests.support.operators.driving import Driven

BIGINT = pa.int64()
COLUMNS: dict[str, pl.DataType] = {"k": pl.String(), "j": pl.Int64(), "v": pl.Int64()}
TYPES = {"k": pa.string(), "j": BIGINT, "v": BIGINT}
FUNCTIONS: dict[str, tuple[str, tuple[str, ...], pa.DataType, dict[str, Any]]] = {
    "count": ("count", (), BIGINT, {}),
    "sum": ("sum", ("v",), BIGINT, {}),
    "least": ("min", ("v",), BIGINT, {}),
    "most": ("max", ("v",), BIGINT, {}),
    "mean": ("avg", ("v",), pa.float64(), {}),
    "first": ("first", ("v",), BIGINT, {}),
    "last": ("last", ("v",), BIGINT, {}),
    "distinct": ("count", ("v",), BIGINT, {"distinct": True}),
    "list": ("collect_list", ("v",), pa.list_(BIGINT), {}),
    "second": ("nth_value", ("v",), BIGINT, {"params": (2,)}),
}
Keys = tuple[Order, ...]
Called = (
    tuple[str, tuple[str, ...], Frame]
    | tuple[str, tuple[str, ...], Frame, Keys]
    | tuple[str, tuple[str, ...], Frame, Keys, bool]
)
"""A name of FUNCTIONS, partition, frame, keys behind event time, where there are some, and False
where they stand in its place."""


def over(
    *called: Called,
    slice_width: int = 4,
    per_instant: bool = False,
    update_before: bool = False,
    weighted: bool = False,
    **policy: Any,
) -> OverAggregator:
    calls = []
    for number, (name, partition, frame, *order) in enumerate(called):
        function, args, type_, more = FUNCTIONS[name]
        types = tuple(TYPES[arg] for arg in args)
        bound = fold(f"a{number}", function, args, types, type_, None, **more)
        calls.append(FrameCall(bound, partition, frame, polars_type(type_), *order))
    kept = Policy(**{"retain": 5, **policy})
    rest = (slice_width, per_instant, update_before, weighted)
    return OverAggregator("s", COLUMNS, tuple(calls), kept, *rest)


def specified(fast: OverAggregator) -> ReferenceOperator:
    calls = tuple(OverCall(_value(c), c.partition, c.frame, c.order, c.timed) for c in fast.calls)
    buckets = fast.row_horizons.buckets
    overs = Overs("s", tuple(COLUMNS), calls, False, fast.per_instant, None, buckets)
    rest = (fast.output, COLUMNS, fast.policy, False, fast.update_before, buckets)
    judged = reach_of(fast) is not None
    frames = LateFrames(tuple((c.partition, c.frame, c.order) for c in fast.calls))
    by_frames: dict[str, Any] = {}
    if judged:
        ends = {"ends": lambda at: [at + 1, END]}
        by_frames = {**ends, "frames": frames.expired, "mutes": frames.mute}
    return ReferenceOperator(Definition(overs, *rest, weighted=fast.weighted, **by_frames))


def reach_of(operator: OverAggregator) -> Reach | None:
    """As of `frame_reach.reach_of`: where a row is judged by the frames that may hold it."""
    if operator.policy.retain_rows is not None or not all(c.timed for c in operator.calls):
        return None
    reach = Reach.of(call.frame for call in operator.calls)
    if reach is None or (reach.back is not None and not reach.rows):
        return reach
    unordered = reach.back is None and any(call.order for call in operator.calls)
    return None if operator.weighted or unordered else reach


def _value(call: FrameCall) -> Value:
    bound = call.fold.call
    more = (bound.where, bound.params, bound.distinct)
    return Value(bound.name, bound.function, bound.args, bound.type, *more)


def admitted(
    rows: pl.DataFrame, driven: Driven, policy: Policy, reach: Reach | None = None
) -> pl.DataFrame:
    """What a host lets through, by RETAIN and the floors the operator tells."""
    late = pl.col(TS) < driven.watermark
    ended = -(2**62) if policy.retain is None else driven.watermark - policy.retain
    doubtful = pl.col(TS) < ended
    if reach is not None:
        doubtful = pl.col(TS) < ended - reach.size if reach.size is not None else pl.lit(False)
    if reach is not None and reach.rows:
        doubt = rows.with_columns(pl.when(doubtful).then(PART).alias(DOUBT_PART))
        gone = driven.operator.judge(doubt, driven.stores, ended)
        kept = rows.join(gone, on=list(POSITION), how="anti", maintain_order="left")
    else:
        kept = rows.filter(~(late & doubtful))
    if policy.retain_rows is None:
        return kept
    horizons = driven.operator.horizons(driven.stores)
    keys = [name for name in horizons.columns if name != HORIZON]
    floor = pl.lit(horizons[HORIZON].max(), pl.Int64).alias(HORIZON)
    if keys:
        kept = kept.join(horizons, on=keys, how="left", nulls_equal=True, maintain_order="left")
    else:
        kept = kept.with_columns(floor)
    return kept.filter(~(late & (pl.col(TS) < pl.col(HORIZON)).fill_null(False))).drop(HORIZON)


BOUNDS = st.sampled_from([None, -3, -1, 0, 0, 1, 2, 3])


@st.composite
def frames(draw: st.DrawFn, exclude: bool = True) -> Frame:
    preceding, following = draw(BOUNDS), draw(BOUNDS)
    if following is None and draw(st.sampled_from([True, True, True, False])):
        following = 0  # a frame without an end makes all others wait
    if preceding is not None and following is not None and preceding + following < 0:
        preceding, following = -following, -preceding
    left_out = draw(st.sampled_from([Exclude.NO_OTHERS, Exclude.NO_OTHERS, *Exclude]))
    unit, left_out = draw(st.sampled_from(list(Unit))), left_out if exclude else Exclude.NO_OTHERS
    if unit is Unit.SESSION:
        gap = draw(st.integers(1, 4))
        return Frame(unit, gap, gap, left_out)
    return Frame(unit, preceding, following, left_out)


ORDERS: st.SearchStrategy[Keys] = st.sampled_from(
    [
        (),
        (),
        (Order("v"),),
        (Order("j", nulls_last=True),),
        (Order("v", descending=True), Order("j")),
    ]
)


@st.composite
def windows(draw: st.DrawFn) -> tuple[Frame, Keys, bool]:
    """A frame, the keys of its order, with which a frame in RANGE goes by peers, and whether they
    are behind event time; where they are not, one has a distance along a single key."""
    frame, keys = draw(frames()), draw(ORDERS)
    timed = not keys or frame.unit is Unit.SESSION or draw(st.sampled_from([True, True, False]))
    if frame.unit is Unit.RANGE and len(keys) + timed > 1:
        frame = by_peers(frame, timed)
    return frame, keys, timed


def by_peers(frame: Frame, timed: bool = True) -> Frame:
    """Up to the peers or, on one side alone of an order by time, up to what is beyond them."""
    ends = (frame.preceding, frame.following)
    beyond = None in ends and timed
    low, high = (None if e is None else -1 if beyond and e < 0 else 0 for e in ends)
    return replace(frame, preceding=low, following=high)


@st.composite
def calls(draw: st.DrawFn) -> list[Called]:
    made = st.tuples(st.sampled_from(list(FUNCTIONS)), PARTITIONS, windows())
    return [
        (name, by, *window) for name, by, window in draw(st.lists(made, min_size=1, max_size=3))
    ]


PARTITIONS = st.sampled_from([(), ("k",), ("k",), ("k", "j"), ("j",)])


def policies() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "early": st.sampled_from([None, None, *Early]),
            "early_period": st.just(4),
            "early_rows": st.just(2),
            "late": st.sampled_from([Late.EVERY, Late.ON_UPDATE, Late.NEVER]),
            "late_period": st.just(3),
            "timeout": st.sampled_from([None, None, 6]),
            "retain": st.sampled_from([None, 0, 2, 2, 5, 20]),
            "retain_rows": st.sampled_from([None, None, None, 1, 3]),
            "slice_width": st.sampled_from([1, 2, 4, 16]),
            "update_before": st.booleans(),
        }
    )


@st.composite
def operators(draw: st.DrawFn) -> OverAggregator:
    names = st.sampled_from(list(FUNCTIONS))
    if draw(st.sampled_from([True, False, False, False])):
        frame = Frame(Unit.RANGE, draw(st.sampled_from([None, 0, 2, 5])), 0)
        partition, chosen = draw(PARTITIONS), draw(st.lists(names, min_size=1, max_size=2))
        called = [(name, partition, frame) for name in chosen]
        return over(*called, per_instant=True, **draw(policies()))
    return over(*draw(calls()), **draw(policies()))


@dataclass(frozen=True)
class Step:
    """rows: (k, j, v, instant). watermark, clock: more than before."""

    rows: tuple[tuple[Any, ...], ...]
    watermark: int
    clock: int
    end: bool


def steps(lateness: int = 8) -> st.SearchStrategy[list[Step]]:
    """Instants lie around the watermark."""
    row = st.tuples(
        st.sampled_from(["a", "a", "b", None]),
        st.sampled_from([1, None]),
        st.sampled_from([None, 1, 2, 3]),
        st.integers(-lateness, lateness),
    )
    ends = st.sampled_from([False] * 9 + [True])
    moves = st.sampled_from([0, 0, 1, 2, 3, 5, 9])
    one = st.builds(Step, st.lists(row, max_size=5).map(tuple), moves, st.integers(0, 4), ends)
    return st.lists(one, min_size=1, max_size=10)
