"""The state that EXPLAIN expects against the state that a run has, within a factor of two."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.operators.load import NOT_ESTIMATED, Load
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.checkpoint.task_state import METADATA
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.size.estimate import Held, expected
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.segments.codec import decode_segment, encode_segment

STORES = {"rows", "messages", "seen", "panes", "sessions", "revisions", "history", "base"}
STORES |= {"past", "ring", "last", "counts", "sums", "top", "rankings", "ttl_entries"}
KEYS, BATCHES = 200, 60
HOURS, RATE = 2.5, 5.0  # of event time; rows a second
LONG = {"over newest rows": (16.0, 1.0)}
"""Where slices are of six hours, since no retention says how long they may be."""
START_S = 1_704_067_200

STREAM = """
CREATE STREAM events (
  key BIGINT, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM numbered (
  id BIGINT, key BIGINT, value BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, OFFSET id);
"""
KEPT = "EMIT LATE ON UPDATE RETAIN INTERVAL '20' MINUTE"
GROUPED = "GROUP BY key, window_start, window_end"
QUERIES = {
    "relation": """
    SELECT key, value FROM events [RANGE 20 MINUTES]""",
    "last rows": """
    SELECT key, value FROM events [PARTITION BY key ROWS 10]""",
    "tumbling": f"""
    SELECT key, window_start, COUNT(*) AS n, SUM(value) AS total
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE) {GROUPED} {KEPT}""",
    "hopping": f"""
    SELECT key, window_start, COUNT(*) AS n, MAX(value) AS top
    FROM HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '1' HOUR)
    {GROUPED} {KEPT}""",
    "without keys": f"""
    SELECT window_start, COUNT(*) AS n
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY window_start, window_end {KEPT}""",
    "messages": f"""
    SELECT key, window_start, MEDIAN(value) AS mid
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTE) {GROUPED} {KEPT}""",
    "newest rows": f"""
    SELECT key, window_start, COUNT(*) AS n
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE) {GROUPED}
    EMIT LATE ON UPDATE RETAIN 30 ROWS""",
    "early": f"""
    SELECT key, window_start, COUNT(*) AS n
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTE) {GROUPED}
    EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '20' MINUTE""",
    "sessions": f"""
    SELECT key, window_start, COUNT(*) AS n, SUM(value) AS total
    FROM SESSION(TABLE events PARTITION BY key, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    {GROUPED} {KEPT}""",
    "sessions and messages": f"""
    SELECT key, window_start, MEDIAN(value) AS mid
    FROM SESSION(TABLE events PARTITION BY key, DESCRIPTOR(ts), INTERVAL '30' SECOND)
    {GROUPED} {KEPT}""",
    "sessions that part": f"""
    SELECT key, window_start, COUNT(*) AS n FROM events OVER (PARTITION BY key ORDER BY ts
      SESSION INTERVAL '30' SECOND GAP MAX INTERVAL '10' MINUTE) {GROUPED} {KEPT}""",
    "sessions of messages": """
    SELECT key, window_start, COUNT(*) AS n
    FROM events OVER (PARTITION BY key SESSION 100 ROWS GAP)
    GROUP BY key, window_start, window_end""",
    "ttl_entries": """
    SELECT /*+ STATE_TTL('events' = '7 days') */ key, COUNT(*) AS n FROM events GROUP BY key""",
    "over range": f"""
    SELECT key, ts, value, SUM(value) OVER (PARTITION BY key ORDER BY ts
      RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW) AS total
    FROM events {KEPT}""",
    "over rows": f"""
    SELECT key, ts, value, SUM(value) OVER (PARTITION BY key ORDER BY ts
      ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) AS total
    FROM events {KEPT}""",
    "over unbounded": f"""
    SELECT key, ts, SUM(value) OVER (PARTITION BY key ORDER BY ts
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
    FROM events {KEPT}""",
    "lead": f"""
    SELECT key, ts, LEAD(value) OVER (PARTITION BY key ORDER BY ts) AS next
    FROM events {KEPT}""",
    "over newest rows": """
    SELECT key, ts, SUM(value) OVER (PARTITION BY key ORDER BY ts
      ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) AS total
    FROM events EMIT LATE ON UPDATE RETAIN 60 ROWS""",
    "tuples": """
    SELECT key, SUM(value) AS total
    FROM events OVER (PARTITION BY key ROWS 20 PRECEDING ADVANCE BY 5 ROWS)
    GROUP BY key, window_start, window_end""",
    "sliding tuples": """
    SELECT key, SUM(value) AS total FROM events OVER (PARTITION BY key ROWS 20 PRECEDING)
    GROUP BY key""",
    "tuples so far": """
    SELECT key, SUM(value) AS total FROM events OVER (PARTITION BY key ROWS UNBOUNDED PRECEDING)
    GROUP BY key""",
    "top": """
    SELECT key, value, ROW_NUMBER() OVER (PARTITION BY key ORDER BY value DESC) AS place
    FROM events QUALIFY place <= 3""",
    "ranked": f"""
    SELECT key, window_start, n,
      RANK() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS place
    FROM (SELECT key, window_start, window_end, COUNT(*) AS n
      FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTE) {GROUPED} {KEPT})
    QUALIFY place <= 3""",
    "replayed": f"""
    SELECT key, window_start, COUNT(*) AS n
    FROM TUMBLE(TABLE numbered, DESCRIPTOR(ts), INTERVAL '5' MINUTE) {GROUPED} {KEPT}""",
}
UNBOUNDED = {
    "to the end": (
        f"""
    SELECT key, ts, COUNT(*) OVER (PARTITION BY key ORDER BY ts
      ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS n
    FROM events {KEPT}""",
        {"rows": "a frame to the end of the input keeps every row of it"},
    ),
    "all in one": (
        "SELECT key, MEDIAN(value) AS mid FROM events GROUP BY key",
        {"messages": "an aggregate of the whole stream needs every message of it"},
    ),
    "positions for ever": (
        "SELECT key, COUNT(*) AS n FROM numbered GROUP BY key",
        {"seen": "no RETAIN says when these may go"},
    ),
}
FEW = 300
"""Stores of fewer records are compared by how far they are apart."""


@pytest.mark.long
@pytest.mark.parametrize("name", QUERIES)
def test_what_is_expected_is_measured(name: str) -> None:
    hours, rate = LONG.get(name, (HOURS, RATE))
    query = script(STREAM + QUERIES[name])
    held = {one.store: one for one in expected(query.queries[0], Load(rate, KEYS))}
    measured = steady(query, hours * 3_600 / BATCHES, rate)
    assert set(measured) == set(held)
    for store, (records, size) in measured.items():
        _near(name, held[store], records, size)


@pytest.mark.parametrize("name", UNBOUNDED)
def test_what_has_no_bound_says_why(name: str) -> None:
    sql, reasons = UNBOUNDED[name]
    held = expected(script(STREAM + sql).queries[0], Load(RATE, KEYS))
    assert {one.store: one.why for one in held if one.records is None} == reasons


def test_every_store_of_rows_is_estimated() -> None:
    """Of each operator at least one query is above."""
    shown = [
        one
        for sql in QUERIES.values()
        for one in expected(script(STREAM + sql).queries[0], Load(RATE, KEYS))
    ]
    assert [one.store for one in shown if one.why == NOT_ESTIMATED] == []
    assert {re.sub(r"[0-9]+$", "", one.store) for one in shown} == STORES


def _near(name: str, held: Held, records: int, size: int) -> None:
    assert held.records is not None, held
    measured = f"{name}: {held}, measured {records} records of {size} bytes"
    if max(records, held.records) < FEW:
        return
    assert held.records / 2 <= records <= 2 * held.records, measured
    assert held.bytes / 2 <= size <= 2 * held.bytes, measured


def steady(query: Script, seconds: float, rate: float) -> dict[str, tuple[int, int]]:
    """Of each store, records and bytes of its segments, uncompressed, after some hours.

    seconds: of event time of a batch.
    """
    blobs = DictBlobs()
    running = EmbeddedQuery(query, blobs=blobs, token="t")
    draw = np.random.default_rng(7)
    stream = lower(query.queries[0]).stream.name
    for number in range(BATCHES):
        rows = _rows(draw, number, seconds, round(rate * seconds))
        if stream == "numbered":
            rows = rows.with_row_index("id", number * len(rows))
        running.push(stream, rows)
        running.flush()
    stores = json.loads(blobs.get(METADATA))["stores"]
    return {name: _measured(index, blobs) for name, index in stores.items()}


def _rows(draw: np.random.Generator, number: int, seconds: float, count: int) -> pl.DataFrame:
    at = START_S + (number + (np.arange(count) + draw.random(count)) / count) * seconds
    ts = pl.Series(np.floor(at * 1e6).astype(np.int64)).cast(pl.Datetime("us", "UTC"))
    keys, values = draw.integers(1, KEYS + 1, count), draw.integers(1, 1_001, count)
    return pl.DataFrame({"key": keys, "value": values, "ts": ts})


def _measured(index: dict[str, list[dict[str, str]]], blobs: DictBlobs) -> tuple[int, int]:
    frames = [decode_segment(blobs.get(segment["name"])) for segment in index["segments"]]
    records = sum(len(frame) for frame in frames)
    if not records:
        return 0, 0
    whole = pl.concat(frames)
    time = next(name for name, dtype in whole.schema.items() if dtype == pl.Int64)
    return records, len(encode_segment(whole, time, compress=False))


def test_a_join_holds_rows_for_their_partners_and_for_retention() -> None:
    text = "CREATE STREAM s (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
    joined = script(text + "SELECT a.k FROM s a JOIN s b WITHIN 1 HOUR ON a.k = b.k RETAIN 2 HOURS")
    held = {one.store: one.records for one in expected(joined.queries[0], Load(rate=1, keys=1))}
    slices = 2 * 60 * 60  # of what the window and retention span, at most
    for side in ("left", "right"):
        assert 3 * 60 * 60 <= (held[side] or 0) <= 3 * 60 * 60 + slices


def test_a_side_with_a_ttl_holds_the_rows_of_it() -> None:
    text = "CREATE STREAM s (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
    joined = script(
        text + "SELECT /*+ STATE_TTL('a' = '1 h') */ a.k FROM s a JOIN s b ON a.k = b.k"
    )
    held = {one.store: one.records for one in expected(joined.queries[0], Load(rate=1, keys=1))}
    assert held == {"left": 4500, "left_ttl_entries": 4500, "right": None}
    read = script("SET state.ttl.update = 'read-and-write';" + text + "SELECT /*+ STATE_TTL('a' ="
                  " '1 h') */ a.k FROM s a JOIN s b ON a.k = b.k")  # fmt: skip
    held = {one.store: one.records for one in expected(read.queries[0], Load(rate=1, keys=1))}
    assert held == {"left": None, "left_ttl_entries": None, "right": None}


def test_versions_with_a_ttl_are_those_of_it() -> None:
    text = "CREATE STREAM s (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
    text += "SELECT {} a.k FROM s a JOIN s FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k"
    joined = [script(text.format(hint)) for hint in ("", "/*+ STATE_TTL('b' = '1 h') */")]
    without, with_ttl = (
        {one.store: one.records for one in expected(each.queries[0], Load(rate=1, keys=1e6))}
        for each in joined
    )
    assert (without["right"] or 0) > 1e6
    assert with_ttl == without | {"right": 4500, "right_ttl_entries": 4500}


def test_of_a_join_that_retains_rows_each_key_holds_so_many_and_those_of_open_windows() -> None:
    text = "CREATE STREAM s (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
    reads = "SELECT a.k FROM s a JOIN s b {} ON a.k = b.k RETAIN 5 ROWS"
    for within, rows in (("", 35), ("WITHIN 1 MINUTE", 35 + 60)):
        joined = script(text + reads.format(within)).queries[0]
        held = {one.store: one.records for one in expected(joined, Load(rate=1, keys=7))}
        assert (held["left"], held["right"]) == (rows, rows)


def test_what_a_stage_above_holds_is_not_estimated() -> None:
    text = "CREATE STREAM s (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
    below = "SELECT k, COUNT(*) AS n FROM s GROUP BY k"
    joined = script(text + f"SELECT n, COUNT(*) AS keys FROM ({below}) GROUP BY n")
    lower, *upper = expected(joined.queries[0], Load(rate=1, keys=7))
    assert (lower.store, lower.records) == ("panes", 7)
    assert {one.how for one in upper if one.records is None} == {"not known"}
