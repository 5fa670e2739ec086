"""The curves, and one point of a curve, measured in this process.

Rows are pushed in process, with state in memory. Counted are the seconds of the processor over the
second half of the rows, when windows have their whole length in the past.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

import sqlwin

MINUTE, HOUR = 60, 3_600
START_US = 1_704_067_200_000_000  # 2024-01-01T00:00:00Z
STREAM = """CREATE STREAM {name} (k BIGINT, v BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND);"""


@dataclass(frozen=True)
class Point:
    """ns: nanoseconds of the processor a row. results: a row. mib: the peak of memory."""

    varied: int
    ns: float
    results: float
    mib: float


@dataclass(frozen=True)
class Load:
    """The rows of a point. seconds: of event time that all rows take. late: the share of rows that
    come after the watermark has passed them, up to a minute. hot: the share of rows of one key.
    """

    rows: int = 400_000
    batch: int = 20_000
    seconds: int = 48 * HOUR
    keys: int = 20
    late: float = 0.0
    hot: float = 0.0
    delay: int = 60
    streams: tuple[str, ...] = ("a",)


@dataclass(frozen=True)
class Curve:
    """title: for people. sql: of a point. points: what is varied, each with its load."""

    axis: str
    title: str
    sql: Callable[[int], str]
    points: tuple[tuple[int, Load], ...]


def lengths(load: Load) -> tuple[tuple[int, Load], ...]:
    return tuple((each, load) for each in (MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR))


def hop(aggregates: str) -> Callable[[int], str]:
    return lambda length: (
        f"""SELECT k, window_end, {aggregates}
        FROM HOP(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '{length}' SECOND)
        GROUP BY k, window_start, window_end"""
    )


def tumble(length: int = MINUTE) -> str:
    return f"""SELECT k, window_end, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS most
        FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '{length}' SECOND) GROUP BY k, window_end"""


def over(aggregates: str) -> Callable[[int], str]:
    return lambda length: (
        f"""SELECT k, ts, {aggregates} FROM a WINDOW w AS (
        PARTITION BY k ORDER BY ts RANGE INTERVAL '{length}' SECOND PRECEDING)"""
    )


def session(gap: int) -> str:
    return f"""SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS total
        FROM a GROUP BY k, SESSION(ts, INTERVAL '{gap}' SECOND)"""


def join(length: int) -> str:
    return f"""SELECT a.k, a.v, b.v AS other FROM a JOIN b ON a.k = b.k
        AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '{length}' SECOND"""


COUNTED, MEDIAN = "COUNT(*) AS n, SUM(v) AS total", "MEDIAN(v) AS middle"
OVER_COUNTED = "COUNT(*) OVER w AS n, SUM(v) OVER w AS total, MAX(v) OVER w AS most"
OVER_MEDIAN = "MEDIAN(v) OVER w AS middle"
LONG = Load()
DENSE = Load(seconds=20 * MINUTE, rows=1_000_000, batch=100_000, keys=1_000, delay=5)


def _keys(seconds: int) -> tuple[tuple[int, Load], ...]:
    """As many keys as rows in a minute at the least, that each row be nearly a result."""
    load = replace(DENSE, seconds=seconds, batch=250_000)
    return tuple((each, replace(load, keys=each)) for each in (1_000, 10_000, 100_000, 1_000_000))


def _batches() -> tuple[tuple[int, Load], ...]:
    sizes = (100, 1_000, 10_000, 100_000, 1_000_000)
    return tuple(
        (size, replace(DENSE, batch=size, rows=max(20_000, min(4 * size, 4_000_000))))
        for size in sizes
    )


def _shares(field: str, shares: tuple[int, ...]) -> tuple[tuple[int, Load], ...]:
    return tuple((each, replace(DENSE, **{field: each / 100})) for each in shares)


LATE, HOT = (0, 1, 10, 50), (0, 10, 50, 90)
CURVES = {
    "hop": Curve("length", "hop by 1 minute: COUNT, SUM; 20 keys", hop(COUNTED), lengths(LONG)),
    "hop-median": Curve("length", "hop by 1 minute: MEDIAN; 20 keys", hop(MEDIAN), lengths(LONG)),
    "range": Curve(
        "length", "OVER RANGE: COUNT, SUM, MAX; 20 keys", over(OVER_COUNTED), lengths(LONG)
    ),
    "range-median": Curve(
        "length", "OVER RANGE: MEDIAN; 20 keys", over(OVER_MEDIAN), lengths(LONG)
    ),
    "session": Curve(
        "length", "sessions by gap: COUNT, SUM; 1,000 keys", session,
        lengths(replace(LONG, keys=1_000)),
    ),
    "join": Curve(
        "length", "join by length; 200,000 keys", join,
        lengths(replace(LONG, keys=200_000, streams=("a", "b"))),
    ),
    "tumble-keys": Curve("keys", "tumble 1 minute", lambda _: tumble(), _keys(4 * MINUTE)),
    "range-keys": Curve(
        "keys", "OVER RANGE 1 minute", lambda _: over(OVER_COUNTED)(MINUTE), _keys(4 * MINUTE)
    ),
    "session-keys": Curve("keys", "sessions of 10 s", lambda _: session(10), _keys(4 * MINUTE)),
    "tumble-batch": Curve("batch", "tumble 1 minute; 1,000 keys", lambda _: tumble(), _batches()),
    "range-batch": Curve(
        "batch", "OVER RANGE 2 minutes; 1,000 keys",
        lambda _: over(OVER_COUNTED)(2 * MINUTE), _batches(),
    ),
    "tumble-late": Curve("late", "tumble 1 minute", lambda _: tumble(), _shares("late", LATE)),
    "range-late": Curve(
        "late", "OVER RANGE 2 minutes", lambda _: over(OVER_COUNTED)(2 * MINUTE),
        _shares("late", LATE),
    ),
    "session-late": Curve("late", "sessions of 10 s", lambda _: session(10), _shares("late", LATE)),
    "tumble-hot": Curve("hot", "tumble 1 minute", lambda _: tumble(), _shares("hot", HOT)),
    "range-hot": Curve(
        "hot", "OVER RANGE 2 minutes", lambda _: over(OVER_COUNTED)(2 * MINUTE),
        _shares("hot", HOT),
    ),
    "session-hot": Curve("hot", "sessions of 10 s", lambda _: session(10), _shares("hot", HOT)),
}  # fmt: skip


def frames(load: Load, seed: int) -> Iterator[pl.DataFrame]:
    draw = np.random.default_rng(seed)
    step = load.seconds * 1_000_000 / load.rows
    for first in range(0, load.rows, load.batch):
        count = min(load.batch, load.rows - first)
        arrival = START_US + (np.arange(first, first + count) * step).astype(np.int64)
        behind = (load.delay * 1_000_000 * draw.random(count)).astype(np.int64) // 2
        late = draw.random(count) < load.late
        behind[late] += int((load.delay + MINUTE) * 1_000_000 * 0.9)
        keys = draw.integers(1, load.keys + 1, count)
        keys[draw.random(count) < load.hot] = 0
        ts = pl.Series(arrival - behind).cast(pl.Datetime("us", "UTC"))
        yield pl.DataFrame({"k": keys, "v": draw.integers(1, 1_001, count), "ts": ts})


def point(name: str, at: int, scale: float) -> Point:
    """One point of a curve, in this process."""
    curve = CURVES[name]
    varied, load = curve.points[at]
    load = replace(load, rows=max(int(load.rows * scale), 4 * load.batch))
    streams = "".join(STREAM.format(name=each, delay=load.delay) for each in load.streams)
    emitted = counted = read = 0
    began = time.process_time()
    with sqlwin.query(streams + curve.sql(varied)) as query:
        for batches in zip(*(frames(load, each) for each in range(len(load.streams))), strict=True):
            if read <= load.rows // 2:  # windows have their whole length in the past only then
                emitted, counted, began = 0, 0, time.process_time()
            for stream, rows in zip(load.streams, batches, strict=True):
                query.push(stream, rows)
                counted += len(rows)
            emitted += query.results().num_rows
            read += len(batches[0])
        used = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    return Point(varied, used / counted * 1e9, emitted / counted, peak)
