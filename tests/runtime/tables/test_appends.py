"""Rows that are only added to a table are there once, whatever is written again."""

from __future__ import annotations

import polars as pl
import pytest

from sqlwin.errors import QueryError
from tests.runtime.tables.conftest import Tables


def rows(*values: int) -> pl.DataFrame:
    return pl.DataFrame({"n": values}, schema={"n": pl.Int64})


def found(tables: Tables) -> list[int]:
    return sorted(n for (n,) in tables.run("SELECT n FROM t"))


def test_a_batch_that_is_written_again(tables: Tables) -> None:
    sink = tables.sink(appends=True)
    sink.write(1, rows(1, 1, 2))
    sink.write(2, rows(3))
    tables.sink(appends=True).write(2, rows(3, 4))
    assert found(tables) == [1, 1, 2, 3, 4]
    tables.sink(appends=True).write(2, rows())
    assert found(tables) == [1, 1, 2]


def test_another_run_replaces_what_an_earlier_one_wrote(tables: Tables) -> None:
    for batch in (1, 2, 3):
        tables.sink(appends=True).write(batch, rows(batch))
        tables.sink(writer=2, appends=True).write(batch, rows(10 * batch))
    sink = tables.sink(appends=True)
    sink.write(1, rows(7))
    sink.write(2, rows())
    assert found(tables) == [7, 10, 20, 30]


@pytest.mark.parametrize("option", [{"unique": "n"}, {"restart": "replace"}])
def test_options_of_rows_that_change(tables: Tables, option: dict[str, str]) -> None:
    with pytest.raises(QueryError, match="and its rows never change"):
        tables.sink(appends=True, **option)
