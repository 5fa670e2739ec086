"""Random rows with arrays and maps, in random order, batches, replays and restarts.

The last revision of every result over their elements equals DuckDB's batch answer. Where the rows
are those of a changelog, an element goes and changes with its row.
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

LINES = pa.struct([("sku", pa.string()), ("qty", pa.int64())])
COLUMNS = """k STRING, xs ARRAY<BIGINT>, items ARRAY<ROW<sku STRING, qty BIGINT>>,
m MAP<STRING, BIGINT>, ts TIMESTAMP, lsn BIGINT, WATERMARK FOR ts AS ts, OFFSET lsn"""
STREAM = f"CREATE STREAM t (id BIGINT, {COLUMNS});"
TABLE = f"CREATE TABLE t (id BIGINT, {COLUMNS}, PRIMARY KEY (id) NOT ENFORCED) WITH (changelog = 'upsert');"  # noqa: E501
KEPT = "EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '10' DAY"
XS = "SELECT *, unnest(xs) AS x, unnest(range(1, len(xs) + 1)) AS n FROM t"
LINE = "SELECT * EXCLUDE (items, i), i.sku, i.qty FROM (SELECT *, unnest(items) AS i FROM t)"
ENTRY = "SELECT * EXCLUDE e, e.key, e.value FROM (SELECT *, unnest(map_entries(m)) AS e FROM t)"
OUTER = f"SELECT id, k, ts, x, n FROM ({XS}) UNION ALL SELECT id, k, ts, NULL, NULL FROM t WHERE coalesce(len(xs), 0) = 0"  # noqa: E501
MINUTE = "date_trunc('minute', ts)"
QUERIES = {
    "rows": (
        "SELECT id, x, n FROM t CROSS JOIN UNNEST(xs) WITH ORDINALITY AS u(x, n) WHERE x <> 2",
        f"SELECT id, x, n FROM ({XS}) WHERE x <> 2",
    ),
    "outer": (
        "SELECT id, at, x FROM t LATERAL VIEW OUTER POSEXPLODE(xs) u AS at, x",
        f"SELECT id, n - 1, x FROM ({OUTER})",
    ),
    "tumble": (
        f"""SELECT window_start AS at, sku, SUM(qty) AS s, COUNT(*) AS n
        FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE), UNNEST(items) AS i
        GROUP BY window_start, window_end, sku {KEPT}""",
        f"SELECT {MINUTE} AS w, sku, SUM(qty), COUNT(*) FROM ({LINE}) GROUP BY w, sku",
    ),
    "map": (
        "SELECT key, SUM(value) AS s, COUNT(*) AS n FROM t CROSS JOIN UNNEST(m) AS e GROUP BY key",
        f"SELECT key, SUM(value), COUNT(*) FROM ({ENTRY}) GROUP BY key",
    ),
    "over": (
        f"""SELECT id, n, SUM(x) OVER (PARTITION BY k ORDER BY ts
        RANGE INTERVAL '1' MINUTE PRECEDING) AS s
        FROM t LEFT JOIN UNNEST(xs) WITH ORDINALITY AS u(x, n) ON TRUE {KEPT}""",
        f"""SELECT id, n, SUM(x) OVER (PARTITION BY k ORDER BY ts
        RANGE BETWEEN INTERVAL 1 MINUTE PRECEDING AND CURRENT ROW) FROM ({OUTER})""",
    ),
    "session": (
        f"""SELECT x, window_start AS at, window_end AS until, COUNT(*) AS n
        FROM (SELECT x, ts FROM t CROSS JOIN UNNEST(xs) AS u(x))
        OVER (PARTITION BY x SESSION INTERVAL '20' SECOND GAP)
        GROUP BY x, window_start, window_end {KEPT}""",
        f"""WITH b AS (SELECT *, coalesce(ts > lag(ts) OVER (PARTITION BY x ORDER BY ts)
        + INTERVAL 20 SECOND, true) AS new FROM ({XS})), s AS (SELECT *, sum(new::INT) OVER
        (PARTITION BY x ORDER BY ts ROWS UNBOUNDED PRECEDING) AS g FROM b)
        SELECT x, min(ts), max(ts) + INTERVAL 20 SECOND, count(*) FROM s GROUP BY x, g""",
    ),
    "join": (
        "SELECT a.id, b.id AS other, x FROM t a CROSS JOIN UNNEST(a.xs) AS u(x) JOIN t b "
        "ON x = b.id",
        f"SELECT a.id, b.id, a.x FROM ({XS}) a JOIN t b ON a.x = b.id",
    ),
    "twice": (
        "SELECT id, x, sku, COUNT(*) AS n FROM t CROSS JOIN UNNEST(xs) AS u(x) "
        "CROSS JOIN UNNEST(items) AS i GROUP BY id, x, sku",
        f"SELECT id, x, sku, COUNT(*) FROM (SELECT *, unnest(xs) AS x FROM ({LINE})) GROUP BY ALL",
    ),
    "collected": (
        f"""SELECT at, x, COUNT(*) AS n FROM (
          SELECT k, window_end AS at, COLLECT_LIST(id) AS ids
          FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
          GROUP BY k, window_start, window_end {KEPT}) CROSS JOIN UNNEST(ids) AS u(x)
        GROUP BY at, x""",
        f"SELECT {MINUTE} + INTERVAL 1 MINUTE AS w, id, COUNT(*) FROM t GROUP BY w, id",
    ),
}  # fmt: skip


def _row(chance: random.Random, key: int) -> Row:
    second = chance.randrange(240)
    lists = {
        "xs": [chance.choice([1, 2, 2, 3, None]) for _ in range(chance.randrange(4))],
        "items": [
            {"sku": chance.choice("pq"), "qty": chance.randrange(9)}
            for _ in range(chance.randrange(3))
        ],
        "m": {name: chance.randrange(9) for name in chance.sample("uvw", chance.randrange(4))},
    }
    missing = chance.choice([None, None, None, "xs", "items", "m"])
    given: Row = {name: None if name == missing else each for name, each in lists.items()}
    ts = f"2024-01-01T09:{second // 60:02}:{second % 60:02}Z"
    return {"id": key, "k": chance.choice("ab"), **given, "ts": ts}


def _stream(chance: random.Random, count: int) -> tuple[list[Row], list[Row]]:
    made = [_row(chance, key) for key in range(count)]
    return [{**row, "lsn": at} for at, row in enumerate(made)], made


def _changes(chance: random.Random, count: int) -> tuple[list[Row], list[Row]]:
    """Changes of a table, and what they leave."""
    table: dict[int, Row] = {}
    made: list[Row] = []
    for lsn in range(count):
        key = chance.randrange(6)
        if key in table and chance.random() < 0.3:
            made.append({"id": key, "op": "-D", "lsn": lsn})
            del table[key]
        else:
            table[key] = _row(chance, key)
            made.append({**table[key], "op": "+U", "lsn": lsn})
    return made, list(table.values())


def _expected(rows: list[Row], text: str) -> list[Any]:
    schema = pa.schema(
        [
            ("id", pa.int64()),
            ("k", pa.string()),
            ("xs", pa.list_(pa.int64())),
            ("items", pa.list_(LINES)),
            ("m", pa.map_(pa.string(), pa.int64())),
            ("ts", pa.string()),
        ]
    )
    entries = [{**row, "m": None if row["m"] is None else [*row["m"].items()]} for row in rows]
    con = connection()
    con.register("given", pa.Table.from_pylist(entries, schema))
    con.execute("CREATE OR REPLACE VIEW t AS SELECT * REPLACE (ts::TIMESTAMPTZ AS ts) FROM given")
    return list(con.sql(text).fetchall())


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("kind", ["stream", "changelog"])
@pytest.mark.parametrize(
    "seed",
    [
        1,
        pytest.param(2, marks=pytest.mark.long),
        *(pytest.param(seed, marks=pytest.mark.hours) for seed in range(3, 14)),
    ],
)
def test_the_last_revisions_are_those_of_the_elements(
    name: str, kind: str, seed: int, tmp_path: Path
) -> None:
    ours, theirs = QUERIES[name]
    if name == "join" and kind == "stream":
        ours = f"{ours} AND {NEAR}"
    chance = random.Random(seed)
    made, rows = (_stream if kind == "stream" else _changes)(chance, 20)
    batches = delivered(chance, made, keyed=False)
    store = tmp_path / "state" if seed % 2 else None
    found = answered(f"{STREAM if kind == 'stream' else TABLE} {ours}", batches, store)
    columns = [c for c in (found[0] if found else ()) if c not in CHANGELOG_NAMES.values()]
    assert bag([[row[c] for c in columns] for row in found]) == bag(_expected(rows, theirs))


NEAR = "b.ts BETWEEN a.ts - INTERVAL '1' HOUR AND a.ts + INTERVAL '1' HOUR"
