"""Frames and the dyadic walk against a scan of every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels import frames as module
from sqlwin.kernels.dyadic import ADD, CHUNK, Operation, _check, fold_frames, levels_of
from sqlwin.kernels.folds.moments import CHAN
from sqlwin.kernels.frames import Frames, frames_of
from sqlwin.windows import Frame, Unit

WIDE = st.sampled_from([-(2**63), -(2**62), 0, 1, 2**62, 2**63 - 1])


@st.composite
def sorted_rows(draw: st.DrawFn, instants: st.SearchStrategy[int]) -> list[tuple[int, int]]:
    """(run, ts), sorted."""
    return sorted(draw(st.lists(st.tuples(st.integers(-2, 3), instants), max_size=30)))


def obvious(rows: list[tuple[int, int]], frame: Frame) -> list[tuple[int, int]]:
    found = []
    for i, (run, ts) in enumerate(rows):
        mine = [j for j, (other, _) in enumerate(rows) if other == run]
        if frame.unit is Unit.ROWS:
            mine = [j for j in mine if i - frame.preceding <= j <= i]
        else:
            mine = [j for j in mine if ts - frame.preceding <= rows[j][1] <= ts]
        found.append((mine[0], mine[-1] + 1))
    return found


def computed(rows: list[tuple[int, int]], frame: Frame) -> list[tuple[int, int]]:
    runs = np.array([run for run, _ in rows], dtype=np.int64)
    frames = frames_of(runs, np.array([ts for _, ts in rows], dtype=np.int64), frame)
    frames._check(len(rows))
    return list(zip(frames.lo.tolist(), frames.hi.tolist(), strict=True))


PRECEDING = st.sampled_from([0, 1, 2, 5, 2**62, 2**63, 2**70])


@given(sorted_rows(st.integers(-5, 5)), st.sampled_from(list(Unit)), PRECEDING)
def test_frames_of_near_instants(rows: list[tuple[int, int]], unit: Unit, preceding: int) -> None:
    assert computed(rows, Frame(unit, preceding)) == obvious(rows, Frame(unit, preceding))


@given(sorted_rows(WIDE | st.integers(-5, 5)), PRECEDING)
def test_frames_where_the_search_key_would_not_fit(
    rows: list[tuple[int, int]], preceding: int
) -> None:
    frame = Frame(Unit.RANGE, preceding)
    assert computed(rows, frame) == obvious(rows, frame)


@given(sorted_rows(st.integers(-5, 5)), PRECEDING)
def test_bisection_is_the_same_search(rows: list[tuple[int, int]], preceding: int) -> None:
    run = module.numbered(np.array([run for run, _ in rows], dtype=np.int64))
    ts = np.array([ts for _, ts in rows], dtype=np.int64)
    found = module._by_bisection(module.starts(run), ts, preceding)
    assert found.tolist() == [lo for lo, _ in obvious(rows, Frame(Unit.RANGE, preceding))]


def test_many_runs_with_long_spans_do_not_wrap() -> None:
    runs = np.repeat(np.arange(5000), 2)
    ts = np.tile(np.array([0, 2**61]), 5000)
    frames = frames_of(runs, ts, Frame(Unit.RANGE, 2**61 - 1))
    assert frames.lo.tolist() == list(range(10000))
    frames = frames_of(runs, ts, Frame(Unit.RANGE, 2**61))
    assert frames.lo.tolist() == [i // 2 * 2 for i in range(10000)]


def test_runs_may_be_named_by_text() -> None:
    frames = frames_of(np.array(["a", "a", "b"]), np.array([1, 2, 2]), Frame(Unit.RANGE, 1))
    assert (frames.lo.tolist(), frames.hi.tolist()) == ([0, 0, 2], [1, 2, 3])


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
