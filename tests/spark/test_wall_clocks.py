"""Spark's TimestampNTZType in a streaming DataFrame, and TIMESTAMP_NTZ in results."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

from sqlwin.spark.dataframes.binding import bound_over, query_over

ROWS = """\
{"due": "2024-03-10T02:30:00.5", "ts": "2024-01-01T09:00:10Z"}
{"due": "2024-03-10T03:30:00", "ts": "2024-01-01T09:00:20Z"}
"""
SQL = """
SET TIME ZONE 'America/New_York';
SELECT due, HOUR(due) AS hour, CAST(due AS TIMESTAMP) AS at, MAX(due) OVER (ORDER BY ts) AS latest
FROM orders;
"""


@pytest.mark.long
def test_wall_clocks_of_a_dataframe(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "a.json").write_text(ROWS)
    frame = spark.readStream.schema("due TIMESTAMP_NTZ, ts TIMESTAMP").json(f"{tmp_path}/orders")
    inputs = {"orders": frame.withWatermark("ts", "0 seconds")}
    query = query_over(spark, bound_over(SQL, inputs, {}), inputs)
    came: list[pl.DataFrame] = []

    def keep(_: int, what: Any) -> None:
        came.extend(each.results for each in what.values())

    query.run(keep, tmp_path / "cp", drain=True)
    rows = pl.concat(came).sort("due").select("due", "hour", "at", "latest").rows()
    half, last = datetime(2024, 3, 10, 2, 30, 0, 500_000), datetime(2024, 3, 10, 3, 30)
    assert [(row[0], row[1], row[3]) for row in rows] == [(half, 2, half), (last, 3, last)]
    assert [row[2].isoformat() for row in rows] == [
        "2024-03-10T07:30:00.500000+00:00",
        "2024-03-10T07:30:00+00:00",
    ]
    query.errors()
    types = {field.name: field.dataType.simpleString() for field in query.results().schema}
    assert (types["due"], types["at"]) == ("timestamp_ntz", "timestamp")
