"""Random windows over a small stream, and random steps that feed it.

Instants are a few microseconds around the epoch and windows a few microseconds
long, so that a dozen rows meet every edge, tie and overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from sqlwin.aggregates import signature
from sqlwin.instants import format_instant
from sqlwin.plan.nodes import (
    Aggregate,
    Filter,
    Node,
    OverAggregate,
    OverCall,
    Query,
    Scalar,
    Scan,
    Script,
    Stream,
    WindowAggregate,
)
from sqlwin.policies import Late, Policy
from sqlwin.schema import TIMESTAMP, Column
from sqlwin.windows import Frame, Hop, Unit

COLUMNS = (
    Column("k", pa.string()),
    Column("i", pa.int64()),
    Column("d", pa.decimal128(6, 2)),
    Column("f", pa.float64()),
    Column("b", pa.bool_()),
    Column("ts", TIMESTAMP),
)
TYPES = {column.name: column.type for column in COLUMNS}
KEYS = ("k", "b")


@dataclass(frozen=True)
class Step:
    """Rows of a batch; or an instant that the watermark, or the clock, moves to; or the end.

    restart: whether the process stops after it, on hosts that can go on.
    """

    rows: tuple[dict[str, Any], ...] = ()
    watermark: int | None = None
    clock: int | None = None
    drain: bool = False
    restart: bool = False


def rows(instants: st.SearchStrategy[int]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "k": st.sampled_from(["a", "b", None]),
            "i": st.none() | st.integers(-4, 4),
            "d": st.none() | st.integers(-500, 500).map(lambda n: Decimal(n).scaleb(-2)),
            # quarters, of which sums are exact in any order; variances are not
            "f": st.none() | st.integers(-8, 8).map(lambda n: n / 4),
            "b": st.sampled_from([True, False, None]),
            "ts": instants.map(format_instant),
        }
    )


def aggregates() -> st.SearchStrategy[list[Aggregate]]:
    calls = [
        ("count", ()), ("count", ("i",)), ("sum", ("i",)), ("sum", ("d",)), ("sum", ("f",)),
        ("avg", ("i",)), ("avg", ("d",)), ("avg", ("f",)), ("min", ("i",)), ("max", ("d",)),
        ("max", ("f",)), ("min", ("k",)), ("max", ("ts",)), ("min", ("b",)),
        ("stddev_samp", ("i",)), ("var_pop", ("f",)), ("first", ("i",)), ("last", ("k",)),
        ("bool_and", ("b",)), ("bool_or", ("b",)), ("arg_min", ("k", "i")), ("arg_max", ("i", "f")),
    ]  # fmt: skip
    chosen = st.lists(
        st.tuples(st.sampled_from(calls), st.sampled_from([None, None, "b"])),
        min_size=1,
        max_size=3,
    )
    return chosen.map(
        lambda picked: [_aggregate(n, *call, where) for n, (call, where) in enumerate(picked)]
    )


def _aggregate(number: int, function: str, args: tuple[str, ...], where: str | None) -> Aggregate:
    known = signature(function)
    assert known is not None
    type_ = known.result(tuple(TYPES[arg] for arg in args))
    assert type_ is not None
    return Aggregate(f"a{number}", function, args, type_, where)


def policies() -> st.SearchStrategy[Policy]:
    return st.builds(
        Policy,
        retain=st.sampled_from([0, 3, 6, 1000]),
        late=st.sampled_from([Late.EVERY, Late.EVERY, Late.ON_UPDATE, Late.NEVER]),
        late_period=st.sampled_from([1, 3]),
    )


def partitions() -> st.SearchStrategy[tuple[str, ...]]:
    return st.sampled_from([(), ("k",), ("k", "b")])


@st.composite
def hops(draw: st.DrawFn, stream: Stream) -> WindowAggregate:
    size, offset = draw(st.integers(1, 6)), draw(st.integers(0, 2))
    unit = draw(st.sampled_from([Unit.RANGE, Unit.RANGE, Unit.ROWS]))
    keys = draw(partitions())
    counted = unit is Unit.ROWS
    return WindowAggregate(
        input=Scan(stream),
        window=Hop(size, draw(st.integers(1, size)), 0 if counted else offset, unit),
        keys=keys,
        aggregates=tuple(draw(aggregates())),
        policy=draw(policies()),
        partition=keys[: draw(st.integers(0, len(keys)))] if counted else (),
        where=draw(st.sampled_from([None, "b"])) if counted else None,
    )


@st.composite
def overs(draw: st.DrawFn, stream: Stream) -> OverAggregate:
    frames = st.builds(Frame, st.sampled_from(Unit), st.integers(0, 5))
    calls = tuple(OverCall(a, draw(partitions()), draw(frames)) for a in draw(aggregates()))
    return OverAggregate(Scan(stream), calls, draw(policies()))


@st.composite
def sliding(draw: st.DrawFn, stream: Stream) -> OverAggregate:
    """Sliding windows of a stream: all calls share partition and frame."""
    # Messages are numbered as they come, and an OFFSET is taken to rise with them; shuffled
    # ones would leave open which of two is FIRST.
    by_arrival = stream.offset is None and draw(st.booleans())
    frame = Frame(Unit.ROWS if by_arrival else Unit.RANGE, draw(st.integers(0, 5)))
    partition = draw(partitions())
    return OverAggregate(
        input=Scan(stream),
        calls=tuple(OverCall(a, partition, frame) for a in draw(aggregates())),
        policy=draw(policies()),
        by_arrival=by_arrival,
        per_instant=not by_arrival,
        window_columns=True,
        where=draw(st.sampled_from([None, "b"])) if by_arrival else None,
    )


@st.composite
def scripts(draw: st.DrawFn, stream: Stream) -> Script:
    """One query; with some a HAVING on its first value, which corrections pass or not."""
    plan: Node = draw(hops(stream) | overs(stream) | sliding(stream))
    if draw(st.booleans()):
        plan = Filter(plan, Scalar("a0 IS NOT NULL", '"a0" IS NOT NULL', pa.bool_(), ("a0",)))
    return Script((stream,), (Query(plan),))


def steps() -> st.SearchStrategy[list[Step]]:
    feeds = st.lists(rows(st.integers(-3, 9)), min_size=1, max_size=4).map(
        lambda batch: Step(rows=tuple(batch))
    )
    watermarks = st.integers(-2, 12).map(lambda at: Step(watermark=at))
    clocks = st.integers(1, 12).map(lambda at: Step(clock=at))
    drains = st.just(Step(drain=True))
    # half of all steps bring rows, or there would be little to correct
    kinds = [feeds, feeds, feeds, watermarks, clocks, drains]
    step = st.builds(
        replace, st.sampled_from(kinds).flatmap(lambda kind: kind), restart=st.booleans()
    )
    return st.lists(step, min_size=2, max_size=10)


STREAM = Stream("s", COLUMNS, "ts", delay=2)
NUMBERED = Stream("s", (*COLUMNS, Column("id", pa.int64())), "ts", delay=2, offset="id")


@st.composite
def numbered(draw: st.DrawFn) -> list[Step]:
    """Steps whose rows have an `id`, in any order, each once."""
    taken = draw(steps())
    fed = sum(len(step.rows) for step in taken)
    ids = iter(draw(st.permutations(range(-fed, fed)))[:fed])
    return [replace(s, rows=tuple({**row, "id": next(ids)} for row in s.rows)) for s in taken]
