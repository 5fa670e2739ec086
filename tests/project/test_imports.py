"""What a command imports, counted in a process of its own: no clock says that a start grows.

Bounds are what is imported now and some more; a heavy package that comes in is named.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

HOME = Path(__file__).parents[2]
QUERY = "queries/departures_per_hour.sql"
STREAM = "CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)"
COUNTED = """\
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY product, window_start"""
TEN_ROWS = f"""
import sqlwin
with sqlwin.query({STREAM + "; " + COUNTED!r}) as query:
    query.push("orders", [
        {{"product": "tea", "value": at, "ts": f"2024-01-01T09:0{{at}}:10Z"}} for at in range(10)])
    query.drain()
    assert sum(query.table()["total"].to_pylist()) == 45
"""
COMMAND = """
from sqlwin.cli import main
try:
    main({arguments})
except SystemExit:
    pass
"""
HEAVY = (
    *("pandas", "polars", "pyarrow", "duckdb", "sqlglot", "lark", "pyspark", "re2", "msgspec"),
    *("pyarrow.compute", "numpy.ma", "ssl"),
)


def imported(code: str) -> set[str]:
    """Modules after `code`, in a new process."""
    shown = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    made = subprocess.run(
        [sys.executable, "-c", f"{code}\n{shown}"],
        cwd=HOME,
        check=True,
        capture_output=True,
        text=True,
    )
    return set(json.loads(made.stdout.splitlines()[-1]))


def own(modules: set[str]) -> int:
    return sum(module.partition(".")[0] == "sqlwin" for module in modules)


def heavy(modules: set[str]) -> list[str]:
    return [package for package in HEAVY if package in modules]


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_what_says_a_word_imports_no_package(arguments: list[str]) -> None:
    found = imported(COMMAND.format(arguments=arguments))
    assert heavy(found) == []
    assert own(found) <= 7
    assert "inspect" not in found  # which dataclasses import


def test_a_script_is_checked_by_the_front_end_alone() -> None:
    found = imported(COMMAND.format(arguments=["check", QUERY]))
    assert heavy(found) == ["pyarrow", "sqlglot", "lark"]
    assert own(found) <= CHECK


def test_explain_starts_no_engine() -> None:
    found = imported(COMMAND.format(arguments=["explain", QUERY]))
    assert heavy(found) == ["polars", "pyarrow", "sqlglot", "lark"]
    assert own(found) <= EXPLAIN


def test_ten_rows_in_process_import_what_their_query_needs() -> None:
    found = imported(TEN_ROWS)
    assert heavy(found) == ["polars", "pyarrow", "sqlglot", "lark", "numpy.ma"]
    assert own(found) <= RUN


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_a_run_over_a_file_imports_no_pandas(format: str, tmp_path: Path) -> None:
    """Arrow imports it by itself where it is given a list or a scalar of Python."""
    frame = pl.DataFrame({"product": ["tea"], "value": [1], "ts": ["2024-01-01T09:00:00Z"]})
    if format == "parquet":
        frame = frame.with_columns(pl.col("ts").str.to_datetime(time_zone="UTC"))
    file = tmp_path / f"rows.{format}"
    {"csv": frame.write_csv, "json": frame.write_ndjson, "parquet": frame.write_parquet}[format](
        file
    )
    query = tmp_path / "query.sql"
    query.write_text(f"{STREAM} WITH (path = '{file}', format = '{format}'); {COUNTED}")
    found = imported(COMMAND.format(arguments=["run", "--engine", "embedded", str(query)]))
    assert "pandas" not in found
    if format == "csv":  # of few rows
        assert heavy(found) == ["polars", "pyarrow", "sqlglot", "lark"]


CHECK, EXPLAIN, RUN = 290, 395, 464
"""Modules of sqlwin."""
