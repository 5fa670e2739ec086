"""Static tables on Spark: from files, and from a DataFrame that is not streaming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import DataFrame, SparkSession

import sqlwin.spark
from sqlwin.errors import InputError
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.spark.run import run
from sqlwin.sql import script
from tests.support.embedded.tables import QUERY, SALES, SCRIPT, TABLE, land, product, sale

pytestmark = pytest.mark.spark


def got(shown: list[pl.DataFrame]) -> list[tuple[Any, ...]]:
    return sorted(row for part in shown for row in part.select("n", "maker").rows())


@pytest.mark.long
def test_all_files_of_a_table_are_read_first_and_once(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"tea {n}" for n in range(8)]
    for name in names:
        land(tmp_path, "products", name, product(name, name.upper()))
    land(tmp_path, "sales", "1", *(sale(name, n) for n, name in enumerate(names)))
    shown: list[pl.DataFrame] = []
    options = RunOptions(tmp_path, tmp_path / "checkpoint", show=shown.append)
    run(script("SET batch.bytes = 1;\n" + SCRIPT), options, spark)
    assert got(shown) == [(n, name.upper()) for n, name in enumerate(names)]
    land(tmp_path, "products", "more", product("tea 0", "another"))
    land(tmp_path, "sales", "2", sale("tea 0", 8), sale("milk", 9))
    run(script("SET batch.bytes = 1;\n" + SCRIPT), options, spark)
    assert got(shown[1:])[-2:] == [(8, "TEA 0"), (9, None)]


def test_a_table_is_a_dataframe_that_is_not_streaming(spark: SparkSession, tmp_path: Path) -> None:
    products = spark.createDataFrame(
        [("tea", "Ann"), ("milk", "Ben")], "product string, maker string"
    )
    (tmp_path / "sales").mkdir()
    rows = [sale("tea", 1), sale("rice", 2), sale("milk", 3)]
    (tmp_path / "sales" / "1.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    schema = "product string, n bigint, ts timestamp"
    sales = spark.readStream.schema(schema).json(str(tmp_path / "sales"))
    text = "\n".join([TABLE.format(files=""), SALES.format(files=""), QUERY])
    query = sqlwin.spark.query(spark, text, {"sales": sales, "products": products})
    found: list[tuple[int, str | None]] = []

    def tell(frame: DataFrame, batch: int) -> None:
        found.extend((row.n, row.maker) for row in frame.collect())

    assert query.errors().isStreaming
    written = query.results().writeStream.foreachBatch(tell)
    written = written.option("checkpointLocation", str(tmp_path / "checkpoint"))
    written.trigger(availableNow=True).start().awaitTermination()
    assert sorted(found) == [(1, "Ann"), (2, None), (3, "Ben")]
    with pytest.raises(InputError, match="table products is streaming"):
        sqlwin.spark.query(spark, text, {"sales": sales, "products": sales})
