"""The queries as sqlwin, DuckDB and Flink take them.

Flink's text differs where its dialect does: TUMBLE stands in TABLE(…), `value` is a reserved word,
AVG of a BIGINT is a BIGINT there, so it averages DOUBLEs, and a sink takes one event time only.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.queries import OVER, TUMBLE, Query

HOP = Query(
    "hop",
    "hopping 5 minutes every minute: COUNT, SUM, MAX by key",
    ("key", "window_start", "n", "total", "top"),
    """
    SELECT key, window_start, COUNT(*) AS n, SUM(value) AS total, MAX(value) AS top
    FROM HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)
    GROUP BY key, window_start""",
    """
    SELECT key, time_bucket(INTERVAL 1 MINUTE, ts) - INTERVAL 1 MINUTE * back AS window_start,
           count(*) AS n, sum(value)::BIGINT AS total, max(value) AS top
    FROM events, range(5) AS panes(back) GROUP BY ALL""",
    shapes=("zipf",),
    closing=5,
)
SESSION = Query(
    "session30",
    "sessions, 30 seconds gap: COUNT, SUM by key",
    ("key", "window_start", "window_end", "n", "total"),
    """
    SELECT key, window_start, window_end, COUNT(*) AS n, SUM(value) AS total
    FROM events
    GROUP BY key, SESSION(ts, INTERVAL '30' SECOND)""",
    """
    SELECT key, min(ts) AS window_start, max(ts) + INTERVAL 30 SECOND AS window_end,
           count(*) AS n, sum(value)::BIGINT AS total
    FROM (SELECT *, sum(new) OVER (PARTITION BY key ORDER BY ts ROWS UNBOUNDED PRECEDING) AS nth
          FROM (SELECT *, (ts - lag(ts) OVER (PARTITION BY key ORDER BY ts)
                           > INTERVAL 30 SECOND)::INT AS new FROM events))
    GROUP BY key, coalesce(nth, 0)""",
    shapes=("uniform",),
)
NEAR = Query(
    "near",
    "join of two streams by key, 10 seconds apart at most",
    ("key", "value", "ts", "other", "other_ts"),
    """
    SELECT e.key, e.value, e.ts, o.value AS other, o.ts AS other_ts
    FROM events e JOIN others o ON e.key = o.key
     AND o.ts BETWEEN e.ts - INTERVAL '10' SECOND AND e.ts + INTERVAL '10' SECOND""",
    """
    SELECT e.key, e.value, e.ts, o.value AS other, o.ts AS other_ts
    FROM events e JOIN others o ON e.key = o.key
     AND o.ts BETWEEN e.ts - INTERVAL 10 SECOND AND e.ts + INTERVAL 10 SECOND""",
    shapes=("uniform",),
    paired=True,
)
ROWS = Query(
    "rows",
    "OVER ROWS 99 PRECEDING: SUM, COUNT, MAX, AVG of each row",
    ("key", "ts", "value", "total", "n", "top", "middle"),
    """
    SELECT key, ts, value, SUM(value) OVER w AS total, COUNT(*) OVER w AS n,
           MAX(value) OVER w AS top, AVG(value) OVER w AS middle
    FROM events
    WINDOW w AS (PARTITION BY key ORDER BY ts ROWS BETWEEN 99 PRECEDING AND CURRENT ROW)""",
    """
    SELECT key, ts, value, sum(value) OVER w::BIGINT AS total, count(*) OVER w AS n,
           max(value) OVER w AS top, avg(value) OVER w AS middle
    FROM events
    WINDOW w AS (PARTITION BY key ORDER BY ts ROWS BETWEEN 99 PRECEDING AND CURRENT ROW)""",
    shapes=("zipf",),
    certain="""
    SELECT key, ts FROM events
    QUALIFY count(*) OVER (PARTITION BY key, ts) = 1
        AND lag(ts, 99) OVER (PARTITION BY key ORDER BY ts)
            IS DISTINCT FROM coalesce(lag(ts, 100) OVER (PARTITION BY key ORDER BY ts), 'infinity')
    """,
)
MEDIAN = Query(
    "median",
    "OVER RANGE 2 minutes: MEDIAN of each row",
    ("key", "ts", "value", "middle"),
    """
    SELECT key, ts, value, MEDIAN(value) OVER w AS middle
    FROM events
    WINDOW w AS (PARTITION BY key ORDER BY ts
                 RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW)""",
    """
    SELECT key, ts, value, median(value) OVER w AS middle
    FROM events
    WINDOW w AS (PARTITION BY key ORDER BY ts
                 RANGE BETWEEN INTERVAL 2 MINUTE PRECEDING AND CURRENT ROW)""",
    shapes=("zipf",),
)
QUERIES = {query.name: query for query in (TUMBLE, HOP, SESSION, NEAR, ROWS, OVER, MEDIAN)}


@dataclass(frozen=True)
class FlinkQuery:
    """text: a SELECT of Flink's. note: how it differs from sqlwin's, for people."""

    text: str
    note: str = ""


_GROUPED = "SELECT key, window_start, COUNT(*) AS n, SUM(`value`) AS total, MAX(`value`) AS top"
_FRAME = (
    "WINDOW w AS (PARTITION BY key ORDER BY ts "
    "RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW)"
)
FLINK = {
    TUMBLE.name: FlinkQuery(
        f"{_GROUPED} FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
        "GROUP BY key, window_start, window_end"
    ),
    HOP.name: FlinkQuery(
        f"{_GROUPED} FROM TABLE("
        "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) "
        "GROUP BY key, window_start, window_end"
    ),
    SESSION.name: FlinkQuery(
        "SELECT key, window_start, window_end, COUNT(*) AS n, SUM(`value`) AS total FROM TABLE("
        "SESSION(TABLE events PARTITION BY key, DESCRIPTOR(ts), INTERVAL '30' SECOND)) "
        "GROUP BY key, window_start, window_end"
    ),
    NEAR.name: FlinkQuery(
        "SELECT e.key, e.`value`, e.ts, o.`value` AS other, CAST(o.ts AS TIMESTAMP(3)) AS other_ts "
        "FROM events e JOIN others o ON e.key = o.key "
        "AND o.ts BETWEEN e.ts - INTERVAL '10' SECOND AND e.ts + INTERVAL '10' SECOND"
    ),
    ROWS.name: FlinkQuery(
        "SELECT key, ts, `value`, SUM(`value`) OVER w AS total, COUNT(*) OVER w AS n, "
        "MAX(`value`) OVER w AS top, AVG(CAST(`value` AS DOUBLE)) OVER w AS middle FROM events "
        "WINDOW w AS (PARTITION BY key ORDER BY ts ROWS BETWEEN 99 PRECEDING AND CURRENT ROW)"
    ),
    OVER.name: FlinkQuery(
        "SELECT key, ts, `value`, SUM(`value`) OVER w AS total, COUNT(*) OVER w AS n "
        f"FROM events {_FRAME}"
    ),
    MEDIAN.name: FlinkQuery(
        f"SELECT key, ts, `value`, PERCENTILE(`value`, 0.5) OVER w AS middle FROM events {_FRAME}",
        "PERCENTILE(value, 0.5), for Flink has no MEDIAN",
    ),
}
