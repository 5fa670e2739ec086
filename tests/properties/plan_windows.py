"""Random window operators over a stream: every node that a plan has one of."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from sqlwin.plan.ir.nodes import (
    Aggregate,
    OverAggregate,
    OverCall,
    Scan,
    Stream,
    TopN,
    WindowAggregate,
    WindowRank,
)
from sqlwin.schema import Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame
from sqlwin.windows.group import Aligned, Calendar, CalendarWindow, Cumulate, Hop, Whole
from sqlwin.windows.session import Session
from tests.properties.features import has
from tests.properties.plan_calls import aggregates
from tests.properties.plan_policies import counted, discarding, policies, rankings

Window = WindowAggregate | OverAggregate | TopN | WindowRank
FUNCTIONS = st.sampled_from(["row_number", "rank", "dense_rank"])
COUNTED = Aggregate("n", "count", ("i",), pa.int64())
SETS = [(("k",), ("b",)), (("k", "b"), ("k",), ()), (("k",), ())]


def windows(stream: Stream) -> SearchStrategy[Window]:
    kinds = [groups(stream), messages(stream), overs(stream), sliding(stream)]
    kinds += [sessions(stream), message_sessions(stream)] if has("sessions") else []
    kinds += [tops(stream)] if has("top") else []
    kinds += [st.one_of(ranked(stream), ranked_rows(stream))] if has("ranks") else []
    return st.one_of(kinds)


def partitions() -> SearchStrategy[tuple[str, ...]]:
    return st.sampled_from([(), ("k",), ("k", "b")])


@st.composite
def groups(draw: DrawFn, stream: Stream) -> WindowAggregate:
    keys, window = draw(partitions()), draw(_group_windows())
    deltas = has("discards") and not _only_on_update(window)
    return WindowAggregate(
        input=Scan(stream),
        window=window,
        keys=keys,
        aggregates=tuple(draw(aggregates(stream.schema))),
        policy=draw(policies() | discarding() if deltas else policies()),
        sets=draw(_sets(keys)),
    )


def _sets(keys: tuple[str, ...]) -> SearchStrategy[tuple[tuple[str, ...], ...]]:
    return st.sampled_from(SETS) if has("sets") and len(keys) > 1 else st.just(())


def _only_on_update(window: Aligned) -> bool:
    return isinstance(window, Cumulate | CalendarWindow) and window.only_on_update


def _group_windows() -> SearchStrategy[Aligned]:
    offsets = st.integers(0, 2)
    hops = st.integers(1, 6).flatmap(
        lambda size: st.builds(Hop, st.just(size), st.integers(1, size), offsets)
    )
    steps = st.builds(
        lambda step, times, offset, only: Cumulate(step * times, step, offset, only),
        st.integers(1, 3),
        st.integers(1, 3),
        offsets,
        st.booleans(),
    )
    of_calendar = st.builds(
        lambda step, offset, periods: CalendarWindow(Calendar(step, False, "UTC", offset), periods),
        st.integers(1, 2),
        offsets,
        st.sampled_from((Hop(1, 1), Hop(3, 2), Cumulate(3, 1), Cumulate(3, 1, 0, True))),
    )
    kinds = [hops, hops]
    kinds += [steps] if has("cumulate") else []
    kinds += [of_calendar] if has("calendars") else []
    kinds += [st.just(Whole())] if has("whole") else []
    return st.one_of(kinds)


@st.composite
def messages(draw: DrawFn, stream: Stream) -> WindowAggregate:
    size, keys = draw(st.integers(1, 6)), draw(partitions())
    return WindowAggregate(
        input=Scan(stream),
        window=Hop(size, draw(st.integers(1, size)), 0, Unit.ROWS),
        keys=keys,
        aggregates=tuple(draw(aggregates(stream.schema))),
        policy=draw(counted()),
        partition=keys[: draw(st.integers(0, len(keys)))],
        where=draw(st.sampled_from([None, "b"])),
    )


@st.composite
def sessions(draw: DrawFn, stream: Stream) -> WindowAggregate:
    keys = draw(partitions())
    most = draw(st.none() | st.none() | st.integers(1, 8))
    starts, ends = (draw(st.sampled_from([None, None, "b"])) for _ in range(2))
    return WindowAggregate(
        input=Scan(stream),
        window=Session(draw(st.integers(1, 4)), most=most, starts=starts, ends=ends),
        keys=keys,
        aggregates=tuple(draw(aggregates(stream.schema))),
        policy=draw(policies()),
        partition=keys[: draw(st.integers(0, len(keys)))],
        sets=draw(_sets(keys)),
    )


@st.composite
def message_sessions(draw: DrawFn, stream: Stream) -> WindowAggregate:
    keys = draw(partitions())
    return WindowAggregate(
        input=Scan(stream),
        window=Session(draw(st.integers(1, 4)), Unit.ROWS),
        keys=keys,
        aggregates=tuple(draw(aggregates(stream.schema))),
        policy=draw(counted()),
        partition=keys[: draw(st.integers(0, len(keys)))],
        where=draw(st.sampled_from([None, "b"])),
        sets=draw(_sets(keys)),
    )


@st.composite
def overs(draw: DrawFn, stream: Stream) -> OverAggregate:
    calls = tuple(
        OverCall(a, draw(partitions()), *draw(ordered_frames()))
        for a in draw(aggregates(stream.schema))
    )
    policy = draw(policies())
    if not all(call.timed for call in calls):
        policy = replace(policy, retain_rows=None)
    return OverAggregate(Scan(stream), calls, policy)


@st.composite
def ordered_frames(draw: DrawFn) -> tuple[Frame, tuple[Order, ...], bool]:
    """A frame, the keys behind event time, or in its place; one in RANGE has a distance along the
    event time, or along a number, where nothing is behind it."""
    frame = draw(frames())
    keys = draw(st.just(()) | _orders(["i", "f", "k"])) if has("orders") else ()
    timed = not keys or frame.unit is Unit.SESSION or draw(st.sampled_from([True, True, False]))
    alone = timed if not keys else not timed and len(keys) == 1 and keys[0].column != "k"
    if alone or frame.unit in (Unit.ROWS, Unit.SESSION):
        return frame, keys, timed
    low, high = (None if end is None else 0 for end in (frame.preceding, frame.following))
    return replace(frame, preceding=low, following=high), keys, timed


@st.composite
def frames(draw: DrawFn) -> Frame:
    """Any bounds, also a frame beside its row; half of them as people write them."""
    unit = draw(st.sampled_from(Unit))
    if unit is Unit.SESSION:
        gap = draw(st.integers(1, 4))
        return Frame(unit, gap, gap)
    if not has("frames") or draw(st.booleans()):
        return Frame(unit, draw(st.integers(0, 5)))
    preceding = draw(st.none() | st.integers(-3, 5))
    least = -3 if preceding is None else -preceding
    following = draw(st.none() | st.integers(least, max(least, 4)))
    excluded = draw(st.sampled_from(Exclude)) if has("exclude") else Exclude.NO_OTHERS
    return Frame(unit, preceding, following, excluded)


@st.composite
def sliding(draw: DrawFn, stream: Stream) -> OverAggregate:
    """Sliding windows of a stream: all calls share partition and frame."""
    by_arrival = draw(st.booleans())
    back = draw(st.none() | st.integers(0, 5)) if by_arrival else draw(st.integers(0, 5))
    frame = Frame(Unit.ROWS if by_arrival else Unit.RANGE, back)
    partition = draw(partitions())
    return OverAggregate(
        input=Scan(stream),
        calls=tuple(OverCall(a, partition, frame) for a in draw(aggregates(stream.schema))),
        policy=draw(counted() if by_arrival else policies()),
        by_arrival=by_arrival,
        per_instant=not by_arrival,
        window_columns=True,
        where=draw(st.sampled_from([None, "b"])) if by_arrival else None,
    )


@st.composite
def tops(draw: DrawFn, stream: Stream) -> TopN:
    how = draw(FUNCTIONS), draw(partitions()), draw(_orders(["i", "f", "k"]))
    return TopN(Scan(stream), "a0", *how, draw(st.integers(1, 3)), draw(rankings()))


@st.composite
def ranked(draw: DrawFn, stream: Stream) -> WindowRank:
    kinds = [groups(stream), *([sessions(stream)] if has("sessions") else [])]
    # ranks are of all that a window holds, and deltas are refused
    window = draw(st.one_of(kinds).filter(lambda window: not window.policy.discards))
    window = replace(window, aggregates=(*window.aggregates, COUNTED))
    partition = window.keys[: draw(st.integers(0, len(window.keys)))]
    order = draw(_orders([COUNTED.name, *window.keys]))
    return WindowRank(window, "place", draw(FUNCTIONS), partition, order)


@st.composite
def ranked_rows(draw: DrawFn, stream: Stream) -> WindowRank:
    """The rows of each window, each by itself."""
    windows = _group_windows().filter(
        lambda window: not isinstance(window, Whole) and not _only_on_update(window)
    )
    policy = policies().filter(lambda policy: policy.retain_rows is None)
    window = WindowAggregate(
        Scan(stream), draw(windows), ("k", "b", "i"), (), draw(policy), per_row=True
    )
    order = draw(_orders(["i", "b"]))
    return WindowRank(window, "place", draw(FUNCTIONS), draw(partitions()), order)


def _orders(names: list[str]) -> SearchStrategy[tuple[Order, ...]]:
    one = st.builds(Order, st.sampled_from(names), st.booleans(), st.booleans())
    return st.lists(one, min_size=1, max_size=2).map(tuple)
