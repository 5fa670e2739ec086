"""Random changes of a table, in random order, batches, replays and restarts.

The last revision of every result equals DuckDB's batch answer over the rows that the table has in
the end.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from sqlwin.schema import CHANGELOG_NAMES
from tests.properties.duck import connection
from tests.properties.fed import Row, answered, bag, delivered

SCHEMA = pa.schema([("id", pa.int64()), ("k", pa.string()), ("v", pa.int64()), ("ts", pa.string())])
COLUMNS = "k STRING, v BIGINT, ts TIMESTAMP, lsn BIGINT, WATERMARK FOR ts AS ts, OFFSET lsn"
KEYED = f"""CREATE TABLE t (id BIGINT, {COLUMNS}, PRIMARY KEY (id) NOT ENFORCED)
WITH (changelog = 'upsert');"""
BY_VALUE = f"CREATE TABLE t (id BIGINT, {COLUMNS}) WITH (changelog = 'retract');"
POLICIES = "EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '10' DAY"
TUMBLE = f"""SELECT k, window_start AS at, SUM(v) AS s, COUNT(*) AS n, MAX(v) AS m
FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY k, window_start, window_end {POLICIES}"""
HOP = f"""SELECT window_end AS at, COUNT(DISTINCT k) AS n, MEDIAN(v) AS m
FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)
GROUP BY window_start, window_end {POLICIES}"""
SESSION = f"""SELECT k, window_start AS at, window_end AS until, SUM(v) AS s
FROM SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '20' SECOND)
GROUP BY k, window_start, window_end {POLICIES}"""
OVER = f"""SELECT id, v, SUM(v) OVER (PARTITION BY k ORDER BY ts
  RANGE INTERVAL '1' MINUTE PRECEDING) AS s FROM t {POLICIES}"""
QUERIES = {
    "rows": ("SELECT id, k, v FROM t WHERE v > 3", "SELECT id, k, v FROM t WHERE v > 3"),
    "tumble": (
        TUMBLE,
        "SELECT k, date_trunc('minute', ts) AS x, SUM(v), COUNT(*), MAX(v) FROM t GROUP BY k, x",
    ),
    "hop": (
        HOP,
        "SELECT x, COUNT(DISTINCT k), MEDIAN(v) FROM (SELECT *, unnest([date_trunc('minute', ts) "
        "+ INTERVAL 1 MINUTE, date_trunc('minute', ts) + INTERVAL 2 MINUTE]) AS x FROM t) "
        "GROUP BY x",
    ),
    "session": (
        SESSION,
        "WITH b AS (SELECT *, coalesce(ts > lag(ts) OVER (PARTITION BY k ORDER BY ts) + INTERVAL "
        "20 SECOND, true) AS new FROM t), s AS (SELECT *, sum(new::INT) OVER (PARTITION BY k "
        "ORDER BY ts) AS g FROM b) SELECT k, min(ts), max(ts) + INTERVAL 20 SECOND, sum(v) FROM s "
        "GROUP BY k, g",
    ),
    "over": (
        OVER,
        "SELECT id, v, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL 1 MINUTE "
        "PRECEDING AND CURRENT ROW) FROM t",
    ),
    "group": (
        "SELECT k, SUM(v) AS s, MIN(v) AS m FROM t GROUP BY k",
        "SELECT k, SUM(v), MIN(v) FROM t GROUP BY k",
    ),
    "distinct": ("SELECT DISTINCT k FROM t", "SELECT DISTINCT k FROM t"),
    "top": (
        "SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS p "
        "FROM t) WHERE p = 1",
        "SELECT k, MAX(v) FROM t GROUP BY k",
    ),
    "union": (
        "SELECT k, v FROM t WHERE v > 5 UNION ALL SELECT k, v FROM t WHERE v < 8",
        "SELECT k, v FROM t WHERE v > 5 UNION ALL SELECT k, v FROM t WHERE v < 8",
    ),
    "join": (
        "SELECT a.id, b.id AS other FROM t a FULL JOIN t b ON a.k = b.k AND a.v = b.v + 1",
        "SELECT a.id, b.id FROM t a FULL JOIN t b ON a.k = b.k AND a.v = b.v + 1",
    ),
    "anti": (
        "SELECT a.id FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE b.v = a.v + 1)",
        "SELECT a.id FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE b.v = a.v + 1)",
    ),
    "chain": (
        f"SELECT at, MAX(s) AS m FROM ({TUMBLE.replace('window_start AS at', 'window_end AS at')}) "
        "GROUP BY at",
        "SELECT x, MAX(s) FROM (SELECT k, date_trunc('minute', ts) + INTERVAL 1 MINUTE AS x, "
        "SUM(v) AS s FROM t GROUP BY k, x) GROUP BY x",
    ),
}


def changes(chance: random.Random, count: int) -> tuple[list[Row], list[Row]]:
    """Changes, numbered by `lsn`, each with all its columns; and the table they leave."""
    table: dict[int, Row] = {}
    made: list[Row] = []

    def add(op: str, row: Row) -> None:
        made.append({**row, "op": op, "lsn": len(made)})

    for _ in range(count):
        key, second = chance.randrange(6), chance.randrange(240)
        old = table.pop(key, None)
        if old is not None and chance.random() < 0.3:
            add("-D", old)
            continue
        ts = f"2024-01-01T09:{second // 60:02}:{second % 60:02}Z"
        table[key] = {"id": key, "k": chance.choice("ab"), "v": chance.randrange(10), "ts": ts}
        if old is not None:
            add("-U", old)
        add("+I" if old is None else "+U", table[key])
    return made, list(table.values())


def expected(con: duckdb.DuckDBPyConnection, table: Sequence[Row], text: str) -> list[Any]:
    con.register("given", pa.Table.from_pylist(list(table), SCHEMA))
    con.execute("CREATE OR REPLACE VIEW t AS SELECT * REPLACE (ts::TIMESTAMPTZ AS ts) FROM given")
    return list(con.sql(text).fetchall())


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("declared", [KEYED, BY_VALUE], ids=["upsert", "retract"])
@pytest.mark.parametrize(
    "seed",
    [
        1,
        pytest.param(2, marks=pytest.mark.long),
        *(pytest.param(seed, marks=pytest.mark.hours) for seed in range(3, 12)),
    ],
)
def test_the_last_revisions_are_those_of_the_table(
    name: str, declared: str, seed: int, tmp_path: Path
) -> None:
    ours, theirs = QUERIES[name]
    chance = random.Random(seed)
    made, table = changes(chance, 25)
    batches = delivered(chance, made, declared == KEYED)
    store = tmp_path / "state" if seed % 2 else None
    found = answered(f"{declared} {ours}", batches, store)
    columns = [c for c in (found[0] if found else ()) if c not in CHANGELOG_NAMES.values()]
    assert bag([[row[c] for c in columns] for row in found]) == bag(
        expected(connection(), table, theirs)
    )
