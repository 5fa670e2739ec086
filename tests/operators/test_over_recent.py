"""Rows that come in time, whose values are computed from arrays: they are as the definitions say.

What is computed so is drawn in `test_over_reference` as well, but seldom.
"""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.errors import OverflowInAggregate
from sqlwin.operators.over.operator import OverAggregator
from sqlwin.operators.over.recent import pending, rows
from sqlwin.operators.over.recent.pending import PendingRows, in_order
from sqlwin.operators.over.recent.rows import RecentRows
from sqlwin.polars_frames import PLACE
from sqlwin.policies import Late
from sqlwin.schema import POSITION, SEQ
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from tests.support.operators.driving import Defined, Driven, records, rows_of
from tests.support.operators.overs import COLUMNS, Step, admitted, over, reach_of, specified, steps

FRAMES = st.sampled_from([(0, 0), (3, 0), (9, 0), (5, -2), (2, -2)])
PARTITIONS = st.sampled_from([(), ("k",), ("j",), ("k", "j")])


@st.composite
def operators(draw: st.DrawFn) -> OverAggregator:
    names = st.sampled_from(["count", "sum", "least", "most", "mean"])
    frame = FRAMES.map(lambda ends: Frame(Unit.RANGE, *ends))
    called = draw(st.lists(st.tuples(names, PARTITIONS, frame), min_size=1, max_size=4))
    late, retain = draw(st.sampled_from(Late)), draw(st.sampled_from([None, 0, 4, 20]))
    return over(*called, slice_width=draw(st.sampled_from([1, 4])), late=late, retain=retain)


@given(operators(), steps(6), st.booleans())
def test_each_call_emits_what_the_reference_emits(
    operator: OverAggregator, taken: list[Step], restarts: bool
) -> None:
    assert operator.recent.possible
    fast, slow = Driven(operator, restarts), Defined(specified(operator))
    columns, seq, watermark, now = [*operator.output], 0, 0, 0
    for step in taken:
        came = [(k, j, v, watermark + at, 0, seq + n) for n, (k, j, v, at) in enumerate(step.rows)]
        seq, watermark, now = seq + len(came), watermark + step.watermark, now + step.clock
        kept = admitted(rows_of(COLUMNS, *came), fast, operator.policy, reach_of(operator))
        found, expected = (
            records(driven.step(kept if came else None, now, watermark, step.end), columns)
            for driven in (fast, slow)
        )
        assert found == expected
        assert fast.deadline == slow.deadline


def driven(*called: tuple[str, tuple[str, ...], Frame]) -> Driven:
    return Driven(over(*called, late=Late.NEVER), restarts=False)


def test_columns_are_in_the_order_of_the_calls() -> None:
    frame = Frame(Unit.RANGE, 2)
    run = driven(("count", (), frame), ("sum", ("k",), frame), ("most", (), frame))
    out = run.step(rows_of(COLUMNS, ("a", 1, 7, 0, 0, 0), ("b", 1, 5, 1, 0, 1)), 0, 2, False)
    assert out.columns[:6] == [*COLUMNS, "a0", "a1", "a2"]
    assert out.select("a0", "a1", "a2").rows() == [(1, 7, 7), (2, 5, 7)]


def test_sums_beyond_64_bits_are_left_to_the_fold() -> None:
    run = driven(("sum", ("k",), Frame(Unit.RANGE, 5)), ("mean", ("k",), Frame(Unit.RANGE, 5)))
    most = 2**63 - 1
    values = [(most, 0), (1, 1), (-1, 1)]
    came = rows_of(COLUMNS, *(("a", 1, v, at, 0, n) for n, (v, at) in enumerate(values)))
    out = run.step(came, 0, 2, False)
    assert out["a0"].to_list() == [most] * 3
    again = rows_of(COLUMNS, ("a", 1, most, 3, 0, 3))
    with pytest.raises(OverflowInAggregate, match="position 3"):
        run.step(again, 0, 4, False)


def test_partitions_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "SPARE", 4)
    run = driven(("count", ("j",), Frame(Unit.RANGE, 2)))
    known = set()
    for at in range(30):
        run.step(rows_of(COLUMNS, ("a", at, 1, at, 0, at)), 0, at, False)
        assert isinstance(run.stores.cached, RecentRows)
        known.add(len(run.stores.cached._numbers[0]))
    assert max(known) < 15


def test_many_pending_frames_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "MANY", 3)
    waiting = PendingRows()
    for n, at in enumerate([5, 1, 4, 9, 2, 2]):
        waiting.add(pl.DataFrame({"__ts": [at], "__part": [0], SEQ: [n]}, schema=PLACE))
    assert len(waiting._frames) <= 3
    taken = waiting.take(5)
    assert taken is not None and taken[SEQ].to_list() == [1, 4, 5, 2]
    assert len(waiting) == 2 and waiting.take(5) is None


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 3)), max_size=12))
def test_order_of_positions(places: list[tuple[int, int, int]]) -> None:
    frame = pl.DataFrame(places, schema=PLACE, orient="row")
    assert in_order(frame).rows() == sorted(set(places))
    assert in_order(frame.sort(POSITION)).rows() == sorted(set(places))
