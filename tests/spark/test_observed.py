"""Spark's progress and its listeners have the metrics of each batch."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

import sqlwin.spark
from sqlwin.spark.sinks.observed import MOST, observed
from tests.support.spark_orders import GROUPED, Taken, land, orders

CHAIN = """
SELECT window_start, MAX(total) AS most
FROM TUMBLE(TABLE (SELECT product, window_start, window_time, SUM(value) AS total
                   FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
                   GROUP BY product, window_start, window_end, window_time),
            DESCRIPTOR(window_time), INTERVAL '1' HOUR)
GROUP BY window_start, window_end
"""


class Listener(StreamingQueryListener):
    """Rows of `name` that had any work, in the order of the batches."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[Row] = []
        self.ended = 0

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        metrics = event.progress.observedMetrics.get(self.name)
        if metrics is not None and metrics.rows_read:
            self.found.append(metrics)

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        self.ended += 1

    def wait(self, ended: int) -> None:
        for _ in range(600):
            if self.ended >= ended:
                return
            time.sleep(0.1)
        raise AssertionError("no query ended in a minute")


@pytest.mark.spark
@pytest.mark.long
def test_a_listener_has_the_metrics_of_each_batch(spark: SparkSession, tmp_path: Path) -> None:
    minute = "2024-01-01T09:0{}:10Z"
    land(tmp_path, "a", ("tea", 1, minute.format(0)), ("tea", 2, minute.format(2)), ("b", 7, None))
    ours, theirs = Listener("sqlwin"), Listener("totals")
    spark.streams.addListener(ours)
    spark.streams.addListener(theirs)
    try:
        query = sqlwin.spark.query(spark, GROUPED, {"orders": orders(spark, tmp_path)})
        query.to(Taken(), errors=Taken()).run(tmp_path / "state")
        land(tmp_path, "b", ("tea", 4, minute.format(0)))
        query.to(Taken(), errors=Taken()).run(tmp_path / "state")
        query.errors()
        results = query.results(observe="totals").writeStream.format("noop")
        results = results.option("checkpointLocation", str(tmp_path / "plain"))
        results.trigger(availableNow=True).start().awaitTermination()
        ours.wait(3)
        theirs.wait(3)
    finally:
        spark.streams.removeListener(ours)
        spark.streams.removeListener(theirs)
    first, second = ours.found
    assert (first.rows_read, first.rows_emitted, first.errors, first.late) == (3, 1, 1, 0)
    assert (second.rows_read, second.rows_emitted, second.errors, second.late) == (1, 1, 0, 1)
    assert second.watermarks["orders"] is not None
    (operator,) = second.operators
    assert (operator["operator"], operator["rows_in"]) == ("WindowAggregate", 1)
    assert operator["state_bytes"] > 0
    assert [each.rows_read for each in theirs.found] == [4]


@pytest.mark.spark
@pytest.mark.long
def test_a_chain_has_its_operators_from_below(spark: SparkSession, tmp_path: Path) -> None:
    land(tmp_path, "a", *(("tea", n, f"2024-01-01T1{n}:00:10Z") for n in range(3)))
    query = sqlwin.spark.query(spark, CHAIN, {"orders": orders(spark, tmp_path)})
    running = query.to(Taken()).start(tmp_path / "state", availableNow=True)
    running.awaitTermination()
    found = [each.observedMetrics["sqlwin"] for each in running.recentProgress]
    assert sum(each.rows_read for each in found) == 3
    assert [[of["operator"] for of in each.operators] for each in found] == [
        ["WindowAggregate", "WindowAggregate"] for _ in found
    ]
    assert sum(each.operators[0]["rows_in"] for each in found) == 3


def test_many_queries_of_a_script_are_not_observed() -> None:
    """Spark would analyse a plan of 1,200 such nodes for minutes, before its first batch."""
    packed: Any = object()
    program: Any = SimpleNamespace(queries=range(MOST + 1))
    assert observed(packed, program) is packed
