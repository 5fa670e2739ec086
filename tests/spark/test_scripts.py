"""A script of one's own, from its text, on a session of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

import sqlwin.spark
from sqlwin.errors import InputError, QueryError

SCRIPT = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK totals WITH (connector = 'files', path = 'totals', format = 'json');
INSERT INTO totals
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start;
SELECT product, value FROM orders WHERE value > 1;
"""
ROWS = [
    {"product": "tea", "value": 1, "ts": "2024-01-01T09:00:10Z"},
    {"product": "tea", "value": 2, "ts": "2024-01-01T09:00:20Z"},
    {"product": "tea", "value": "two", "ts": "2024-01-01T09:00:30Z"},
]


def test_a_script_with_its_own_sources_and_sinks(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "orders" / "1.jsonl").write_text(text)
    shown: list[pl.DataFrame] = []
    refused: list[pl.DataFrame] = []
    summary = sqlwin.spark.query(spark, SCRIPT).run(
        tmp_path, show=shown.append, on_errors=refused.append
    )
    [file] = (tmp_path / "totals").glob("*.jsonl")
    assert json.loads(file.read_text())["total"] == 3
    assert pl.concat(shown)["value"].to_list() == [2]
    assert pl.concat(refused)["position"].unique().to_list() == ["0:2"]
    assert (summary.read, summary.emitted) == (6, 2)  # two queries read three rows each


def test_what_cannot_be_run_is_told_before_anything_starts(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"no file matches orders/\*\.jsonl of orders; it is"):
        sqlwin.spark.query(spark, SCRIPT).run(tmp_path)
    with pytest.raises(QueryError, match="'pigeons'"):
        sqlwin.spark.query(spark, SCRIPT.replace("'files'", "'pigeons'", 1)).run(tmp_path)
