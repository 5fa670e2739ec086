"""Processing time as a value of rows, on Spark: that of the offset, also after a kill."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

import sqlwin.spark
from sqlwin.errors import InputError, RunError
from sqlwin.runtime.files.pieces import pieces
from sqlwin.spark.run import start
from sqlwin.spark.sinks.delivery import QueryBatch
from sqlwin.spark.sources.read import Reading, packed
from sqlwin.spark.stages.bucket import work
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import RESULTS
from sqlwin.spark.stages.wire import decode
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs
from tests.faults.spark_kills import Kill, Run
from tests.support.embedded.runs import land

STREAM = """
CREATE STREAM orders (value BIGINT, ts TIMESTAMP)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
"""
SINK = """
SET 'batch.bytes' = 100;
CREATE SINK totals WITH (connector = 'files', path = '{out}/totals', format = 'json');
"""
SEEN = "SELECT value, NOW() AS seen, UNIX_MICROS(CURRENT_TIMESTAMP) AS micros FROM orders"


def through(program: Program, reading: Reading) -> pl.DataFrame:
    """What the buckets say of a batch, the lower stages first; no JVM takes part."""
    came = list(packed(reading))
    for stage in sorted(range(len(program.lowered)), key=lambda stage: program.levels[stage]):
        for label in program.labels[stage]:
            own = [row for row in came if (row.query, row.bucket) == (stage, label)]
            came = [row for row in came if row not in own]
            came += work(program, stage, label, own, DictBlobs())
    shown = [decode(row.payload) for row in came if row.kind == RESULTS]
    return pl.concat(shown).sort("row_key")


@pytest.mark.parametrize(
    "query",
    [
        f"{SEEN} WHERE NOW() < TIMESTAMP '1970-01-01 00:01:00Z'",
        f"SELECT * FROM ({SEEN} UNION ALL {SEEN}) WHERE micros = UNIX_MICROS(NOW())",
    ],
)
def test_every_stage_has_the_time_of_the_offset(tmp_path: Path, query: str) -> None:
    """Whenever, and however often, a task reads its share of the batch."""
    land(tmp_path, "1", "09:00:10", 1)
    (piece,) = pieces(str(tmp_path / "orders" / "1.jsonl"), "json", 1 << 20)
    program = Program(script(STREAM + query).queries, 2, 2)
    reading = Reading(program.dump(), ((0, 0, piece),), {}, 17_000_000, False, True)
    first, again = through(program, reading), through(program, reading)
    assert first.equals(again)
    assert {*first["micros"].to_list()} == {17_000_000}
    assert len(first) == 1 + ("UNION" in query)


def times(checkpoint: Path) -> set[int]:
    """The clock of each batch that was planned, by the offsets that Spark has logged."""
    found = set()
    for log in (checkpoint / "spark" / "offsets").iterdir():
        if log.name.isdecimal():
            *_, offset = log.read_text().splitlines()
            found.add(int(json.loads(offset)["now"]))
    return found


@pytest.mark.spark
def test_a_batch_that_failed_has_its_time_again(spark: SparkSession, tmp_path: Path) -> None:
    land(tmp_path, "1", "09:00:10", 1)
    land(tmp_path, "2", "09:00:20", 2)
    tries: list[pl.DataFrame] = []

    def once(_: int, came: dict[int, QueryBatch]) -> None:
        tries.append(came[0].results.sort("row_key"))
        if len(tries) == 1:
            raise RunError("the disk is full")

    plan, kept = script(STREAM + SEEN), tmp_path / "kept"
    with pytest.raises(Exception, match="the disk is full"):
        start(spark, plan, kept, once, tmp_path, end=True).awaitTermination()
    start(spark, plan, kept, once, tmp_path, end=True).awaitTermination()
    before, after = tries
    assert before.equals(after)
    assert {*after["micros"].to_list()} == times(kept)


@pytest.mark.spark
def test_over_dataframes_it_is_spark_that_has_the_time(spark: SparkSession, tmp_path: Path) -> None:
    plain = spark.createDataFrame([], "value BIGINT, ts TIMESTAMP")
    plain.write.parquet(str(tmp_path / "orders"))
    stream = spark.readStream.schema(plain.schema).parquet(str(tmp_path / "orders"))
    text = f"CREATE STREAM orders (value BIGINT, ts TIMESTAMP); {SEEN}"
    with pytest.raises(InputError, match=r"NOW\(\), .* current_timestamp\(\)\), and declare"):
        sqlwin.spark.query(spark, text, {"orders": stream})


class Seen(Run):
    """Rows with the time of their batch, into a file sink."""

    def command(self, engine: str, out: str, *more: str) -> list[str]:
        text = STREAM + SINK.format(out=out) + "INSERT INTO totals " + SEEN
        (self.home / f"{out}.sql").write_text(text)
        run = [sys.executable, "-m", "sqlwin.cli", "run", str(self.home / f"{out}.sql")]
        return [*run, "--engine", engine, *more]


@pytest.mark.long
@pytest.mark.spark(processes=True)
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("place", "nth"), [("kept/spark/offsets", 3), ("cut/totals", 2)])
def test_a_batch_that_was_killed_has_its_time_again(tmp_path: Path, place: str, nth: int) -> None:
    """Killed once its offset is logged, or its part of the sink is there; there are three batches,
    so one is to come even where the name of an unfinished part was seen by nobody."""
    for at in range(6):
        land(tmp_path, str(at), f"09:00:{at:02}", at)
    run = Seen(tmp_path, seed=1)
    assert not run.ends([Kill("all", place, nth, 0.0)])
    planned = times(tmp_path / "kept")
    assert run.ends([])
    for session in run.sessions:
        run.clear(session)
    assert planned <= times(tmp_path / "kept")
    parts = sorted((tmp_path / "cut" / "totals").glob("*.jsonl"))
    rows = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
    assert sorted(row["value"] for row in rows) == list(range(6))
    assert {row["micros"] for row in rows} <= times(tmp_path / "kept")
    assert planned & {row["micros"] for row in rows}
