"""The shipped queries, by DuckDB over all rows at once: what the last revisions must equal.

Each function is given a connection and a path (a file, or a pattern such as
`queries/data/flights/*.jsonl`) and gives an Arrow table: the columns of the
query of its name, timestamps in UTC, in a fixed order of rows. Flights that
never left have no event time and take no part. Weather and aircraft are those
that are shipped.

The windows are spelled out here in plain SQL, with none of the dialect's table
functions, so that the two share no definition of a window.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa

COLUMNS = {
    "flight_id": "BIGINT",
    "carrier": "VARCHAR",
    "flight": "INTEGER",
    "tailnum": "VARCHAR",
    "origin": "VARCHAR",
    "dest": "VARCHAR",
    "dep_ts": "TIMESTAMPTZ",
    "arr_ts": "TIMESTAMPTZ",
    "dep_delay": "INTEGER",
    "arr_delay": "INTEGER",
    "distance": "INTEGER",
}
WEATHER = {
    "origin": "VARCHAR",
    "ts": "TIMESTAMPTZ",
    "temp": "DOUBLE",
    "wind_speed": "DOUBLE",
    "precip": "DOUBLE",
    "visib": "DOUBLE",
}
PLANES = {
    "tailnum": "VARCHAR",
    "year": "INTEGER",
    "manufacturer": "VARCHAR",
    "model": "VARCHAR",
    "engines": "INTEGER",
    "seats": "INTEGER",
}
DATA = Path(__file__).parents[3] / "queries" / "data"


def departures_per_hour(con: duckdb.DuckDBPyConnection, path: str) -> pa.Table:
    return _answer(
        con,
        path,
        """
        SELECT origin,
               date_trunc('hour', dep_ts) AS window_start,
               date_trunc('hour', dep_ts) + INTERVAL 1 HOUR AS window_end,
               count(*) AS departures,
               avg(dep_delay) AS avg_delay,
               max(dep_delay) AS max_delay
        FROM departed
        GROUP BY origin, date_trunc('hour', dep_ts)
        ORDER BY window_start, origin
        """,
    )


def departures_per_day(con: duckdb.DuckDBPyConnection, path: str) -> pa.Table:
    return _answer(
        con,
        path,
        """
        SELECT origin,
               timezone('America/New_York', CAST(day AS TIMESTAMP)) AS window_start,
               timezone('America/New_York', CAST(day + 1 AS TIMESTAMP)) AS window_end,
               count(*) AS departures,
               sum(distance)::BIGINT AS miles,
               median(dep_delay) AS usual_delay
        FROM (SELECT *, CAST(timezone('America/New_York', dep_ts) AS DATE) AS day FROM departed)
        GROUP BY origin, day
        ORDER BY window_start, origin
        """,
    )


def delay_trend(con: duckdb.DuckDBPyConnection, path: str) -> pa.Table:
    return _answer(
        con,
        path,
        """
        SELECT flight_id, carrier, dep_ts, dep_delay,
               avg(dep_delay) OVER recent AS avg_delay,
               count(*) OVER recent AS flights
        FROM departed
        WINDOW recent AS (PARTITION BY carrier ORDER BY dep_ts
                          RANGE BETWEEN INTERVAL 2 HOUR PRECEDING AND CURRENT ROW)
        ORDER BY flight_id
        """,
    )


def busy_runways(con: duckdb.DuckDBPyConnection, path: str) -> pa.Table:
    """A departure is in the four windows that start in the quarter hours up to its own."""
    return _answer(
        con,
        path,
        """
        SELECT origin, window_start,
               window_start + INTERVAL 1 HOUR AS window_end,
               count(*) AS departures
        FROM (SELECT origin,
                     time_bucket(INTERVAL 15 MINUTE, dep_ts)
                       - quarters * INTERVAL 15 MINUTE AS window_start
              FROM departed, (VALUES (0), (1), (2), (3)) AS back(quarters))
        GROUP BY origin, window_start
        ORDER BY window_start, origin
        """,
    )


def last_ten(con: duckdb.DuckDBPyConnection, path: str) -> pa.Table:
    return _answer(
        con,
        path,
        """
        SELECT flight_id, carrier, dep_ts,
               median(dep_delay) OVER (PARTITION BY carrier ORDER BY dep_ts, flight_id
                                       ROWS 9 PRECEDING) AS median_delay
        FROM departed
        ORDER BY flight_id
        """,
    )


def aircraft_days(con: duckdb.DuckDBPyConnection, path: str) -> pa.Table:
    """Gaps and islands: a departure more than 6 hours after the one before begins a day."""
    return _answer(
        con,
        path,
        """
        , marked AS (SELECT *, coalesce(dep_ts - lag(dep_ts) OVER own > INTERVAL 6 HOUR, true)
                       AS new
                     FROM departed WINDOW own AS (PARTITION BY tailnum ORDER BY dep_ts)),
        numbered AS (SELECT *, sum(new::INT) OVER (PARTITION BY tailnum ORDER BY dep_ts) AS day
                     FROM marked)
        SELECT tailnum, min(dep_ts) AS window_start,
               max(dep_ts) + INTERVAL 6 HOUR AS window_end,
               count(*) AS flights, sum(distance) AS miles
        FROM numbered
        GROUP BY tailnum, day
        ORDER BY tailnum, window_start
        """,
    )


def weather_delays(con: duckdb.DuckDBPyConnection, path: str) -> pa.Table:
    return _answer(
        con,
        path,
        f"""
        SELECT flight_id, d.origin, dep_ts, dep_delay,
               ts AS weather_ts, visib, wind_speed, precip, manufacturer, seats
        FROM departed d
        ASOF LEFT JOIN {_json(str(DATA / "weather" / "*.jsonl"), WEATHER)} w
          ON d.origin = w.origin AND dep_ts >= ts
        LEFT JOIN read_csv('{DATA / "planes.csv"}', header = true, columns = {_types(PLANES)}) p
          ON d.tailnum = p.tailnum
        ORDER BY flight_id
        """,
    )


ANSWERS: dict[str, Callable[[duckdb.DuckDBPyConnection, str], pa.Table]] = {
    "departures_per_hour": departures_per_hour,
    "departures_per_day": departures_per_day,
    "delay_trend": delay_trend,
    "busy_runways": busy_runways,
    "last_ten": last_ten,
    "aircraft_days": aircraft_days,
    "weather_delays": weather_delays,
}


def _answer(con: duckdb.DuckDBPyConnection, path: str, query: str) -> pa.Table:
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET threads = 1")
    departed = f"departed AS (SELECT * FROM {_json(path, COLUMNS)} WHERE dep_ts IS NOT NULL)"
    return con.sql(f"WITH {departed} {query}").to_arrow_table()


def _json(path: str, columns: dict[str, str]) -> str:
    return f"read_json('{path}', format = 'newline_delimited', columns = {_types(columns)})"


def _types(columns: dict[str, str]) -> str:
    return "{" + ", ".join(f"{name}: '{kind}'" for name, kind in columns.items()) + "}"
