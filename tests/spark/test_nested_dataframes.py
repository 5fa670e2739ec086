"""Arrays, maps and structs of a streaming DataFrame, and results that hold them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from sqlwin.spark.dataframes.binding import query_over
from sqlwin.sql import script

ROWS = """\
{"id": 1, "items": [{"sku": "tea", "qty": 1}, {"sku": "tea", "qty": 4}], "m": {"a": 7}, "ts": "2024-01-01T09:00:10Z"}
{"id": 2, "items": [], "m": {}, "ts": "2024-01-01T09:00:20Z"}
{"id": 3, "items": [{"sku": "milk", "qty": 2}], "ts": "2024-01-01T09:00:30Z"}
"""  # noqa: E501
SQL = """
CREATE STREAM orders (id INT, items ARRAY<STRUCT<sku: STRING, qty: INT>>, m MAP<STRING, INT>,
  ts TIMESTAMP, WATERMARK FOR ts AS ts);
SELECT sku, SUM(qty) AS n, COLLECT_LIST(STRUCT(id, m)) AS of
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE) CROSS JOIN UNNEST(items) AS i
GROUP BY window_start, window_end, sku;
"""


@pytest.mark.long
def test_elements_of_a_dataframe(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "a.json").write_text(ROWS)
    schema = "id INT, items ARRAY<STRUCT<sku: STRING, qty: INT>>, m MAP<STRING, INT>, ts TIMESTAMP"
    frame = spark.readStream.schema(schema).json(str(tmp_path / "orders"))
    query = query_over(spark, script(SQL), {"orders": frame})
    came: list[pl.DataFrame] = []
    query.run(lambda _, what: came.append(what[0].results), tmp_path / "cp", drain=True)
    found = pl.concat(came).sort("sku").to_dicts()
    assert [(row["sku"], row["n"]) for row in found] == [("milk", 2), ("tea", 5)]
    first = {"id": 1, "m": {"a": 7}}
    assert found[1]["of"] == [first, first]
    query.errors()
    assert query.results().schema["of"].dataType.simpleString() == (
        "array<struct<id:int,m:map<string,int>>>"
    )
