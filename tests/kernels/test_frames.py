"""Frames and the dyadic walk against a scan of every row."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sqlwin.kernels import frames as module
from sqlwin.kernels.dyadic import ADD, CHUNK, Operation, _check, fold_frames, levels_of
from sqlwin.kernels.folds.statistics.moments import CHAN
from sqlwin.kernels.frames import Frames, frames_of, parts_of
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame
from tests.reference.kernels.rows import Row
from tests.reference.kernels.windows import frame_of
from tests.support.draws import one_in

WIDE = st.sampled_from([-(2**63), -(2**62), 0, 1, 2**62, 2**63 - 1])


@st.composite
def sorted_rows(draw: st.DrawFn, instants: st.SearchStrategy[int]) -> list[tuple[int, int]]:
    """(run, ts), sorted."""
    return sorted(draw(st.lists(st.tuples(st.integers(-2, 3), instants), max_size=30)))


def obvious(rows: list[tuple[int, int]], frame: Frame) -> list[list[int]]:
    """The rows of each row's frame, one after another."""
    mine = [[j for j, (other, _) in enumerate(rows) if other == run] for run, _ in rows]
    as_rows = [[{"__ts": rows[j][1]} for j in own] for own in mine]
    return [[own[n] for n in _held(as_rows[i], own.index(i), frame)] for i, own in enumerate(mine)]


def _held(rows: list[Row], at: int, frame: Frame) -> list[int]:
    numbers = {id(row): n for n, row in enumerate(rows)}
    return [numbers[id(row)] for row in frame_of(rows, at, frame)]


def computed(rows: list[tuple[int, int]], frame: Frame) -> list[list[int]]:
    runs = np.array([run for run, _ in rows], dtype=np.int64)
    parts = parts_of(runs, np.array([ts for _, ts in rows], dtype=np.int64), frame)
    for part in parts:
        part._check(len(rows))
    return [[j for part in parts for j in range(part.lo[i], part.hi[i])] for i in range(len(rows))]


COUNTING = [Unit.ROWS, Unit.GROUPS]
BOUNDS = st.none() | st.sampled_from([-5, -2, -1, 0, 1, 2, 5, 2**62, 2**63, 2**70, -(2**70)])


@st.composite
def frames(draw: st.DrawFn, unit: st.SearchStrategy[Unit]) -> Frame:
    preceding, following = draw(BOUNDS), draw(BOUNDS)
    if preceding is not None and following is not None and preceding + following < 0:
        preceding, following = -following, -preceding
    drawn, exclude = draw(unit), draw(st.sampled_from(list(Exclude)))
    if drawn is Unit.SESSION:
        preceding = following = draw(st.integers(1, 5))
    return Frame(drawn, preceding, following, exclude)


@given(sorted_rows(st.integers(-5, 5)), frames(st.sampled_from(list(Unit))))
def test_frames_of_near_instants(rows: list[tuple[int, int]], frame: Frame) -> None:
    assert computed(rows, frame) == obvious(rows, frame)


@given(sorted_rows(WIDE | st.integers(-5, 5)), frames(st.just(Unit.RANGE)))
def test_frames_where_the_search_key_would_not_fit(
    rows: list[tuple[int, int]], frame: Frame
) -> None:
    assert computed(rows, frame) == obvious(rows, frame)


@given(sorted_rows(st.integers(-5, 5)), st.integers(-12, 12))
def test_bisection_is_the_same_search(rows: list[tuple[int, int]], shift: int) -> None:
    run = module.numbered(np.array([run for run, _ in rows], dtype=np.int64))
    ts = np.array([ts for _, ts in rows], dtype=np.int64)
    if len(ts):
        found = module._by_bisection(run, ts, shift)
        span = int(ts.max() - ts.min()) + 1
        assert (
            found == module._by_key(run, ts - ts.min(), np.clip(shift, -span, span), span)
        ).all()


