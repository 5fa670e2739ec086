"""Results on the screen: several queries take turns."""

from __future__ import annotations

import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.running.screen import NARROWEST, fitted, screen

NARROW = pl.DataFrame({"n": [1], "op": ["+I"]})
WIDE = pl.DataFrame({"product": ["green tea"], "n": [10], "op": ["+I"]})


def shown(output: str, *frames: pl.DataFrame) -> str:
    out = io.StringIO()
    show = screen(output, out)
    for frame in frames:
        show(frame)
    return out.getvalue()


def test_tables_of_queries_with_other_columns() -> None:
    assert shown("table", NARROW, WIDE, WIDE, NARROW) == (
        "n  op\n1  +I\n\nproduct     n  op\ngreen tea  10  +I\ngreen tea  10  +I\n\nn  op\n1  +I\n"
    )


def test_csv_of_queries_with_other_columns() -> None:
    assert shown("csv", NARROW, WIDE, WIDE, NARROW) == (
        "n,op\n1,+I\nproduct,n,op\ngreen tea,10,+I\ngreen tea,10,+I\nn,op\n1,+I\n"
    )


@pytest.mark.parametrize("columns", [["value", "op"], ["op", "value"]])
def test_columns_without_a_row_key(columns: list[str]) -> None:
    frame = pl.DataFrame({"value": [1], "op": ["+I"]}).select(columns)
    assert shown("table", frame).split() == [*columns, *(str(v) for v in frame.row(0))]


def test_null_is_shown_as_null_in_tables_alone() -> None:
    frame = pl.DataFrame({"k": ["tea", None], "n": [None, 5], "op": ["+I", "+I"]})
    assert shown("table", frame) == "k        n  op\ntea   NULL  +I\nNULL     5  +I\n"
    assert shown("csv", frame) == "k,n,op\ntea,,+I\n,5,+I\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_table_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = Terminal()
    screen("table", out)(pl.DataFrame({"text": ["word " * 20], "other": ["x" * 12], "n": [123]}))
    header, row = out.getvalue().splitlines()
    assert len(row) <= 40
    assert row.endswith("  xxxxxxxxxxxx  123")
    assert "…" in row
    assert len(header) <= 40


def test_fractions_stand_by_their_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = Terminal()
    show = screen("table", out)
    show(pl.DataFrame({"k": ["a", "b", "c"], "total": [9.75, 10.5, None]}))
    show(pl.DataFrame({"k": ["d"], "total": [8.0]}))
    assert out.getvalue().splitlines() == [
        "k  total",
        "a   9.75",
        "b  10.5",
        "c   NULL",
        "d   8.0",
    ]


def test_digits_go_before_anything_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    frame = pl.DataFrame(
        {
            "at": pl.Series([0, 1_000_000], dtype=pl.Datetime("us", "UTC")),
            "mean": [-1.1428571428571428, 0.00001234567],
            "n": [5, 7],
        }
    )
    out = Terminal()
    screen("table", out)(frame)
    assert out.getvalue().splitlines() == [
        "at                          mean  n",
        "1970-01-01T00:00:00Z  -1.1429     5",
        "1970-01-01T00:00:01Z   1.235e-05  7",
    ]
    out = Terminal()
    monkeypatch.setenv("COLUMNS", "28")
    screen("table", out)(frame)
    assert out.getvalue().splitlines()[1] == "…01T00:00:00Z  -1.1429     5"
    assert shown("table", frame).splitlines()[1].endswith("-1.1428571428571428  5")


def _one_by_one(widths: list[int], terminal: int) -> list[int]:
    """The definition: the widest, the first of equal ones, gets narrower until all fit."""
    fit = list(widths)
    while sum(fit) + 2 * (len(fit) - 1) > terminal and max(fit) > NARROWEST:
        fit[fit.index(max(fit))] -= 1
    return fit


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(0, 100))
def test_the_widest_columns_get_narrower(widths: list[int], terminal: int) -> None:
    assert fitted(widths, terminal) == _one_by_one(widths, terminal)


def test_a_long_text_is_cut_at_once() -> None:
    assert fitted([10**12, 3, 10**12], 80) == [36, 3, 37]
