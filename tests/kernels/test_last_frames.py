"""Frames of the last rows against the frames of all; growing arrays and places against lists."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.frames import Frames, frames_of
from sqlwin.kernels.growing import GrowingArrays
from sqlwin.kernels.last_frames import arranged, extremes, sums
from sqlwin.kernels.positions import places, which
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(-9, 9), st.integers(-99, 99)), min_size=1)
ENDS = st.tuples(st.sampled_from([0, 1, 4, 99]), st.sampled_from([0, -1, -4, -99])).filter(
    lambda ends: sum(ends) >= 0
)


@given(ROWS, ENDS, st.integers(1, 40))
def test_frames_of_the_last_rows(
    rows: list[tuple[int, int, int]], ends: tuple[int, int], last: int
) -> None:
    rows, count = sorted(rows, key=lambda row: row[1]), min(last, len(rows))
    runs, ts, values = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    found = arranged(runs, ts, count, 4)
    assert found.searchable
    frames = found.frames(*ends)
    order = np.lexsort((np.arange(len(rows)), runs))
    whole = frames_of(runs[order], ts[order], Frame(Unit.RANGE, *ends))
    back = np.argsort(order)[len(rows) - count :]
    expected = Frames(whole.lo[back], whole.hi[back])
    held = [values[order[lo:hi]].tolist() for lo, hi in zip(expected.lo, expected.hi, strict=True)]
    assert found.placed(sums(values, found, frames)).tolist() == [sum(each) for each in held]
    for greatest, pick in ((True, max), (False, min)):
        extreme = found.placed(extremes(values, found, frames, greatest)).tolist()
        assert all(e == pick(each) for e, each in zip(extreme, held, strict=True) if each)


def test_instants_too_far_apart_for_one_search() -> None:
    runs, ts = np.array([0, 1, 0]), np.array([-(2**62), 0, 2**62 - 1])
    assert not arranged(runs, ts, 2, 2).searchable


@given(st.lists(st.tuples(st.sampled_from("aid"), st.integers(0, 90), st.integers(0, 90))))
def test_growing_arrays(acts: list[tuple[str, int, int]]) -> None:
    arrays, there = GrowingArrays((np.dtype(np.int64), np.dtype(np.bool_))), [0] * 0
    for act, number, other in acts:
        added = list(range(other, other + number))
        if act == "a":
            arrays.append((np.array(added, dtype=np.int64), np.array(added) > 50))
            there += added
        elif act == "d":
            count = min(number, len(there))
            arrays.drop(count)
            there = there[count:]
        else:
            at = min(other, len(there))
            entries = (np.array(added, dtype=np.int64), np.array(added) > 50)
            arrays.insert(np.full(number, at), entries)
            there[at:at] = added
        numbers, flags = arrays.arrays()
        assert numbers.tolist() == there and len(arrays) == len(there)
        assert flags.tolist() == [each > 50 for each in there]


@given(
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 9)), max_size=40),
    st.randoms(use_true_random=False),
)
def test_places_of_rows(positions: set[tuple[int, int, int]], random: st.DataObject) -> None:
    there = sorted(positions)
    rows = pl.DataFrame(there, schema=PLACE, orient="row")
    some = random.sample(there, random.randint(0, len(there)))  # type: ignore[attr-defined]
    wanted = pl.DataFrame(some, schema=PLACE, orient="row")
    found = places(rows, wanted)
    assert found is None or rows[pl.Series(found, dtype=pl.Int64)].rows() == some
    marked = rows.filter(pl.Series(which(rows, wanted), dtype=pl.Boolean))
    assert marked.rows() == sorted(some)
    absent = pl.DataFrame([(9, 9, 9)], schema=PLACE, orient="row")
    assert places(rows, absent) is None
    assert rows.columns == list(POSITION)
