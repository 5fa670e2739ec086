"""Panes and the windows that hold them against counting."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import END, START
from sqlwin.kernels.panes import (
    ENDLESS,
    earliest,
    ends_of,
    pane_of,
    pane_start,
    span_of,
    start_of,
)
from sqlwin.windows import Unit
from sqlwin.windows.group import Cumulate, Hop, Whole
from tests.support.kernels.panes import OFFSETS, timed


@given(st.lists(st.integers(-50, 50)), st.integers(1, 12), OFFSETS)
def test_a_pane_starts_at_or_before(values: list[int], pane: int, offset: int) -> None:
    table = pl.DataFrame({"x": values}, schema={"x": pl.Int64})
    starts = table.select(pane_start(pl.col("x"), pane, offset))["x"].to_list()
    assert starts == [(x - offset) // pane * pane + offset for x in values]


def test_windows_of_messages_begin_at_the_first() -> None:
    with pytest.raises(ValueError, match="start at message 1, got offset 3"):
        Hop(size=2, advance=1, offset=3, unit=Unit.ROWS)
    panes = pl.DataFrame({"pane": [1, 2, 3]})
    hop = Hop(size=2, advance=1, unit=Unit.ROWS)
    assert ends_of(panes, "pane", hop)["__end"].to_list() == [3, 3, 4, 4, 5]


def test_thousands_of_windows_a_pane() -> None:
    panes = pl.DataFrame({"pane": [0, 1]})
    assert len(ends_of(panes, "pane", Hop(size=5000, advance=1))) == 10000


@given(st.lists(st.integers(-40, 40), max_size=12), timed())
def test_time_windows_that_hold_a_pane_by_their_ends(
    instants: list[int], window: Hop | Cumulate
) -> None:
    table = pl.DataFrame({"x": instants}, schema={"x": pl.Int64}).with_row_index("n")
    panes = table.with_columns(pane=pane_of(pl.col("x"), window))
    got = ends_of(panes, "pane", window)
    every = [(start, end) for start, end in _windows(window) if start > -150]
    expected = [(n, e) for n, x in enumerate(instants) for s, e in every if s <= x < e]
    assert got.select("n", "__end").rows() == expected


@given(timed(), st.integers(-40, 40))
def test_the_earliest_start_is_the_first_of_windows_that_end_so_late(
    window: Hop | Cumulate, end: int
) -> None:
    assert earliest(end, window) == min(s for s, e in _windows(window) if e >= end)
    lazy = pl.select(earliest(pl.lit(end, pl.Int64), window)).item()
    assert (lazy, span_of(window, end, end + 9)[0]) == (earliest(end, window),) * 2


def _windows(window: Hop | Cumulate) -> list[tuple[int, int]]:
    """Those that end within some hundreds of the epoch, by end."""
    step = window.advance if isinstance(window, Hop) else window.step
    begins = window.offset + (window.size if isinstance(window, Hop) else 0)
    ends = (end for end in range(-200, 200) if (end - begins) % step == 0)
    return [(start_of(end, window), end) for end in ends]


def test_the_whole_is_one_pane_of_one_window() -> None:
    panes = pl.DataFrame({"x": [-5, 7]}).with_columns(pane=pane_of(pl.col("x"), Whole()))
    assert ends_of(panes, "pane", Whole()).select("pane", "__end").rows() == [(0, ENDLESS)] * 2
    assert panes.clear().group_by(pane_of(pl.col("x"), Whole())).agg().is_empty()
    assert span_of(Whole(), 0, 10**15) == (0, 0)
    assert span_of(Whole(), 0, END) == (START, END)
