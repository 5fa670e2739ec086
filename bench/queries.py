"""The queries, as sqlwin takes them and as DuckDB takes them.

tumble: COUNT, SUM and MAX of every minute by key. over: for every row the SUM and
COUNT of its key over the two minutes up to it, its peers included. session: COUNT and
SUM of each session of a key, which ends with 10 seconds of silence. join: rows of two
streams of one key, the second's up to 20 seconds after the first's. chain: sums of every
10 seconds by key, and of these COUNT, SUM and MAX of every minute by key.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bench.data import Data

DELAY_SECONDS = 5
MINUTE_MS = 60_000
TUMBLE_MS = MINUTE_MS
GAP_SECONDS = 10
OVER_MS = 2 * MINUTE_MS
JOIN_SECONDS = 20
LINK_SECONDS = 10
STREAMS = ("events", "others")


@dataclass(frozen=True)
class Query:
    """title: for people. columns: of the answer. sql, duckdb: the query itself.

    shapes: over which keys it runs. paired: it is of both streams, `events` and `others`,
    and the rows that close them are in its answer, whoever gives it. closing: how many results
    these rows have. certain: `key, ts` of the rows whose answer does not depend on the order of
    their peers, as DuckDB takes it; empty: all.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    sql: str
    duckdb: str
    shapes: tuple[str, ...] = ("zipf", "uniform")
    paired: bool = False
    closing: int = 1
    certain: str = ""


TUMBLE = Query(
    "tumble",
    "tumbling 1 minute: COUNT, SUM, MAX by key",
    ("key", "window_start", "n", "total", "top"),
    """
    SELECT key, window_start, COUNT(*) AS n, SUM(value) AS total, MAX(value) AS top
    FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY key, window_start""",
    """
    SELECT key, time_bucket(INTERVAL 1 MINUTE, ts) AS window_start,
           count(*) AS n, sum(value)::BIGINT AS total, max(value) AS top
    FROM events GROUP BY ALL""",
)
OVER = Query(
    "over",
    "OVER RANGE 2 minutes: SUM, COUNT of each row",
    ("key", "ts", "value", "total", "n"),
    """
    SELECT key, ts, value, SUM(value) OVER w AS total, COUNT(*) OVER w AS n
    FROM events
    WINDOW w AS (PARTITION BY key ORDER BY ts
                 RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW)""",
    """
    SELECT key, ts, value, sum(value) OVER w::BIGINT AS total, count(*) OVER w AS n
    FROM events
    WINDOW w AS (PARTITION BY key ORDER BY ts
                 RANGE BETWEEN INTERVAL 2 MINUTE PRECEDING AND CURRENT ROW)""",
)
SESSION = Query(
    "session",
    f"sessions, {GAP_SECONDS} seconds gap: COUNT, SUM by key",
    ("key", "window_start", "window_end", "n", "total"),
    f"""
    SELECT key, window_start, window_end, COUNT(*) AS n, SUM(value) AS total
    FROM events
    GROUP BY key, SESSION(ts, INTERVAL '{GAP_SECONDS}' SECOND)""",
    f"""
    SELECT key, min(ts) AS window_start, max(ts) + INTERVAL {GAP_SECONDS} SECOND AS window_end,
           count(*) AS n, sum(value)::BIGINT AS total
    FROM (SELECT *, sum(new) OVER (PARTITION BY key ORDER BY ts ROWS UNBOUNDED PRECEDING) AS nth
          FROM (SELECT *, (ts - lag(ts) OVER (PARTITION BY key ORDER BY ts)
                           > INTERVAL {GAP_SECONDS} SECOND)::INT AS new FROM events))
    GROUP BY key, coalesce(nth, 0)""",
)
JOIN = Query(
    "join",
    f"join of two streams by key, {JOIN_SECONDS} seconds apart at most",
    ("key", "value", "ts", "other", "other_ts"),
    f"""
    SELECT e.key, e.value, e.ts, o.value AS other, o.ts AS other_ts
    FROM events e JOIN others o ON e.key = o.key
     AND o.ts BETWEEN e.ts AND e.ts + INTERVAL '{JOIN_SECONDS}' SECOND""",
    f"""
    SELECT e.key, e.value, e.ts, o.value AS other, o.ts AS other_ts
    FROM events e JOIN others o ON e.key = o.key
     AND o.ts BETWEEN e.ts AND e.ts + INTERVAL {JOIN_SECONDS} SECOND""",
    shapes=("uniform",),
    paired=True,
)
CHAIN = Query(
    "chain",
    f"1 minute over {LINK_SECONDS} seconds: COUNT, SUM, MAX of sums by key",
    ("key", "window_start", "n", "total", "top"),
    f"""
    SELECT key, window_start, COUNT(*) AS n, SUM(total) AS total, MAX(total) AS top
    FROM TUMBLE(TABLE (
      SELECT key, window_start, window_end, window_time, SUM(value) AS total
      FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{LINK_SECONDS}' SECOND)
      GROUP BY key, window_start, window_end, window_time
    ), DESCRIPTOR(window_time), INTERVAL '1' MINUTE)
    GROUP BY key, window_start""",
    f"""
    SELECT key, time_bucket(INTERVAL 1 MINUTE, link) AS window_start,
           count(*) AS n, sum(total)::BIGINT AS total, max(total)::BIGINT AS top
    FROM (SELECT key, time_bucket(INTERVAL {LINK_SECONDS} SECOND, ts) AS link,
                 sum(value) AS total
          FROM events GROUP BY ALL)
    GROUP BY key, window_start""",
)
QUERIES = {query.name: query for query in (TUMBLE, OVER, SESSION, JOIN, CHAIN)}


def script(query: Query, data: Data, results: Path | None = None) -> str:
    """A script of sqlwin over the streams of `data`. results: a folder; None keeps none."""
    sink = (
        "connector = 'none'"
        if results is None
        else f"connector = 'files', format = 'parquet', path = '{results}'"
    )
    streams = "".join(
        f"""
    CREATE STREAM {name} (
      key BIGINT, value BIGINT, ts TIMESTAMP,
      WATERMARK FOR ts AS ts - INTERVAL '{DELAY_SECONDS}' SECOND
    ) WITH (connector = 'files', format = 'csv', path = '{folder}/*.csv');"""
        for name, folder in zip(STREAMS, data.folders, strict=False)
    )
    return f"""{streams}
    CREATE SINK answers WITH ({sink});
    INSERT INTO answers {query.sql.strip()};
    """
