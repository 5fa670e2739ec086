"""Does state stay flat? Days of event time through a query in this process.

    python -m bench soak --days 3

A steady stream, one row in a hundred late by up to half an hour. After each batch
the state is written; every hour of event time the task is built again from what was
written, as after a restart, and its stores are measured. State is flat if no store
ever holds a fifth more in the second half of the days than it did in the first.

What it does not show: how a query bears a stream that is not steady, and what Spark's
own state store makes of the same segments.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.runtime.checkpoint.task_state import METADATA
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs

START_S = 1_704_067_200  # 2024-01-01T00:00:00Z
HOUR_S, BATCH_S = 3_600, 600
KEYS, SEED = 1_000, 20_240_101
LATE_SHARE, LATE_S = 0.01, 1_800
GROWTH = 1.2
SLACK = {"rows": 100, "blobs": 5, "bytes": 20_000}
"""What a store that holds next to nothing may hold more."""
FAILED = 1

STREAMS = """
CREATE STREAM events (
  key BIGINT, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM others (
  key BIGINT, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
"""
KEPT = "EMIT LATE EVERY INTERVAL '1' MINUTE RETAIN INTERVAL '1' HOUR"
MINUTES = """
    SELECT key, window_time, window_start, COUNT(*) AS n, MAX(value) AS top
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY key, window_time, window_start"""
QUERIES = {
    "tumble": f"""
    SELECT key, window_start, COUNT(*) AS n, SUM(value) AS total
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY key, window_start {KEPT}""",
    "hop": f"""
    SELECT key, window_start, COUNT(*) AS n, MAX(value) AS top
    FROM HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '15' MINUTE, INTERVAL '1' HOUR)
    GROUP BY key, window_start {KEPT}""",
    "over": f"""
    SELECT key, ts, SUM(value) OVER (PARTITION BY key ORDER BY ts
      RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW) AS total
    FROM events {KEPT}""",
    "rows": f"""
    SELECT key, ts, SUM(value) OVER (PARTITION BY key ORDER BY ts
      ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) AS total
    FROM events {KEPT}""",
    "median": f"""
    SELECT key, window_start, MEDIAN(value) AS mid
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTE)
    GROUP BY key, window_start {KEPT}""",
    "newest": """
    SELECT key, window_start, COUNT(*) AS n
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY key, window_start
    EMIT LATE EVERY INTERVAL '1' MINUTE RETAIN 20 ROWS""",
    "messages": """
    SELECT key, COUNT(*) AS n, MEDIAN(value) AS mid
    FROM events OVER (PARTITION BY key ROWS 10 PRECEDING ADVANCE BY 5 ROWS) GROUP BY key""",
    "session": f"""
    SELECT key, window_start, window_end, SUM(value) AS total
    FROM SESSION(TABLE events PARTITION BY key, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY key, window_start, window_end {KEPT}""",
    "session_median": f"""
    SELECT key, window_start, window_end, MEDIAN(value) AS mid
    FROM SESSION(TABLE events PARTITION BY key, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY key, window_start, window_end {KEPT}""",
    "hours": """
    SELECT /*+ STATE_TTL('events' = '1 hour') */ key, DATE_TRUNC('HOUR', ts) AS hour,
      SUM(value) AS total
    FROM events GROUP BY key, DATE_TRUNC('HOUR', ts)""",
    "last": """
    SELECT /*+ STATE_TTL('events' = '1 hour') */ * FROM events QUALIFY ROW_NUMBER() OVER (
      PARTITION BY key, DATE_TRUNC('HOUR', ts) ORDER BY ts DESC) = 1""",
    "best": f"""
    SELECT * FROM ({MINUTES})
    QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_time ORDER BY top DESC) <= 3
    {KEPT}""",
    "chain": f"""
    SELECT key, window_start, SUM(n) AS n
    FROM TUMBLE(TABLE ({MINUTES}), DESCRIPTOR(window_time), INTERVAL '10' MINUTE)
    GROUP BY key, window_start {KEPT}""",
    "join": f"""
    SELECT e.key, e.value AS value, o.value AS other
    FROM events e LEFT JOIN others o
      ON e.key = o.key AND o.ts BETWEEN e.ts - INTERVAL '2' MINUTE AND e.ts {KEPT}""",
    "asof": f"""
    SELECT e.key, e.value AS value, o.value AS other
    FROM events e ASOF JOIN others o MATCH_CONDITION (e.ts >= o.ts) ON e.key = o.key {KEPT}""",
}


@dataclass(frozen=True)
class Sample:
    """One store after so many hours. blobs: segments, and blobs of cuts."""

    hour: int
    store: str
    blobs: int
    rows: int
    bytes: int


def samples(query: str, hours: int, rate: float) -> Iterator[Sample]:
    """Run a query over so many hours of event time; every store after each of them."""
    parsed = script(STREAMS + QUERIES[query])
    blobs = DictBlobs()
    running = EmbeddedQuery(parsed, blobs=blobs)
    read = list(running.offsets())
    for number in range(hours * HOUR_S // BATCH_S):
        if number * BATCH_S % HOUR_S == 0:
            running = EmbeddedQuery(parsed, blobs=blobs, token=f"hour{number}")
        running.advance(now=(START_S + (number + 1) * BATCH_S) * 1_000_000)
        for at, stream in enumerate(read):
            running.push(stream, rows(number, rate, at))
        running.results()
        running.commit()
        seconds = (number + 1) * BATCH_S
        if seconds % HOUR_S == 0:
            yield from measured(blobs, seconds // HOUR_S)


def rows(number: int, rate: float, stream: int = 0) -> pl.DataFrame:
    """The rows of one batch: the same for a number, whatever was made before."""
    draw, count = np.random.default_rng([SEED + stream, number]), round(rate * BATCH_S)
    at = START_S + (number + (np.arange(count) + draw.random(count)) / count) * BATCH_S
    late = draw.random(count) < LATE_SHARE
    at = at - late * draw.random(count) * LATE_S
    micros = pl.Series(np.floor(at * 1e6).astype(np.int64)).cast(pl.Datetime("us", "UTC"))
    keys, values = draw.integers(1, KEYS + 1, count), draw.integers(1, 1_001, count)
    return pl.DataFrame({"key": keys, "value": values, "ts": micros})


def measured(blobs: DictBlobs, hour: int) -> Iterator[Sample]:
    """Stores of stages below others by their stage."""
    metadata_names = [name for name in blobs.names() if name.rpartition("/")[2] == METADATA]
    for metadata_name in metadata_names:
        stage = metadata_name.removesuffix(METADATA)
        for store, index in json.loads(blobs.get(metadata_name))["stores"].items():
            named = [*index["segments"], *index["cuts"]]
            records = sum(segment["rows"] for segment in index["segments"])
            size = sum(blob["bytes"] for blob in named)
            yield Sample(hour, stage + store, len(named), records, size)


def grown(found: Iterable[Sample], hours: int) -> list[str]:
    """What is more at most in the second half than in the first, in words."""
    wrong = []
    for store, group in groupby(sorted(found, key=lambda s: s.store), lambda s: s.store):
        every = list(group)
        for what, slack in SLACK.items():
            first = max(getattr(s, what) for s in every if 2 * s.hour <= hours)
            second = max(getattr(s, what) for s in every if 2 * s.hour > hours)
            if second > GROWTH * first + slack:
                wrong.append(f"{store}: {first:,} {what} in the first half, then {second:,}")
    return wrong


def main(arguments: argparse.Namespace) -> int:
    hours, wrong = round(arguments.days * 24), []
    for query in arguments.queries:
        found = list(samples(query, hours, arguments.rate))
        show(query, [s for s in found if s.hour % arguments.every == 0])
        wrong += [f"{query}, {what}" for what in grown(found, hours)]
    for what in wrong:
        print(f"failed: {what}")
    return FAILED if wrong else 0


def show(query: str, found: list[Sample]) -> None:
    table = Table(title=f"{query}: state by hours of event time", title_justify="left")
    for at, name in enumerate(("hours", "store", "blobs", "rows", "kB")):
        table.add_column(name, justify="left" if at == 1 else "right")
    for sample in found:
        size = f"{sample.bytes / 1_000:,.0f}"
        table.add_row(str(sample.hour), sample.store, str(sample.blobs), f"{sample.rows:,}", size)
    Console(width=100).print(table)


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench soak", description=__doc__)
    parser.add_argument("--days", type=float, default=3.0, help="of event time")
    parser.add_argument("--rate", type=float, default=20.0, help="rows a second of event time")
    parser.add_argument("--every", type=int, default=6, help="hours between lines")
    parser.add_argument("--queries", nargs="+", choices=list(QUERIES), default=list(QUERIES))
    return parser
