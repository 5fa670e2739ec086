"""Windows as ranges of panes, against each pane put into every window that holds it."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import END, START
from sqlwin.kernels import pane_ranges
from sqlwin.kernels.frames import Frames
from sqlwin.kernels.pane_ranges import merged, ranges_of
from sqlwin.kernels.panes import ends_of
from sqlwin.windows import Unit
from sqlwin.windows.group import Cumulate, Hop
from tests.support.kernels.panes import timed

BOUNDS = st.sampled_from([START, *range(-60, 60, 7)]), st.sampled_from([END, *range(-60, 60, 7)])
MERGE = [pl.col("n").sum(), pl.col("most").max()]


@st.composite
def panes(draw: st.DrawFn, window: Hop | Cumulate) -> pl.DataFrame:
    """Columns run, pane, n, most: panes of a window in order, each once."""
    first = 1 if window.unit is Unit.ROWS else -40
    at = st.integers(first, 40).map(
        lambda x: (
            x - (x - first) % window.pane
            if window.unit is Unit.ROWS
            else x - (x - window.offset) % window.pane
        )
    )
    found = draw(st.sets(st.tuples(st.integers(0, 3), at), min_size=1, max_size=30))
    runs = {run: number for number, run in enumerate(sorted({run for run, _ in found}))}
    rows = sorted((runs[run], pane) for run, pane in found)
    values = [(run, pane, number, -number) for number, (run, pane) in enumerate(rows)]
    return pl.DataFrame(values, orient="row", schema=["run", "pane", "n", "most"])


def windows() -> st.SearchStrategy[Hop | Cumulate]:
    of_rows = st.builds(
        lambda a, more: Hop(a + more, a, unit=Unit.ROWS), st.integers(1, 4), st.integers(0, 9)
    )
    return timed() | of_rows


@given(st.data(), windows(), *BOUNDS, st.sampled_from([0, pane_ranges.OVERLAP]))
def test_the_windows_and_what_they_hold(
    data: st.DataObject, window: Hop | Cumulate, first: int, last: int, overlap: int
) -> None:
    drawn = data.draw(panes(window))
    run = drawn["run"].to_numpy()
    found = ranges_of(run, drawn["pane"].to_numpy(), window, first, last)
    with patch.object(pane_ranges, "OVERLAP", overlap):
        whole = merged(drawn.select("n", "most"), run, found.frames, MERGE)
    got = whole.with_columns(pl.Series("run", found.run), pl.Series("__end", found.end))
    held = ends_of(drawn, "pane", window)
    near = held.filter(pl.col("__end").is_between(first, last))
    assert ends_of(drawn, "pane", window, first, last).equals(near)
    expected = near.group_by("run", "__end").agg(MERGE).sort("run", "__end")
    assert got.select(expected.columns).rows() == expected.rows()


SIZE, KEYS, DAYS = 1_440, 3, 2  # minutes of a day


def _taken(first: int, last: int) -> int:
    """Rows that are merged for the days by the minute that end at `first` to `last`."""
    run = np.repeat(np.arange(KEYS), DAYS * SIZE)
    pane = np.tile(np.arange(DAYS * SIZE), KEYS)
    near = (pane >= first - SIZE) & (pane < last)
    found = ranges_of(run[near], pane[near], Hop(SIZE, 1), first, last)
    taken = 0

    def counted(pieces: pl.Series) -> int:
        nonlocal taken
        taken += len(pieces)
        return int(pieces.sum())

    merge = [pl.col("n").map_batches(counted, pl.Int64, returns_scalar=True)]
    ones = pl.DataFrame({"n": np.ones(near.sum(), dtype=np.int64)})
    rows = merged(ones, run[near], found.frames, merge)
    assert rows["n"].to_list() == [SIZE] * KEYS * (last - first + 1)
    return taken


def test_a_long_window_is_merged_of_few_pieces() -> None:
    """A day by the minute holds 1,440 panes, and each pane is in as many windows."""
    pairs_of_panes, pieces_of_a_window = 2 * KEYS * DAYS * SIZE, 2 * SIZE.bit_length()
    assert _taken(SIZE, DAYS * SIZE - 1) <= pairs_of_panes + pieces_of_a_window * KEYS * SIZE


def test_what_all_windows_of_a_key_hold_is_merged_once() -> None:
    """Of days that end within an hour 23 hours are one piece; hours are cut on both sides of it."""
    hour, day = 60, SIZE
    panes, pairs_of_edges = KEYS * (day + hour), 2 * KEYS * 2 * hour
    pieces_of_a_window = 1 + hour.bit_length()  # half of them at most, on average, on each side
    assert _taken(day, day + hour - 1) <= panes + pairs_of_edges + pieces_of_a_window * KEYS * hour


def test_no_panes_have_no_windows() -> None:
    none = np.empty(0, dtype=np.int64)
    found = ranges_of(none, none, Hop(5, 1), START, END)
    assert len(found.end) == 0
    frame = pl.DataFrame({"n": none, "most": none})
    assert merged(frame, none, Frames(none, none), MERGE).is_empty()
