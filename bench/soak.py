"""Does state stay flat? Days of event time through a query in this process.

    python -m bench soak --days 3

A steady stream, one row in a hundred late by up to half an hour. After each batch
the state is written; every hour of event time the task is built again from what was
written, as after a restart, and its stores are measured. State is flat if no store
ever holds a fifth more in the second half of the days than it did in the first.

What it cannot tell: how a query bears a stream that is not steady, and what Spark's
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

from sqlwin.runtime.files import decoded
from sqlwin.runtime.front import Front
from sqlwin.runtime.lower import lower
from sqlwin.runtime.lowered import Lowered
from sqlwin.runtime.task import HEADER, Task
from sqlwin.sql import script
from sqlwin.state.blobs import DictBlobs

START_S = 1_704_067_200  # 2024-01-01T00:00:00Z
HOUR_S, BATCH_S = 3_600, 600
KEYS, SEED = 1_000, 20_240_101
LATE_SHARE, LATE_S = 0.01, 1_800
GROWTH = 1.2
SLACK = {"rows": 100, "blobs": 5, "bytes": 20_000}
"""What a store that holds next to nothing may hold more."""
FAILED = 1

STREAM = """
CREATE STREAM events (
  key BIGINT, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
"""
KEPT = "EMIT LATE EVERY INTERVAL '1' MINUTE RETAIN INTERVAL '1' HOUR"
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
    lowered = lower(script(STREAM + QUERIES[query]).queries[0])
    blobs, task, pushed = DictBlobs(), Task(lowered), 0
    for number in range(hours * HOUR_S // BATCH_S):
        if number * BATCH_S % HOUR_S == 0:
            task = Task(lowered, blobs, f"hour{number}")
        pushed += _push(lowered, task, rows(number, rate), pushed, number)
        task.commit()
        task.token = f"batch{number}"
        seconds = (number + 1) * BATCH_S
        if seconds % HOUR_S == 0:
            yield from measured(blobs, seconds // HOUR_S)


def _push(lowered: Lowered, task: Task, batch: pl.DataFrame, pushed: int, number: int) -> int:
    """One batch, its processing time being the event time at its end."""
    watermark = task.clock.of(lowered.stream.name)
    came = decoded(batch, pushed, lowered.stream, watermark)
    taken = Front(lowered).take(came.rows, watermark)
    now = (START_S + (number + 1) * BATCH_S) * 1_000_000
    task.take({0: [taken.rows]}, {lowered.stream.name: taken.marks}, now, heard=True)
    return len(batch)


def rows(number: int, rate: float) -> pl.DataFrame:
    """The rows of one batch: the same for a number, whatever was made before."""
    draw, count = np.random.default_rng([SEED, number]), round(rate * BATCH_S)
    at = START_S + (number + (np.arange(count) + draw.random(count)) / count) * BATCH_S
    late = draw.random(count) < LATE_SHARE
    at = at - late * draw.random(count) * LATE_S
    micros = pl.Series(np.floor(at * 1e6).astype(np.int64)).cast(pl.Datetime("us", "UTC"))
    keys, values = draw.integers(1, KEYS + 1, count), draw.integers(1, 1_001, count)
    return pl.DataFrame({"key": keys, "value": values, "ts": micros})


def measured(blobs: DictBlobs, hour: int) -> Iterator[Sample]:
    for store, index in json.loads(blobs.get(HEADER))["stores"].items():
        named = [*index["segments"], *index["cuts"]]
        records = sum(segment["rows"] for segment in index["segments"])
        yield Sample(hour, store, len(named), records, sum(blob["bytes"] for blob in named))


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
