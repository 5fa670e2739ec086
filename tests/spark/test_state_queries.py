"""The state of a checkpoint is queried: beside its writer, at an earlier batch, by any key."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import sqlwin
import sqlwin.spark
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import InputError, QueryError, StateError
from sqlwin.runtime.checkpoint.snapshot import Snapshot
from sqlwin.runtime.files.sealed_text import read_text, write_text
from sqlwin.spark.checkpoint.state_queries import _Batches, status
from sqlwin.spark.run import start
from sqlwin.sql import script

pytestmark = pytest.mark.spark
DECLARED = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK nowhere WITH (connector = 'none');
"""
MINUTES = """
SELECT product, COUNT(*) AS n, MEDIAN(value) AS middle
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
RETAIN INTERVAL '1' HOUR
"""
SCRIPT = f"""
SET 'batch.bytes' = 1;  -- a file each
{DECLARED}
INSERT INTO nowhere {MINUTES};
INSERT INTO nowhere SELECT product, COUNT(*) AS n FROM orders GROUP BY product;
"""
PRODUCTS = ("tea", "milk", "gin", None)


def rows(minute: int) -> list[dict[str, Any]]:
    at = f"2024-01-01T09:{minute:02}:10Z"
    return [{"product": product, "value": minute, "ts": at} for product in PRODUCTS]


def land(home: Path, minute: int) -> None:
    (home / "orders").mkdir(exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows(minute))
    (home / f".{minute}").write_text(text)
    (home / f".{minute}").replace(home / "orders" / f"{minute:02}.jsonl")


def counted(state: Snapshot) -> list[int]:
    """Orders in each minute, of those that are there."""
    found: dict[Any, int] = {}
    for row in state.windows().to_pylist():
        minute = row["window_start"].minute
        found[minute] = found.get(minute, 0) + row["n"]
    return [found[minute] for minute in sorted(found)]