@given(sorted_rows(st.integers(-5, 5)), frames(st.sampled_from([Unit.RANGE, *COUNTING])))
@one_in(2)
def test_frames_are_those_of_duckdb(rows: list[tuple[int, int]], frame: Frame) -> None:
    over = f"{frame.unit.value} BETWEEN {_bound(frame.preceding, 'PRECEDING', 'FOLLOWING')} AND "
    over += f"{_bound(frame.following, 'FOLLOWING', 'PRECEDING')} EXCLUDE {frame.exclude.value}"
    # who is a peer goes by ts, who comes first by ts and i: DuckDB has one order for both
    assume(frame.unit is Unit.RANGE or frame.exclude not in (Exclude.GROUP, Exclude.TIES))
    by = "ts" if frame.unit is Unit.RANGE else "ts, i"
    with duckdb.connect(config={"threads": 1}) as con:
        con.execute("CREATE TABLE s (i INT, run INT, ts BIGINT)")
        con.executemany(
            "INSERT INTO s VALUES (?, ?, ?)", [(-1, 9, 0), *((i, *r) for i, r in enumerate(rows))]
        )
        parsed = f"SELECT list(i) OVER (PARTITION BY run ORDER BY {by} {over}) FROM s ORDER BY i"
        answer = con.sql(parsed).fetchall()[1:]
    assert [sorted(held or []) for (held,) in answer] == computed(rows, frame)


def _bound(length: int | None, own: str, other: str) -> str:
    if length is None:
        return f"UNBOUNDED {own}"
    return f"{min(abs(length), 1000)} {own if length >= 0 else other}"


def test_many_runs_with_long_spans_do_not_wrap() -> None:
    runs = np.repeat(np.arange(5000), 2)
    ts = np.tile(np.array([0, 2**61]), 5000)
    framed = frames_of(runs, ts, Frame(Unit.RANGE, 2**61 - 1))
    assert framed.lo.tolist() == list(range(10000))
    framed = frames_of(runs, ts, Frame(Unit.RANGE, 2**61))
    assert framed.lo.tolist() == [i // 2 * 2 for i in range(10000)]


def test_runs_may_be_named_by_text() -> None:
    framed = frames_of(np.array(["a", "a", "b"]), np.array([1, 2, 2]), Frame(Unit.RANGE, 1))
    assert (framed.lo.tolist(), framed.hi.tolist()) == ([0, 0, 2], [1, 2, 3])


def test_check_prints_its_insides() -> None:
    with pytest.raises(AssertionError, match=r"lo=array\(\[2\]\)"):
        Frames(np.array([2]), np.array([1]))._check(3)


# a -> b (left kept): associative, does not commute; 0 is the identity of "first that is not 0"
FIRST = Operation(lambda a, b: (np.where(a[0] != 0, a[0], b[0]),), (0,))
# 2 x 2 matrices would do too; affine maps x -> a x + b compose and do not commute
AFFINE = Operation(lambda f, g: (f[0] * g[0], f[1] * g[0] + g[1]), (1, 0))


@given(st.lists(st.integers(-1, 2), max_size=70), st.data())
def test_any_associative_operation_in_row_order(values: list[int], data: st.DataObject) -> None:
    edges = st.integers(0, len(values))
    pairs = data.draw(st.lists(st.tuples(edges, edges).map(sorted), max_size=20))
    lo = np.array([lo for lo, _ in pairs], dtype=np.int64)
    hi = np.array([hi for _, hi in pairs], dtype=np.int64)
    rows = np.array(values, dtype=np.int64)
    (first,) = fold_frames(FIRST, (rows,), Frames(lo, hi))
    scale, shift = fold_frames(AFFINE, (rows, np.ones_like(rows)), Frames(lo, hi))
    for n, (start, end) in enumerate(pairs):
        f = (np.array(1), np.array(0))
        for value in values[start:end]:
            f = AFFINE.combine(f, (np.array(value), np.array(1)))
        assert first[n] == next((v for v in values[start:end] if v != 0), 0)
        assert (scale[n], shift[n]) == f


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 8, 9])
def test_levels_hold_aligned_blocks(rows: int) -> None:
    x = np.arange(rows, dtype=np.float64)
    for longest in range(rows + 1):
        levels = levels_of(ADD, (x,), longest)
        _check(ADD, levels)
        assert len(levels) == max(longest.bit_length(), 1)
    _check(CHAN, levels_of(CHAN, (np.ones(rows), x, np.zeros(rows)), rows))


def test_frames_beyond_one_chunk() -> None:
    hi = np.arange(1, 2 * CHUNK + 2)
    lo = np.maximum(hi - 100, 0)
    (sums,) = fold_frames(ADD, (np.ones(len(hi)),), Frames(lo, hi))
    assert (sums == hi - lo).all()
