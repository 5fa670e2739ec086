"""Random rows in random order, batches, replays and restarts, through windows whose rows are
filtered and have other columns before they are grouped by their window.

The last revision of every result equals DuckDB's batch answer: where one window is over the rows
below it, and where a condition on a bound keeps the rows of each window.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sqlwin.schema import CHANGELOG_NAMES
from tests.properties.duck import connection
from tests.properties.fed import Row, answered, bag, delivered

STREAM = """CREATE STREAM t (id BIGINT, k STRING, v BIGINT, ts TIMESTAMP, lsn BIGINT,
WATERMARK FOR ts AS ts, OFFSET lsn);"""
KEPT = "EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '10' DAY"
MINUTE = "INTERVAL '1' MINUTE"
ABOVE = "WHERE window_end IS NOT NULL"
STARTS = "date_trunc('minute', ts) - INTERVAL 1 MINUTE * unnest([0, 1])"
ISLANDS = """WITH b AS (SELECT *, coalesce(ts > lag(ts) OVER (PARTITION BY k ORDER BY ts)
+ INTERVAL 20 SECOND, true) AS new FROM t WHERE v > 2), s AS (SELECT *, sum(new::INT) OVER
(PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING) AS g FROM b)"""
QUERIES = {
    "tumble": (
        f"""SELECT k, window_start AS at, SUM(d) AS s, COUNT(*) AS n
        FROM (SELECT *, v * 2 AS d FROM TUMBLE(TABLE t, DESCRIPTOR(ts), {MINUTE}) WHERE v > 2)
        {{above}} GROUP BY k, window_start, window_end""",
        """SELECT k, date_trunc('minute', ts) AS w, SUM(v * 2), COUNT(*) FROM t WHERE v > 2
        GROUP BY k, w""",
    ),
    "hop": (
        f"""WITH q AS (SELECT k AS key, v + 1 AS d, window_start AS began, window_end
          FROM HOP(TABLE t, DESCRIPTOR(ts), {MINUTE}, INTERVAL '2' MINUTE))
        SELECT began, key, MAX(d) AS m, COUNT(DISTINCT d) AS n
        FROM (SELECT * FROM q WHERE d <> 5) {{above}} GROUP BY key, began HAVING COUNT(*) > 1""",
        f"""SELECT w, k, MAX(v + 1), COUNT(DISTINCT v) FROM (SELECT *, {STARTS} AS w FROM t)
        WHERE v <> 4 GROUP BY w, k HAVING COUNT(*) > 1""",
    ),
    "distinct": (
        f"""SELECT DISTINCT k, v, window_end
        FROM TUMBLE(TABLE t, DESCRIPTOR(ts), {MINUTE}) {{above}}""",
        "SELECT DISTINCT k, v, date_trunc('minute', ts) + INTERVAL 1 MINUTE FROM t",
    ),
    "session": (
        """SELECT user_name, window_start AS at, window_end AS until, SUM(d) AS s
        FROM (SELECT k AS user_name, v * 2 AS d, window_start, window_end
          FROM SESSION(TABLE (SELECT * FROM t WHERE v > 2) PARTITION BY k, DESCRIPTOR(ts),
            INTERVAL '20' SECOND))
        GROUP BY user_name, window_start, window_end""",
        f"{ISLANDS} SELECT k, min(ts), max(ts) + INTERVAL 20 SECOND, sum(v * 2) FROM s"
        " GROUP BY k, g",
    ),
}
CASES = [
    *((name, above) for name in ("tumble", "hop") for above in ("", ABOVE)),
    ("distinct", ""),
    ("session", ""),
]


def _row(chance: random.Random, key: int) -> Row:
    second = chance.randrange(240)
    ts = f"2024-01-01T09:{second // 60:02}:{second % 60:02}Z"
    return {"id": key, "k": chance.choice("ab"), "v": chance.randrange(8), "ts": ts}


def _expected(rows: list[Row], text: str) -> list[Any]:
    con = connection()
    con.register("given", pa.Table.from_pylist(rows))
    con.execute("CREATE OR REPLACE VIEW t AS SELECT * REPLACE (ts::TIMESTAMPTZ AS ts) FROM given")
    return list(con.sql(text).fetchall())


@pytest.mark.parametrize(("name", "above"), CASES)
@pytest.mark.parametrize(
    "seed",
    [
        1,
        *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3)),
        *(pytest.param(seed, marks=pytest.mark.hours) for seed in range(4, 14)),
    ],
)
def test_the_last_revisions_are_those_of_the_rows(
    name: str, above: str, seed: int, tmp_path: Path
) -> None:
    ours, theirs = QUERIES[name]
    condition = above.replace("window_end", "began") if name == "hop" else above
    chance = random.Random(seed)
    rows = [_row(chance, key) for key in range(30)]
    batches = delivered(chance, [{**row, "lsn": at} for at, row in enumerate(rows)], keyed=False)
    store = tmp_path / "state" if seed % 2 else None
    found = answered(f"{STREAM} {ours.format(above=condition)} {KEPT}", batches, store)
    columns = [c for c in (found[0] if found else ()) if c not in CHANGELOG_NAMES.values()]
    assert found
    assert bag([[row[c] for c in columns] for row in found]) == bag(_expected(rows, theirs))
