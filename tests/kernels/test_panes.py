"""Panes and the windows that hold them against counting."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.panes import pane_start, windows_of
from sqlwin.windows import Hop, Unit

OFFSETS = st.integers(-7, 7)


@given(st.lists(st.integers(-50, 50)), st.integers(1, 12), OFFSETS)
def test_a_pane_starts_at_or_before(values: list[int], pane: int, offset: int) -> None:
    table = pl.DataFrame({"x": values}, schema={"x": pl.Int64})
    starts = table.select(pane_start(pl.col("x"), pane, offset))["x"].to_list()
    assert starts == [(x - offset) // pane * pane + offset for x in values]


@given(st.lists(st.integers(-40, 40), max_size=12), st.integers(1, 9), st.integers(0, 11), OFFSETS)
def test_windows_that_hold_a_pane(
    instants: list[int], advance: int, more: int, offset: int
) -> None:
    hop = Hop(advance + more, advance, offset)
    table = pl.DataFrame(
        {"x": instants, "n": range(len(instants))}, schema={"x": pl.Int64, "n": pl.Int64}
    )
    panes = table.with_columns(pane=pane_start(pl.col("x"), hop.pane, hop.offset))
    got = windows_of(panes, "pane", hop)
    expected = [
        (n, w)
        for n, x in enumerate(instants)
        for w in range(-80, 80)
        if (w - offset) % advance == 0 and w <= x < w + hop.size
    ]
    assert got.select("n", "__window").rows() == expected
    assert got.columns == [*panes.columns, "__window"]


def test_windows_of_messages_begin_at_the_first() -> None:
    panes = pl.DataFrame({"pane": [1, 2, 3]})
    hop = Hop(size=2, advance=1, unit=Unit.ROWS)
    assert windows_of(panes, "pane", hop)["__window"].to_list() == [1, 1, 2, 2, 3]


def test_thousands_of_windows_a_pane() -> None:
    panes = pl.DataFrame({"pane": [0, 1]})
    assert len(windows_of(panes, "pane", Hop(size=5000, advance=1))) == 10000
