"""The same queries without sqlwin: Spark's own window() and a processor over rows.

Spark keeps its usual settings, but for what helps it here: as many shuffle
partitions as cores, no adaptive planning, memory for the driver, RocksDB for state.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as Spark's own documents write it
from pyspark.sql.streaming.readwriter import DataStreamWriter

from bench.data import Data
from bench.progress import COUNTED, Account
from bench.queries import (
    CHAIN,
    DELAY_SECONDS,
    GAP_SECONDS,
    JOIN,
    JOIN_SECONDS,
    LINK_SECONDS,
    OVER,
    SESSION,
    TUMBLE,
    Query,
)
from bench.row_at_a_time import OVER_OUT, TUMBLE_OUT, InPandas, InRows, Sliding, Tumbling
from bench.run import Done, RunSpec

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def run(spec: RunSpec, query: Query, data: Data) -> Done:
    spark = session(spec.cores)
    account = Account()
    spark.streams.addListener(account)
    events, *others = (read(spark, folder, spec.batch_files) for folder in data.folders)
    results = JOINS[query.name](events, *others) if others else answers(events, query, spec.way)
    counted = results.observe("answers", F.count(F.lit(1)).alias(COUNTED))
    with tempfile.TemporaryDirectory(prefix="bench-") as checkpoint:
        running = (
            _into(counted, spec.results_path)
            .outputMode("update" if spec.way == "update" else "append")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        running.awaitTermination()
        batches = account.worked()
        spark.stop()
    return Done(batches, emitted=account.counted, refused=0)


def session(cores: int) -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "6g",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.pollingDelay": "20ms",
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("bench")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def read(spark: SparkSession, folder: str, batch_files: int) -> DataFrame:
    return (
        spark.readStream.schema("key BIGINT, value BIGINT, ts TIMESTAMP")
        .option("header", "true")
        .option("maxFilesPerTrigger", batch_files)
        .csv(f"{folder}/*.csv")
        .withWatermark("ts", f"{DELAY_SECONDS} seconds")
    )


def answers(events: DataFrame, query: Query, way: str) -> DataFrame:
    if way in ("append", "update"):
        return BY_NAME[query.name](events)
    logic, out, instant = (
        (Sliding, OVER_OUT, "ms") if query is OVER else (Tumbling, TUMBLE_OUT, "start")
    )
    rows = events.select("key", "value", F.unix_millis("ts").alias("ms"), "ts").groupBy("key")
    columns = tuple(part.split()[0] for part in out.split(", "))
    if way == "pandas":
        results = rows.transformWithStateInPandas(
            InPandas(logic, columns), out, "append", "eventTime"
        )
    else:
        results = rows.transformWithState(InRows(logic, columns), out, "append", "eventTime")
    named = "ts" if query is OVER else "window_start"
    return results.withColumn(named, F.timestamp_millis(instant)).select(*query.columns)


def windowed(events: DataFrame, size: str = "1 minute") -> DataFrame:
    grouped = events.groupBy("key", F.window("ts", size, "1 minute")).agg(
        F.count(F.lit(1)).alias("n"), F.sum("value").alias("total"), F.max("value").alias("top")
    )
    return grouped.select("key", F.col("window.start").alias("window_start"), "n", "total", "top")


def sessions(events: DataFrame, gap: int = GAP_SECONDS) -> DataFrame:
    window = F.session_window("ts", f"{gap} seconds").alias("window")
    grouped = events.groupBy("key", window).agg(
        F.count(F.lit(1)).alias("n"), F.sum("value").alias("total")
    )
    return grouped.select("key", "window.start", "window.end", "n", "total").toDF(*SESSION.columns)


def chained(events: DataFrame) -> DataFrame:
    sums = events.groupBy("key", F.window("ts", f"{LINK_SECONDS} seconds").alias("link")).agg(
        F.sum("value").alias("total")
    )
    grouped = sums.groupBy("key", F.window(F.window_time("link"), "1 minute")).agg(
        F.count(F.lit(1)).alias("n"), F.sum("total").alias("total"), F.max("total").alias("top")
    )
    return grouped.select("key", F.col("window.start").alias("window_start"), "n", "total", "top")


def joined(
    events: DataFrame, others: DataFrame, before: int = 0, after: int = JOIN_SECONDS
) -> DataFrame:
    """before, after: how many seconds the second row may be apart."""
    e, o = events.alias("e"), others.alias("o")
    first = F.col("e.ts") - F.expr(f"INTERVAL {before} SECONDS")
    last = F.col("e.ts") + F.expr(f"INTERVAL {after} SECONDS")
    near = F.col("o.ts").between(first, last)
    pairs = e.join(o, (F.col("e.key") == F.col("o.key")) & near)
    return pairs.select("e.key", "e.value", "e.ts", "o.value", "o.ts").toDF(*JOIN.columns)


BY_NAME: dict[str, Callable[[DataFrame], DataFrame]] = {
    TUMBLE.name: windowed,
    SESSION.name: sessions,
    CHAIN.name: chained,
    "hop": partial(windowed, size="5 minutes"),
    "session30": partial(sessions, gap=30),
}
JOINS: dict[str, Callable[[DataFrame, DataFrame], DataFrame]] = {
    JOIN.name: joined,
    "near": partial(joined, before=10, after=10),
}


def _into(results: DataFrame, folder: Path | None) -> DataStreamWriter:
    if folder is None:
        return results.writeStream.format("noop")

    def write(batch: DataFrame, number: int) -> None:
        batch.write.mode("overwrite").parquet(str(folder / f"batch={number}"))

    return results.writeStream.foreachBatch(write)
