"""Wavelet matrices, sums of firsts, chunks and lists against a scan."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwin.kernels.firsts import blocks_of, sums_below
from sqlwin.kernels.folds.full_state.quantiles import as_written, place, place_between
from sqlwin.kernels.frames import Frames
from sqlwin.kernels.gather import among, chunks, lists_of, opened
from sqlwin.kernels.order_statistics import digits, wavelet
from sqlwin.kernels.order_statistics.digits import Digits, searchable
from sqlwin.kernels.order_statistics.wavelet import Wavelet, previous

CODES = st.lists(st.integers(0, 9), max_size=40) | st.lists(st.integers(0, 2**40), max_size=9)


def ints(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


@st.composite
def frames_over(draw: st.DrawFn, rows: int) -> Frames:
    bound = st.integers(0, rows)
    pairs = [sorted(pair) for pair in draw(st.lists(st.tuples(bound, bound), max_size=20))]
    return Frames(ints([p[0] for p in pairs]), ints([p[1] for p in pairs]))


@given(st.data(), CODES, st.integers(1, 5), st.integers(1, digits.WIDEST))
def test_smallest_and_below(data: st.DataObject, codes: list[int], chunk: int, width: int) -> None:
    frames = data.draw(frames_over(len(codes)))
    matrix = Wavelet(ints(codes))
    matrix._check(ints(codes))
    pieces = [sorted(codes[lo:hi]) for lo, hi in zip(frames.lo, frames.hi, strict=True)]
    bounds = data.draw(st.lists(st.integers(-1, 12), min_size=len(pieces), max_size=len(pieces)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wavelet, "CHUNK", chunk)
        below = matrix.below(frames, ints(bounds)).tolist()
    assert below == [sum(c < b for c in p) for p, b in zip(pieces, bounds, strict=True)]
    some = [n for n, piece in enumerate(pieces) if piece]
    k = [data.draw(st.integers(0, len(pieces[n]) - 1)) for n in some]
    held = Frames(frames.lo[some], frames.hi[some]) if some else Frames(ints([]), ints([]))
    smallest = [pieces[n][at] for n, at in zip(some, k, strict=True)]
    for searched in (matrix, Digits(ints(codes), width)):
        assert searched.smallest(held, ints(k)).tolist() == smallest


def test_few_long_frames_are_searched_by_digits() -> None:
    codes = np.arange(10_000)
    assert isinstance(searchable(codes, len(codes)), Wavelet)
    few = searchable(codes, 10)
    assert isinstance(few, Digits)
    assert len(few.levels) == 2
    assert len(searchable(codes, 0).levels) == 2


@given(st.data(), st.lists(st.integers(0, 4), max_size=40))
def test_sums_of_the_first_of_each_value(data: st.DataObject, codes: list[int]) -> None:
    frames = data.draw(frames_over(len(codes)))
    before = previous(ints(codes))
    values = 10.0 ** np.array(codes, dtype=np.float64)
    sums, counts = sums_below((values, np.ones_like(before)), before, frames.lo, frames)
    distinct = [set(codes[lo:hi]) for lo, hi in zip(frames.lo, frames.hi, strict=True)]
    assert counts.tolist() == [len(each) for each in distinct]
    assert sums.tolist() == [sum(10.0**c for c in each) for each in distinct]
    assert counts.tolist() == Wavelet(before + 1).below(frames, frames.lo + 1).tolist()


def test_what_passed_through_a_frame_leaves_no_trace() -> None:
    values = np.array([1e18, 1.0, 2.0, 4.0])
    rows = np.arange(3)
    frames = Frames(rows, rows + 2)
    assert sums_below((values,), previous(ints([3, 0, 1, 2])), frames.lo, frames)[0].tolist() == [
        1e18, 3.0, 6.0,
    ]  # fmt: skip


def test_blocks_are_whole_and_sorted_within() -> None:
    blocks = blocks_of((ints([1, 2, 4, 8, 16]),), ints([2, -1, 0, 3, 1]), 1)
    assert blocks.running[0].tolist() == [2, 3, 4, 12]
    assert (np.diff(blocks.places) > 0).all()


@given(st.data(), st.lists(st.booleans(), max_size=20), st.integers(1, 30))
def test_chunks_and_lists(data: st.DataObject, mask: list[bool], most: int) -> None:
    frames = data.draw(frames_over(len(mask)))
    rows = list(range(len(mask)))
    found: list[list[int]] = []
    for chunk in chunks(frames, most):
        assert len(chunk.index) <= most or len(chunk) == 1
        mine: list[list[int]] = [[] for _ in range(len(chunk))]
        for owner, index in zip(chunk.owner.tolist(), chunk.index.tolist(), strict=True):
            mine[owner].append(index)
        assert chunk.lengths().tolist() == [len(each) for each in mine]
        found += mine
    pairs = list(zip(frames.lo.tolist(), frames.hi.tolist(), strict=True))
    assert found == [rows[lo:hi] for lo, hi in pairs]
    kept = pl.Series(rows, dtype=pl.Int64).filter(pl.Series(mask, dtype=pl.Boolean))
    lists = lists_of(kept, among(np.array(mask, dtype=np.bool_), frames))
    assert lists.to_list() == [[r for r in rows[lo:hi] if mask[r]] for lo, hi in pairs]
    values, again = opened(lists)
    assert [values[lo:hi].to_list() for lo, hi in zip(again.lo, again.hi, strict=True)] == (
        lists.to_list()
    )


@settings(derandomize=True)
@given(st.floats(0, 1) | st.sampled_from([0.07, 0.1, 0.9, 1e-9]), st.integers(1, 10**6))
def test_places_are_those_of_the_written_decimal(p: float, n: int) -> None:
    exact = as_written(p)
    at = int(place(exact, ints([n]), down=False)[0])
    assert at == max(-(-exact * n // 1) - 1, 0)
    assert place(exact, ints([n]), down=True).tolist() == [n - 1 - at]
    low, rest = place_between(exact, ints([n]), down=False)
    assert 0 <= low[0] < n and 0 <= rest[0] <= 1
    assert abs(float(low[0] + rest[0]) - float(exact * (n - 1))) < 1e-9 * n


def test_a_place_that_is_whole_has_no_rest() -> None:
    for hundredths in range(101):
        low, rest = place_between(as_written(hundredths / 100), ints([101]), down=False)
        assert (low.tolist(), rest.tolist()) == ([hundredths], [0.0])
        assert place(as_written(hundredths / 100), ints([100]), down=False)[0] == max(
            hundredths - 1, 0
        )
