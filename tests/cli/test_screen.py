"""Results on the screen: several queries take turns."""

from __future__ import annotations

import io

import polars as pl
import pytest

from sqlwin.screen import screen

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
