"""TIMESTAMP_NTZ in files, pushed rows and results: what a clock shows, without a zone."""

from __future__ import annotations

from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlwin
from sqlwin.errors import QueryError
from sqlwin.runtime.formats.instants import FEW, clocks_of, instants_of_texts
from sqlwin.schema import TIMESTAMP_NTZ

SHOWN = datetime(2024, 3, 10, 2, 30, 0, 500_000)
"""No clock of New York shows it."""
DECLARED = "CREATE STREAM orders (n INT, due TIMESTAMP_NTZ, ts TIMESTAMP, WATERMARK FOR ts AS ts)"
SELECT = "SELECT n, due FROM orders"


def passed(rows: Any) -> tuple[list[Any], list[str]]:
    """Values of `due`, and why rows are malformed."""
    q = sqlwin.query(f"SET TIME ZONE 'America/New_York'; {DECLARED}; {SELECT}")
    q.push("orders", rows)
    results = q.results()
    assert results.column("due").type == TIMESTAMP_NTZ
    return results.column("due").to_pylist(), q.expired()["reason"].to_pylist()


TABLE = pa.table({"n": [1], "due": [SHOWN]})


@pytest.mark.parametrize(
    "rows",
    [
        [{"n": 1, "due": SHOWN}],
        [{"n": 1, "due": "2024-03-10T02:30:00.5"}],
        [{"n": 1, "due": " 2024-03-10 02:30:00.500000 "}],
        TABLE,
        TABLE.set_column(1, "due", TABLE["due"].cast(pa.timestamp("ns"))),
        pl.DataFrame(TABLE),
        TABLE.to_pandas(),
        pd.DataFrame({"n": [1], "due": ["2024-03-10T02:30:00.5"]}),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_pushed_rows_keep_what_the_clock_shows(rows: Any) -> None:
    assert passed(rows) == ([SHOWN], [])


def test_a_date_is_its_midnight() -> None:
    assert passed([{"n": 1, "due": date(2024, 3, 10)}]) == ([datetime(2024, 3, 10)], [])


@pytest.mark.parametrize(
    "value",
    [
        SHOWN.replace(tzinfo=timezone.utc),
        "2024-03-10T02:30:00Z",
        "2024-03-10T02:30:00+02:00",
        5,
        "2024-03-10",
    ],
)
def test_an_instant_is_none(value: object) -> None:
    found, reasons = passed([{"n": 1, "due": value}])
    assert found == []
    assert [reason.endswith("not a TIMESTAMP_NTZ") for reason in reasons] == [True]


def test_an_instant_of_arrow_is_none() -> None:
    column = TABLE["due"].cast(pa.timestamp("us", "UTC"))
    found, reasons = passed(TABLE.set_column(1, "due", column))
    assert found == []
    assert reasons == ["malformed: due is 1710037800500000, not a TIMESTAMP_NTZ"]


def written(folder: Path, format_: str) -> str:
    path = folder / f"orders.{format_}"
    if format_ == "csv":
        path.write_text("n,due,ts\n1,2024-03-10 02:30:00.5,\n")
    elif format_ == "json":
        path.write_text('{"n": 1, "due": "2024-03-10T02:30:00.5"}\n')
    else:
        pq.write_table(TABLE.append_column("ts", pa.nulls(1, pa.timestamp("us", "UTC"))), path)
    return path.name


@pytest.mark.parametrize("format_", ["csv", "json", "parquet"])
def test_files_are_read_and_written(tmp_path: Path, format_: str) -> None:
    name = written(tmp_path, format_)
    declared = f"{DECLARED} WITH (path = '{name}', format = '{format_}')"
    sink = f"CREATE SINK out WITH (connector = 'files', path = 'out', format = '{format_}')"
    select = "INSERT INTO out SELECT n, due, ARRAY(due) AS within FROM orders"
    sqlwin.run(f"SET TIME ZONE 'America/New_York'; {declared}; {sink}; {select}", base=tmp_path)
    reader = {"csv": "read_csv", "json": "read_json", "parquet": "read_parquet"}[format_]
    files = str(tmp_path / "out" / "**" / "*.*")
    ((due,),) = duckdb.sql(f"SELECT due FROM {reader}('{files}')").fetchall()
    assert due in (SHOWN, "2024-03-10T02:30:00.500000")


def test_results_of_text_have_no_z() -> None:
    q = sqlwin.query(f"{DECLARED}; SELECT due, ARRAY(due) AS within, ts FROM orders")
    q.push("orders", [{"due": SHOWN, "ts": "2024-03-10T02:30:00Z"}])
    (line,) = q.results().to_pylist()
    assert line["due"] == SHOWN
    assert line["within"] == [SHOWN]
    assert line["ts"].tzinfo is not None


@pytest.mark.parametrize(
    "text",
    [
        "CREATE STREAM o (due TIMESTAMP_NTZ, WATERMARK FOR due AS due); SELECT due FROM o",
        "CREATE STREAM o (due TIMESTAMP_NTZ); SELECT COUNT(*) AS n FROM "
        "TUMBLE(TABLE o, DESCRIPTOR(due), INTERVAL '1' DAY) GROUP BY window_start, window_end",
    ],
)
def test_event_time_is_an_instant(text: str) -> None:
    with pytest.raises(
        QueryError, match=r"event time must be TIMESTAMP, due is TIMESTAMP_NTZ"
    ) as e:
        sqlwin.query(text)
    assert "AS CAST(due AS TIMESTAMP)" in str(e.value)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("offset", ["", "Z", "+01", "-09:30", "+2359"])
@pytest.mark.parametrize("second", ["00", "59.5", "59.123456", "59.1234567", "60", "5x"])
@pytest.mark.parametrize("day", ["2024-03-31", "1969-12-31", "0001-01-01", "2023-02-29"])
def test_few_texts_are_read_as_many(zone: str, offset: str, second: str, day: str) -> None:
    """Polars reads the few, Arrow the many."""
    texts = pl.Series([f"{day}T02:30:{second}{offset}"])
    with clocks_of(zone):
        few = instants_of_texts(texts)
        many = instants_of_texts(texts.new_from_index(0, FEW + 1))
    assert few.dtype == many.dtype
    assert many.cast(pl.Int64).unique().to_list() == few.cast(pl.Int64).to_list()
