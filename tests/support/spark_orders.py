"""Orders in files that a streaming DataFrame reads, and a sink that remembers its batches."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

GROUPED = """
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT LATE ON UPDATE RETAIN 1 HOUR
"""


class Taken(dict[int, list[dict[str, object]]]):
    def __call__(self, rows: pa.Table, batch: int) -> None:
        self[batch] = rows.to_pylist()


def land(home: Path, name: str, *rows: tuple[str, int | None, str | None]) -> None:
    (home / "orders").mkdir(exist_ok=True)
    named = (dict(zip(("product", "value", "ts"), row, strict=True)) for row in rows)
    text = "".join(json.dumps(row) + "\n" for row in named)
    (home / "orders" / f"{name}.json").write_text(text)


def orders(spark: SparkSession, home: Path) -> DataFrame:
    read = spark.readStream.schema("product STRING, value BIGINT, ts TIMESTAMP")
    return read.json(str(home / "orders")).withWatermark("ts", "5 seconds")
