from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import polars as pl
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

import sqlwin.spark
from sqlwin.embedded.output_buffer import fold
from sqlwin.embedded.run import run as embedded
from sqlwin.errors import InputError, RunError
from sqlwin.plan.ir.statements import Script, Sink
from sqlwin.policies import Late, Policy
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.lowering.input_pipeline import InputPipeline
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.rows.error_stream import no_rejects
from sqlwin.runtime.tasks.task import Task
from sqlwin.schema import PART, SEQ
from sqlwin.spark.dataframes.binding import query_over
from sqlwin.spark.run import run, start
from sqlwin.spark.sinks.delivery import QueryBatch
from sqlwin.spark.sources.step_source import Step, StepSource
from tests.support.spark.scripts import orders, script, sliding, tumble

pytestmark = pytest.mark.spark
START = datetime(2024, 1, 1, tzinfo=timezone.utc)
JSON = Sink("out", None, (("connector", "files"), ("format", "json"), ("path", "out")))


def rows(first: int, count: int, step: int = 7) -> pl.DataFrame:
    at = range(first, first + count)
    return pl.DataFrame(
        {
            "product": [f"p{i % 5}" for i in at],
            "value": list(at),
            "ts": [START + timedelta(seconds=step * i) for i in at],
        },
        schema_overrides={"ts": pl.Datetime("us", "UTC")},
    )


