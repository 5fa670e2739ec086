"""How often a batch reaches DuckDB: never for plain columns, once for each projection else."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sqlwin
from sqlwin.runtime.rows import scalars

STREAM = "CREATE STREAM s (k STRING, n BIGINT, ts TIMESTAMP, {}WATERMARK FOR ts AS ts); "
ROWS = [
    {"k": k, "n": n, "ts": f"2024-01-01T09:0{n}:00Z"} for n, k in enumerate(("x", "y", "x", "z"))
]
MINUTES = "OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING)"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of each."""
    seen: list[str] = []
    run = scalars.run

    def counted(rows: pa.Table, query: str) -> pa.Table:
        seen.append(query)
        return run(rows, query)

    monkeypatch.setattr(scalars, "run", counted)
    return seen


def push(text: str, computed: str = "") -> Any:
    query = sqlwin.query(STREAM.format(computed) + text)
    query.push("s", ROWS)
    return query.results()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM s",
        "SELECT ts, n AS m, k, k AS again FROM s",
        f"SELECT k, SUM(n) {MINUTES} AS total, ts FROM s",
        "SELECT window_start, k, COUNT(*) AS c, MAX(n) AS top"
        " FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTES) GROUP BY window_start, k",
        "SELECT k, n FROM (SELECT ts, k, n FROM s) AS t",
    ],
)
def test_plain_columns_never_reach_the_engine(text: str, calls: list[str]) -> None:
    assert len(push(text)) > 0
    assert calls == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SELECT n + 1 AS a, UPPER(k) AS b, n / 2 AS c, k FROM s WHERE k = 'x' AND n >= 0", 1),
        ("SELECT k FROM s WHERE k = 'x'", 1),
        (
            "SELECT a + 1 AS b, k FROM (SELECT ts, n * 2 AS a, UPPER(k) AS k FROM s WHERE n > 0) t",
            1,
        ),
        (f"SELECT INITCAP(k) AS k, n + 1 AS m, SUM(n) {MINUTES} AS total FROM s", 1),
        (f"SELECT k, SUM(n * 2) {MINUTES} AS total, MAX(n + 1) {MINUTES} AS top FROM s", 1),
        (f"SELECT k, SUM(n * 2) {MINUTES} + 1 AS total FROM s WHERE n >= 0", 2),
    ],
)
def test_a_projection_is_one_call(text: str, count: int, calls: list[str]) -> None:
    """The input's is one, with WHERE; what is computed of aggregates is another."""
    assert len(push(text)) > 0
    assert len(calls) == count, calls


def test_a_computed_column_is_one_call(calls: list[str]) -> None:
    assert len(push("SELECT k, a, b FROM s", "a AS n + 1, b AS a * 2, ")) > 0
    assert len(calls) == 2, calls