@pytest.fixture(scope="module")
def checkpoint(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of five batches, a minute each."""
    home = tmp_path_factory.mktemp("queried")
    for minute in range(5):
        land(home, minute)
    sqlwin.spark.query(spark, SCRIPT).run(home, checkpoint=home / "state")
    return home / "state"


@pytest.fixture
def in_process() -> EmbeddedQuery:
    query = sqlwin.query(DECLARED.split("WITH")[0] + ";" + MINUTES)
    for minute in range(5):
        query.push("orders", rows(minute))
    return query


def test_it_is_queried_as_a_query_in_process(
    spark: SparkSession, checkpoint: Path, in_process: Any
) -> None:
    state = sqlwin.spark.state(spark, checkpoint)
    offsets = ["first_offset", "last_offset"]  # of files, and of rows pushed
    since = "2024-01-01T09:01:30Z"
    for of in (
        lambda q: q.windows(),
        lambda q: q.windows(since, key=("tea",)),
        *map(fetch, PRODUCTS),
    ):
        assert of(state).drop_columns(offsets).equals(of(in_process).drop_columns(offsets))
    for key, count in ((None, 12), ("tea", 3)):
        messages = [of.messages(since, key=key) for of in (state, in_process)]
        known = [of.select(["product", "value", "event_time"]).to_pylist() for of in messages]
        assert [len(each) for each in known] == [count, count]
        assert all(row in known[1] for row in known[0])


def fetch(product: str | None) -> Callable[[Any], pa.Table]:
    return lambda of: of.fetch(product)


def test_the_status_is_read_without_spark(checkpoint: Path) -> None:
    lines = status(checkpoint)
    found = {(what, of): value for what, of, value in lines}
    size = (checkpoint.parent / "orders" / "04.jsonl").stat().st_size
    assert (found["engine", ""], found["batch", ""]) == ("spark", "4")
    assert found["watermark", "orders"].startswith("2024-01-01T09:04:")
    assert found["input", "orders orders/04.jsonl"] == f"{size} bytes"
    assert len([line for line in lines if line[0] == "input"]) == 5


@pytest.mark.long
def test_the_windows_of_a_join(spark: SparkSession, tmp_path: Path) -> None:
    others = DECLARED.split("CREATE SINK")[0].replace("orders (product", "sales (product")
    join = """SELECT o.product, s.value FROM orders o LEFT JOIN sales s WITHIN 1 MINUTE
        ON o.product = s.product AND o.value = s.value"""
    for minute in range(2):
        land(tmp_path, minute)
    text = f"{DECLARED}{others} INSERT INTO nowhere {join};"
    sqlwin.spark.query(spark, text).run(tmp_path, checkpoint=tmp_path / "state")
    state = sqlwin.spark.state(spark, tmp_path / "state")
    listed = state.windows("2024-01-01T09:02:00Z", key=("tea", 1))
    assert [(row["side"], row["rows"]) for row in listed.to_pylist()] == [
        ("left", 1),
        ("right", 1),
    ]
    assert state.windows().num_rows == 16


@pytest.mark.long
def test_an_earlier_batch_while_it_is_retained(spark: SparkSession, checkpoint: Path) -> None:
    kept = _Batches(checkpoint / "spark").retained()
    assert kept[-1] == 4
    for batch in kept:
        assert counted(sqlwin.spark.state(spark, checkpoint, as_of=batch)) == [4] * (batch + 1)
    with pytest.raises(InputError, match=rf"batch 9 is not retained; there are {kept[0]} to 4"):
        sqlwin.spark.state(spark, checkpoint, as_of=9)


@pytest.mark.long
def test_stores_records_and_sql(spark: SparkSession, checkpoint: Path) -> None:
    state = sqlwin.spark.state(spark, checkpoint)
    known = {row["name"]: row for row in state.stores().to_pylist()}
    assert [known[name]["rows"] for name in ("panes", "messages", "revisions")] == [20, 20, 0]
    assert known["panes"]["buckets"] == 2
    assert known["panes"]["layout"].startswith("(product, __pane) → __first, __last, __rows")
    assert state.records("messages").num_rows == 20
    with pytest.raises(
        InputError, match="no store is called 'pane'; there are panes, revisions, m"
    ):
        state.records("pane")
    found = state.sql("SELECT product, SUM(__rows) AS n FROM panes GROUP BY 1 ORDER BY 1")
    assert found["n"].to_pylist() == [5, 5, 5, 5]
    with pytest.raises(QueryError, match="name pans does not exist"):
        state.sql("SELECT * FROM pans")


@pytest.mark.long
def test_which_query_and_which_checkpoint(spark: SparkSession, checkpoint: Path) -> None:
    whole = sqlwin.spark.state(spark, checkpoint, query=1)
    assert whole.fetch("tea")["n"].to_pylist() == [5]
    with pytest.raises(InputError, match="no query 2: the script has 0 to 1"):
        sqlwin.spark.state(spark, checkpoint, query=2)
    with pytest.raises(InputError, match="is no checkpoint of sqlwin"):
        sqlwin.spark.state(spark, checkpoint / "spark")


@pytest.mark.long
def test_a_checkpoint_that_has_not_the_text(spark: SparkSession, checkpoint: Path) -> None:
    text = checkpoint / "sqlwin" / "query.json"
    kept, written = text.read_bytes(), read_text(text)
    assert written is not None
    text.unlink()
    try:
        with pytest.raises(StateError, match="does not have the query's text"):
            sqlwin.spark.state(spark, checkpoint)
        write_text(text, written.replace("MEDIAN", "AVG"))
        with pytest.raises(StateError, match="means something else to this release"):
            sqlwin.spark.state(spark, checkpoint)
    finally:
        text.write_bytes(kept)


@pytest.mark.long
def test_beside_a_running_writer(spark: SparkSession, tmp_path: Path) -> None:
    """Each answer is of one batch: whole minutes, never fewer than before."""
    land(tmp_path, 0)
    state = tmp_path / "state"
    running = start(spark, script(SCRIPT), state, lambda *_: None, tmp_path, follow=True)
    try:
        while not (state / "spark" / "commits" / "0").exists():
            time.sleep(0.1)
        seen = []
        for minute in range(1, 4):
            land(tmp_path, minute)
            seen.append(counted(sqlwin.spark.state(spark, state)))
        running.processAllAvailable()
        seen.append(counted(sqlwin.spark.state(spark, state)))
        assert running.exception() is None
    finally:
        running.stop()
    assert all(each == [4] * len(each) for each in seen), seen
    assert [len(each) for each in seen] == sorted(len(each) for each in seen)
    assert len(seen[-1]) == 4
    assert counted(sqlwin.spark.state(spark, state)) == [4] * 4  # stopped


@pytest.mark.long
def test_a_query_over_dataframes(spark: SparkSession, tmp_path: Path) -> None:
    land(tmp_path, 0)
    read = spark.readStream.schema("product string, value long, ts timestamp")
    sql = DECLARED.split("WITH")[0] + ";" + MINUTES
    query = sqlwin.spark.query(spark, sql, {"orders": read.json(str(tmp_path / "orders"))})
    checkpoint = str(tmp_path / "checkpoint")
    assert query.errors().isStreaming
    writer = query.results().writeStream.format("noop").option("checkpointLocation", checkpoint)
    writer.trigger(availableNow=True).start().awaitTermination()
    assert query.state(checkpoint).fetch("tea")["n"].to_pylist() == [1]
    assert counted(query.state(checkpoint)) == [4]