def write(folder: Path, name: str, frame: pl.DataFrame) -> None:
    folder.mkdir(exist_ok=True)
    text = frame.with_columns(pl.col("ts").dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    text.write_csv(folder / name)


def expected(frame: pl.DataFrame) -> list[tuple[str, datetime, int, int]]:
    window = pl.col("ts").dt.truncate("1m").alias("window_start")
    grouped = frame.group_by("product", window).agg(pl.len().alias("n"), pl.col("value").sum())
    return sorted(grouped.rows())


def got(results: list[pl.DataFrame]) -> list[tuple[str, datetime, int, int]]:
    last = fold(pl.concat(results))
    return sorted(last.select("product", "window_start", "n", "total").rows())


def test_a_run_without_checkpoint_ends_drained(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "orders", "a.csv", rows(0, 100))
    write(tmp_path / "orders", "b.csv", rows(100, 100))
    shown: list[pl.DataFrame] = []
    summary = run(script(tumble(orders())), RunOptions(tmp_path, show=shown.append), spark)
    assert got(shown) == expected(rows(0, 200))
    assert (summary.read, summary.batches) == (200, 1)


@pytest.mark.long
def test_sessions_beside_one_another(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "orders", "a.csv", rows(0, 50))
    for session in (spark.newSession(), spark.newSession()):
        session.createDataFrame([(1,)], "a INT").count()  # the active one, from here on
        for one in (spark, session, spark.newSession()):
            shown: list[pl.DataFrame] = []
            run(script(tumble(orders())), RunOptions(tmp_path, show=shown.append), one)
            assert got(shown) == expected(rows(0, 50))


def test_a_checkpoint_goes_on_and_drains(spark: SparkSession, tmp_path: Path) -> None:
    shown: list[pl.DataFrame] = []
    options = RunOptions(tmp_path, checkpoint=tmp_path / "checkpoint", show=shown.append)
    write(tmp_path / "orders", "a.csv", rows(0, 100))
    first = run(script(tumble(orders())), options, spark)
    open_windows = expected(rows(0, 200))
    assert len(got(shown)) < len(expected(rows(0, 100)))
    write(tmp_path / "orders", "b.csv", rows(100, 100))
    drained = RunOptions(tmp_path, tmp_path / "checkpoint", drain=True, show=shown.append)
    second = run(script(tumble(orders())), drained, spark)
    assert got(shown) == open_windows
    assert (first.read, second.read) == (100, 100)
    assert all(pl.concat(shown)["revision"] == 0)


@pytest.mark.long
def test_a_batch_that_failed_runs_again_the_same(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "orders", "a.csv", rows(0, 100))
    plan = script(tumble(orders()))
    tries: list[tuple[int, pl.DataFrame]] = []

    def once(batch: int, came: dict[int, QueryBatch]) -> None:
        tries.append((batch, came[0].results.sort("row_key")))
        if len(tries) == 1:
            raise RunError("the disk is full")

    with pytest.raises(Exception, match="the disk is full"):
        start(spark, plan, tmp_path / "cp", once, tmp_path, end=True).awaitTermination()
    start(spark, plan, tmp_path / "cp", once, tmp_path, end=True).awaitTermination()
    (first, before), (second, after) = tries
    assert first == second == 1
    assert before.equals(after)


def test_files_sinks_and_the_error_stream(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "orders", "a.csv", rows(0, 50))
    with (tmp_path / "orders" / "a.csv").open("a") as file:
        file.write("p1,many,2024-01-01T00:00:00Z\n")
    refused: list[pl.DataFrame] = []
    run(script(tumble(orders(), sink=JSON)), RunOptions(tmp_path, on_errors=refused.append), spark)
    (out,) = (tmp_path / "out").glob("*.jsonl")
    assert len(pl.read_ndjson(out)) == len(expected(rows(0, 50)))
    assert "many" in pl.concat(refused)["reason"][0]


@pytest.mark.long
def test_a_feed_drives_many_queries_as_in_process(spark: SparkSession, tmp_path: Path) -> None:
    plan = script(*[tumble(orders()), sliding(orders())] * 5)
    source = StepSource(str(tmp_path / "feed"))
    stepped = list(steps())
    for step in stepped:
        source.add(dict.fromkeys(range(10), step))
    came: list[dict[int, QueryBatch]] = []
    running = start(
        spark,
        plan,
        tmp_path / "cp",
        lambda batch, what: came.append(what),
        tmp_path / "feed",
        input="steps",
        buckets=2,
    )
    running.awaitTermination()
    assert len(came) == len(stepped)
    for query in range(10):
        for number, (results, errors) in enumerate(in_process(plan, query, stepped)):
            what = came[number][query]
            assert what.results.sort("row_key", "revision").equals(results), (query, number)
            assert what.errors.sort("row").equals(errors), (query, number)


def steps() -> Iterator[Step]:
    late, expired = rows(85, 5), rows(0, 3)
    yield Step(now=0, rows=rows(0, 100))
    yield Step(now=1_000_000, rows=late, first=1_000)
    yield Step(now=5_000_000, rows=expired, first=2_000)
    yield Step(now=30_000_000)
    yield Step(now=31_000_000, watermark=int(START.timestamp() * 1e6) + 3_600_000_000)
    yield Step(now=32_000_000, end=True)


def placed(frame: pl.DataFrame, first: int) -> pl.DataFrame:
    seq = pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias(SEQ)
    return frame.with_columns(pl.lit(0, pl.Int32).alias(PART), seq)


def in_process(
    plan: Script, query: int, stepped: list[Step]
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    lowered = lower(plan.queries[query])
    pipeline, task = InputPipeline(lowered), Task(lowered)
    for step in stepped:
        given = [] if step.rows is None else [placed(step.rows, step.first)]
        taken = [pipeline.process(each, task.clock.of("orders")) for each in given]
        marks = {"orders": taken[0].marks} if taken else {}
        raised = None if step.watermark is None else {"orders": step.watermark}
        output = task.take({0: [each.rows for each in taken]}, marks, step.now, step.end, raised)
        errors = pl.concat([no_rejects(), *(each.errors for each in taken)])
        yield output.results.sort("row_key", "revision"), errors.sort("row")


@pytest.mark.long
def test_streaming_dataframes_in_and_out(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "orders", "a.csv", rows(0, 100))
    frame = spark.readStream.schema("product STRING, value BIGINT, ts TIMESTAMP").csv(
        str(tmp_path / "orders"), header=True
    )
    query = query_over(spark, script(tumble(orders())), {"orders": frame})
    came: list[pl.DataFrame] = []
    query.run(lambda _, what: came.append(what[0].results), tmp_path / "cp", drain=True)
    assert got(came) == expected(rows(0, 100))
    assert query.errors().isStreaming
    out = query.results().writeStream.format("memory").queryName("out").outputMode("append")
    out.option("checkpointLocation", str(tmp_path / "cp2")).trigger(
        availableNow=True
    ).start().awaitTermination()
    table = spark.table("out")
    assert table.columns == [
        "product", "window_start", "window_end", "n", "total",
        "op", "emit", "revision", "row_key",
    ]  # fmt: skip
    assert 0 < table.count() < len(expected(rows(0, 100)))
    other = replace(query, script=replace(query.script, settings=(("buckets", "3"),)))
    assert other.errors().isStreaming
    again = other.results().writeStream.format("noop")
    again = again.option("checkpointLocation", str(tmp_path / "cp2")).trigger(availableNow=True)
    with pytest.raises(StreamingQueryException, match="the checkpoint has 2 buckets on 2 shuffle"):
        again.start().awaitTermination()


@pytest.mark.long
def test_batches_of_dataframes_are_numbered_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    """Ticks come now and then, so they do not count: a sink would replace one by the other."""
    for name in "abc":
        write(tmp_path / "orders", f"{name}.csv", rows(0, 10))
    one = spark.readStream.option("maxFilesPerTrigger", 1).option("header", True)
    frame = one.schema("product STRING, value BIGINT, ts TIMESTAMP").csv(str(tmp_path / "orders"))
    query = query_over(spark, script(tumble(orders())), {"orders": frame})
    numbers: list[int] = []
    query.run(lambda batch, _: numbers.append(batch), tmp_path / "cp")
    assert numbers == [1, 2, 3]
    assert not (tmp_path / "cp" / "sqlwin" / "progress").exists(), "nobody reads it"


SQL = """
    CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
    SELECT product, window_start, SUM(value) AS total
    FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY product, window_start;
"""


def test_a_query_is_sql_over_streaming_dataframes(spark: SparkSession, tmp_path: Path) -> None:
    plain = spark.createDataFrame([], "product STRING, value BIGINT, ts TIMESTAMP")
    plain.write.parquet(str(tmp_path / "orders"))
    stream = spark.readStream.schema(plain.schema).parquet(str(tmp_path / "orders"))
    query = sqlwin.spark.query(spark, SQL, {"orders": stream})
    with pytest.warns(sqlwin.spark.UnreadErrors, match="malformed, expired or without event time"):
        assert query.results().isStreaming
    assert query.results().columns[:3] == ["product", "window_start", "total"]
    assert query.errors().columns[:2] == ["stream", "reason"]
    both = sqlwin.spark.query(spark, SQL, {"orders": stream})
    assert both.errors().isStreaming == both.results().isStreaming  # and nothing is warned
    assert query._program.buckets == 2
    several = sqlwin.spark.query(spark, "SET 'buckets' = 5;" + SQL, {"orders": stream})
    assert several._program.buckets == 5
    with pytest.raises(InputError, match="is one SELECT, the script has 2"):
        sqlwin.spark.query(spark, SQL + "SELECT value FROM orders", {"orders": stream})
    with pytest.raises(InputError, match="no DataFrame for orders"):
        sqlwin.spark.query(spark, SQL, {"shipments": stream})
    with pytest.raises(InputError, match="is not streaming"):
        sqlwin.spark.query(spark, SQL, {"orders": plain})
    with pytest.raises(InputError, match="has no column product"):
        sqlwin.spark.query(spark, SQL, {"orders": stream.drop("product")}).results()


@pytest.mark.long
def test_state_outlives_the_cache(spark: SparkSession, tmp_path: Path) -> None:
    from sqlwin.spark.stages.segment_cache import default_folder

    shown: list[pl.DataFrame] = []
    options = RunOptions(tmp_path, tmp_path / "checkpoint", show=shown.append)
    write(tmp_path / "orders", "a.csv", rows(0, 100))
    run(script(sliding(orders())), options, spark)
    shutil.rmtree(default_folder(), ignore_errors=True)
    write(tmp_path / "orders", "b.csv", rows(100, 5))
    drained = RunOptions(tmp_path, tmp_path / "checkpoint", drain=True, show=shown.append)
    run(script(sliding(orders())), drained, spark)
    assert len(fold(pl.concat(shown))) == 105


@pytest.mark.long
def test_following_ticks_when_a_correction_is_due(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "orders", "a.csv", rows(0, 100))
    late = Policy(retain=600_000_000, late=Late.EVERY, late_period=1_000_000)
    came: list[pl.DataFrame] = []
    running = start(
        spark,
        script(tumble(orders(), late=late)),
        tmp_path / "cp",
        lambda _, what: came.append(what[0].results),
        tmp_path,
        follow=True,
    )
    try:
        wait(lambda: len(came) == 1)
        write(tmp_path / "orders", "b.csv", rows(80, 2))
        wait(lambda: len(came) == 3)
    finally:
        running.stop()
    _, pending, corrected = came
    assert pending.is_empty()
    assert set(corrected["emit"]) == {"late"}


@pytest.mark.long
def test_a_bounded_run_sends_corrections_that_are_due(spark: SparkSession, tmp_path: Path) -> None:
    """As in process, where the last thing a run does is to look at the clock."""
    late = Policy(retain=600_000_000, late=Late.EVERY, late_period=1_000_000)
    plan = replace(script(tumble(orders(), late=late)), settings=(("batch.bytes", "1"),))
    write(tmp_path / "orders", "a.csv", rows(0, 100))
    write(tmp_path / "orders", "b.csv", rows(80, 2))
    emissions: dict[str, list[pl.DataFrame]] = {"spark": [], "embedded": []}
    for engine, shown in emissions.items():
        options = RunOptions(tmp_path, tmp_path / engine, show=shown.append)
        for _ in range(2):
            run(plan, options, spark) if engine == "spark" else embedded(plan, options)
            time.sleep(1)
    both = [pl.concat(shown).sort("row_key", "revision") for shown in emissions.values()]
    assert both[0].equals(both[1])
    assert "late" in both[0]["emit"].to_list()


def wait(until: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        time.sleep(0.05)
    assert until()
