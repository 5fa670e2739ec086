"""Aggregates from Python, replays and the error stream, over DataFrames and over files."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import sqlwin.spark
from sqlwin.aggregates.python import PythonAggregate
from sqlwin.spark.sinks.delivery import QueryBatch

PRODUCT = PythonAggregate(
    "product_of",
    types=(pa.int64(),),
    accumulator=pa.int64(),
    result=pa.int64(),
    initializer=lambda: 1,
    aggregator=lambda so_far, value: so_far if value is None else so_far * value,
    merger=lambda one, other: one * other,
)
DECLARED = """
CREATE STREAM orders (
  id BIGINT, product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts, OFFSET id)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK bad WITH (connector = 'files', path = 'bad', format = 'json');
"""
SELECT = """
SELECT product, window_start, product_of(value) AS p, MEDIAN(value) AS middle
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EXPIRED INTO bad
"""
ROWS = [
    {"id": 1, "product": "tea", "value": 2, "ts": "2024-01-01T09:00:10Z"},
    {"id": 2, "product": "tea", "value": 3, "ts": "2024-01-01T09:00:20Z"},
    {"id": 2, "product": "tea", "value": 3, "ts": "2024-01-01T09:00:20Z"},
    {"id": 3, "product": "milk", "value": 5, "ts": "2024-01-01T09:00:30Z"},
    {"id": 4, "product": "milk", "value": 7, "ts": None},
]


def land(home: Path, name: str) -> None:
    (home / "orders").mkdir(exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    (home / "orders" / name).write_text(text)


def test_over_files(spark: SparkSession, tmp_path: Path) -> None:
    land(tmp_path, "1.jsonl")
    land(tmp_path, "2.jsonl")
    shown: list[pl.DataFrame] = []
    parsed = sqlwin.spark.query(spark, DECLARED + SELECT, functions=[PRODUCT])
    summary = parsed.run(tmp_path, show=shown.append)
    emissions = pl.concat(shown).sort("product").select("product", "p", "middle").rows()
    assert emissions == [("milk", 5, 5.0), ("tea", 6, 2.5)]
    assert summary.replayed == 5
    assert summary.refused == {"no event time": 2}
    [file] = (tmp_path / "bad").glob("*.jsonl")
    assert [json.loads(line)["position"] for line in file.read_text().splitlines()] == ["0:4"] * 2


@pytest.mark.long
def test_over_a_dataframe(spark: SparkSession, tmp_path: Path) -> None:
    land(tmp_path, "1.jsonl")
    source = spark.readStream.schema("id LONG, product STRING, value LONG, ts TIMESTAMP").json(
        str(tmp_path / "orders")
    )
    parsed = sqlwin.spark.query(spark, DECLARED + SELECT, {"orders": source}, functions=[PRODUCT])
    came: list[QueryBatch] = []
    parsed.run(lambda _, batch: came.extend(batch.values()), tmp_path / "state", drain=True)
    emissions = pl.concat(each.results for each in came)
    assert sorted(emissions.select("product", "p", "middle").rows()) == [
        ("milk", 5, 5.0),
        ("tea", 6, 2.5),
    ]
    assert sum(done.replayed for each in came for done in each.done) == 1
    assert [row["reason"] for each in came for row in each.errors.to_dicts()] == [
        "no event time: ts is NULL"
    ]
