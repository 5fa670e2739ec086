"""Folders whose names are columns, read and written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from sqlwin.embedded import run as embedded
from sqlwin.errors import RunError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.facts import sources_of
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.partitioned_files import PartitionedFiles
from sqlwin.runtime.files.source import read
from sqlwin.sql import script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RIDES = """
CREATE TABLE rides (day DATE, fare INT, zone STRING) PARTITIONED BY (day, zone)
WITH ('connector' = 'files', 'path' = 'rides', 'format' = '{format}');
"""
ROUND = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (path = 'orders/*.jsonl');
CREATE SINK totals PARTITIONED BY (window_start, product)
WITH (connector = 'files', path = 'totals', format = 'csv', changelog = 'append');
INSERT INTO totals SELECT product, window_start, SUM(value) AS total, window_end
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end EMIT LATE NEVER;
"""
AGAIN = """
CREATE STREAM totals (total BIGINT, window_end TIMESTAMP)
PARTITIONED BY (window_start TIMESTAMP, product STRING)
WITH (connector = 'files', path = 'totals', format = 'csv');
SELECT product, window_start, total FROM totals;
"""


def ride(folder: Path, format_: str, *fares: int | str) -> str:
    folder.mkdir(parents=True)
    path = folder / f"a.{format_}"
    if format_ == "parquet":
        pl.DataFrame({"fare": fares}, schema={"fare": pl.Int32}).write_parquet(path)
    elif format_ == "csv":
        path.write_text("\n".join(["fare", *map(str, fares)]) + "\n", "utf-8")
    else:
        path.write_text("".join(json.dumps({"fare": fare}) + "\n" for fare in fares), "utf-8")
    return str(path)


def _stream(format_: str) -> Stream:
    (query,) = script(RIDES.format(format=format_) + "SELECT * FROM rides").queries
    (stream,) = sources_of(query.plan)
    return stream


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
def test_a_folder_is_a_column_of_each_row(tmp_path: Path, format_: str) -> None:
    path = ride(tmp_path / "zone=a%2Fb" / "DAY=2024-01-31", format_, 3, 4)
    came = read(path, 0, _stream(format_))
    assert came.rows.columns[:3] == ["day", "fare", "zone"]
    assert [(str(day), fare, zone) for day, fare, zone, *_ in came.rows.rows()] == [
        ("2024-01-31", 3, "a/b"),
        ("2024-01-31", 4, "a/b"),
    ]
    null = ride(tmp_path / "day=__HIVE_DEFAULT_PARTITION__" / "zone=", format_, 5)
    assert read(null, 1, _stream(format_)).rows.select("day", "fare", "zone").rows() == [
        (None, 5, None)
    ]


def test_a_folder_of_no_date_makes_its_rows_malformed(tmp_path: Path) -> None:
    path = ride(tmp_path / "day=someday" / "zone=a", "json", 3, "x", 4)
    came = read(path, 0, _stream("json"))
    assert came.rows.is_empty()
    reasons = came.errors["reason"].to_list()
    assert ["day" in reason for reason in reasons] == [True, False, True]
    assert came.errors["row"][0] == '{"fare": 3}'


def test_a_file_in_no_folder_is_refused(tmp_path: Path) -> None:
    path = ride(tmp_path / "day=2024-01-31", "json", 3)
    with pytest.raises(RunError, match="is in no folder zone="):
        read(path, 0, _stream("json"))


def test_a_batch_that_is_written_again_is_there_once(tmp_path: Path) -> None:
    def written(sink: PartitionedFiles, batch: int, *rows: tuple[str | None, int]) -> None:
        schema = {"zone": pl.String, "fare": pl.Int64}
        sink.write(batch, pl.DataFrame(rows, schema=schema, orient="row"))

    def there() -> dict[str, str]:
        files = (each for each in tmp_path.rglob("*") if each.is_file())
        return {f"{e.relative_to(tmp_path)}": e.read_text("utf-8") for e in files}

    def sink() -> PartitionedFiles:
        return PartitionedFiles(tmp_path, "json", names=("zone",))

    first = sink()
    written(first, 1, ("a", 1), ("b", 2), ("a", 3), (None, 4))
    written(first, 2, ("c", 5))
    assert there() == {
        "zone=a/part-00000001.jsonl": '{"fare": 1}\n{"fare": 3}\n',
        "zone=b/part-00000001.jsonl": '{"fare": 2}\n',
        "zone=__HIVE_DEFAULT_PARTITION__/part-00000001.jsonl": '{"fare": 4}\n',
        "zone=c/part-00000002.jsonl": '{"fare": 5}\n',
    }
    (tmp_path / "zone=b" / ".part-00000001.jsonl.77").write_text("half")
    written(sink(), 1, ("b", 6))
    assert there() == {"zone=b/part-00000001.jsonl": '{"fare": 6}\n'}
    again = sink()
    written(again, 2, ("a", 7))
    written(again, 2, ("c", 8))  # the batch failed, and runs again in this process
    assert there() == {
        "zone=b/part-00000001.jsonl": '{"fare": 6}\n',
        "zone=c/part-00000002.jsonl": '{"fare": 8}\n',
    }


def check(home: Path, run: Callable[[str, RunOptions], Any]) -> None:
    """What is written is read by the declaration that names the same folders."""
    (home / "orders").mkdir()
    for number, (second, product, value) in enumerate(
        [(0, "tea", 1), (59, "a/b", 2), (60, "tea", 3), (200, "tea", 4)]
    ):
        row = {"product": product, "value": value, "ts": f"2024-01-01T09:0{second // 60}:00Z"}
        (home / "orders" / f"{number}.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    run(ROUND, RunOptions(home, home / "state", drain=True))
    folders = sorted(str(each.relative_to(home / "totals")) for each in home.rglob("product=*"))
    assert folders[0] == "window_start=2024-01-01T09%3A00%3A00Z/product=a%2Fb"
    shown: list[pl.DataFrame] = []
    run(AGAIN, RunOptions(home, home / "again", drain=True, show=shown.append))
    rows = pl.concat(shown).select("product", "total", pl.col("window_start").dt.minute()).rows()
    assert sorted(rows) == [("a/b", 2, 0), ("tea", 1, 0), ("tea", 3, 1), ("tea", 4, 3)]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    check(tmp_path, lambda text, options: embedded.run(script(text), options))


@pytest.mark.long
@pytest.mark.spark
def test_what_is_written_is_read_on_spark(tmp_path: Path, spark: SparkSession) -> None:
    from sqlwin.spark.run import run

    check(tmp_path, lambda text, options: run(script(text), options, spark))
