"""Queries over DataFrames without DDL, with sinks: results and errors from one pipeline."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, MapType, StringType, StructField, StructType, TimestampType

import sqlwin.spark
from sqlwin.errors import InputError, RunError
from sqlwin.runtime.connectors.metrics import QueryMetrics
from sqlwin.schema import TIMESTAMP, Column
from sqlwin.spark.dataframes.query import SparkQuery
from sqlwin.spark.dataframes.schema import DELAY, stream_of, undeclared
from sqlwin.sql import script
from tests.support.spark_orders import GROUPED, Taken, land, orders


def test_a_stream_is_as_its_dataframe() -> None:
    fields = [
        StructField("n", LongType()),
        StructField("tags", MapType(StringType(), StringType())),
        StructField("ts", TimestampType(), metadata={DELAY: 5000}),
    ]
    made = stream_of("orders", StructType(fields))
    assert made.columns == (Column("n", pa.int64()), Column("ts", TIMESTAMP))
    assert (made.ts, made.delay) == ("ts", 5_000_000)
    assert undeclared({"Orders": StructType(fields)}, {"orders"}) == {}
    with pytest.raises(InputError, match="the event time of orders, n, is bigint"):
        stream_of("orders", StructType([StructField("n", LongType(), metadata={DELAY: 1})]))
    with pytest.raises(InputError, match="has the column n twice"):
        stream_of("orders", StructType([fields[0], StructField("N", LongType())]))


@pytest.mark.spark
def test_results_and_errors_go_to_functions(spark: SparkSession, tmp_path: Path) -> None:
    """No DDL: columns, event time and delay are the DataFrame's."""
    minute = "2024-01-01T09:0{}:10Z"
    first, second = ("tea", 1, minute.format(0)), ("tea", 2, minute.format(2))
    land(tmp_path, "a", first, second, ("tea", 7, None))
    totals, refused = Taken(), Taken()
    query = sqlwin.spark.query(spark, GROUPED, {"orders": orders(spark, tmp_path)})
    stream = query.script.streams[0]
    assert (stream.ts, stream.delay) == ("ts", 5_000_000)
    summary = query.to(totals, errors=refused).run(tmp_path / "state")
    land(tmp_path, "b", ("tea", 4, minute.format(0)))
    measured: list[QueryMetrics] = []
    query.to(totals, errors=refused, on_metrics=measured.append).run(tmp_path / "state")
    operator = measured[0].operators[0]
    assert (operator.rows_in, operator.late, operator.rows_out, operator.windows_open) == (
        1,
        1,
        1,
        1,
    )
    assert operator.state_bytes
    assert set(measured[0].seconds) == {"operators", "sinks"}
    found = [(row["op"], row["total"]) for batch in sorted(totals) for row in totals[batch]]
    assert found == [("+I", 1), ("+U", 5)]
    (untimed,) = (row["reason"] for rows in refused.values() for row in rows)
    assert untimed == "no event time: ts is NULL"
    assert summary.read == 3
    assert sqlwin.spark.state(spark, tmp_path / "state").stores().num_rows


@pytest.mark.spark
def test_sinks_of_the_text_and_a_table_of_a_dataframe(spark: SparkSession, tmp_path: Path) -> None:
    land(tmp_path, "a", ("tea", 1, "2024-01-01T09:00:10Z"), ("tea", 2, "2024-01-01T09:00:20Z"))
    makers = spark.createDataFrame([("tea", "Ann")], "product STRING, maker STRING")
    text = """
        CREATE SINK totals WITH (connector = 'sqlite', path = 'shop.db', table = 'totals',
                                 create = 'true', unique = 'product, ts', changelog = 'upsert');
        INSERT INTO totals SELECT orders.product, maker, value, orders.ts
        FROM orders JOIN makers ON orders.product = makers.product"""
    query = sqlwin.spark.query(spark, text, {"orders": orders(spark, tmp_path), "makers": makers})
    running = query.to(base=tmp_path).start(tmp_path / "state", availableNow=True)
    running.awaitTermination()
    with sqlite3.connect(tmp_path / "shop.db") as db:
        found = db.execute("SELECT product, maker, value FROM totals ORDER BY value").fetchall()
    assert found == [("tea", "Ann", 1), ("tea", "Ann", 2)]
    with pytest.raises(InputError, match="results go into totals already"):
        query.to(Taken())


@pytest.mark.spark
@pytest.mark.long
def test_a_batch_that_failed_has_the_same_number(spark: SparkSession, tmp_path: Path) -> None:
    land(tmp_path, "a", ("tea", 1, "2024-01-01T09:00:10Z"), ("tea", 2, "2024-01-01T09:02:20Z"))
    query = sqlwin.spark.query(spark, GROUPED, {"orders": orders(spark, tmp_path)})
    numbers: list[int] = []

    def failing(rows: pa.Table, batch: int) -> None:
        numbers.append(batch)
        raise OSError("no route")

    with pytest.raises(RunError, match="sink results failed in batch 1: OSError: no route"):
        query.to(failing).run(tmp_path / "state")
    with pytest.raises(StreamingQueryException, match="no route"):
        query.to(failing).start(tmp_path / "state", availableNow=True).awaitTermination()
    totals = Taken()
    query.to(totals).run(tmp_path / "state")
    assert (numbers, [row["total"] for row in totals[1]]) == ([1, 1], [1])
    with pytest.raises(InputError, match="results go nowhere"):
        query.to()


def test_what_spark_connect_cannot_is_refused() -> None:
    class SparkSession:
        __module__ = "pyspark.sql.connect.session"

    spark: Any = SparkSession()
    query = SparkQuery(spark, script("CREATE STREAM s (n INT); SELECT n FROM s"), {})
    for call in (
        lambda: sqlwin.spark.query(spark, "SELECT 1"),
        lambda: query.to(Taken()),
        lambda: query.run(lambda *_: None, Path("state")),
        lambda: query.start(lambda *_: None, Path("state")),
    ):
        with pytest.raises(InputError, match="is not for a session of Spark Connect"):
            call()
