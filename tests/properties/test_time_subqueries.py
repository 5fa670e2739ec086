"""Random rows in random order, batches, replays and restarts, through queries in expressions that
name a time of the rows around them.

The last revision of every row equals DuckDB's batch answer of the same text.
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
WATERMARK FOR ts AS ts, OFFSET lsn);
CREATE VIEW p AS SELECT id, k, v, ts AS at FROM t WHERE v < 5;"""
VIEW = "CREATE OR REPLACE VIEW p AS SELECT id, k, v, ts AS at FROM t WHERE v < 5"
KEPT = "EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '10' DAY"
QUERIES = {
    "within": """SELECT t.id, (SELECT MAX(p.v) FROM p WHERE p.k = t.k
        AND p.at BETWEEN t.ts - INTERVAL '20' SECOND AND t.ts) AS m,
        (SELECT COUNT(*) FROM p WHERE p.k = t.k AND p.v <> 2
        AND p.at >= t.ts - INTERVAL '10' SECOND AND t.ts > p.at) AS n FROM t WHERE t.v > 1""",
    "behind": """SELECT t.id, t.k, (SELECT SUM(v) + COUNT(*) FROM p WHERE p.k = t.k
        AND t.ts < p.at AND t.ts + INTERVAL '30' SECOND > p.at) AS s FROM t""",
    "exists": """SELECT t.id FROM t WHERE t.v = 7 OR EXISTS (SELECT 1 FROM p WHERE p.k = t.k
        AND p.id <> 3 AND p.at <= t.ts + INTERVAL '5' SECOND AND p.at > t.ts - INTERVAL '5' SECOND)
        AND NOT EXISTS (SELECT 1 FROM p WHERE p.k = t.k AND p.at > t.ts
        AND p.at <= t.ts + INTERVAL '10' SECOND)""",
    "no key": """SELECT t.id, t.v > (SELECT AVG(v) FROM p WHERE
        p.at BETWEEN t.ts - INTERVAL '9' SECOND AND t.ts + INTERVAL '9' SECOND) AS above FROM t""",
    "names in quotes": """SELECT "a b".*, (SELECT COUNT(*) FROM p WHERE p.k = "a b".k
        AND p.at < "a b"."order") AS n FROM (SELECT id, k, ts AS "order" FROM t) AS "a b" """,
    "two operators": """SELECT t.id, (SELECT COUNT(DISTINCT p.v) FROM p WHERE p.at <= t.ts
        AND p.at >= t.ts - INTERVAL '15' SECOND AND p.k = t.k) AS n, (SELECT MIN(p.v) FROM p
        WHERE p.at <= t.ts AND p.at >= t.ts - INTERVAL '5' SECOND AND p.v = t.v) AS m FROM t""",
}


def _row(chance: random.Random, key: int) -> Row:
    second = chance.randrange(120)
    ts = f"2024-01-01T09:{second // 60:02}:{second % 60:02}Z"
    return {"id": key, "k": chance.choice(["a", "b", None]), "v": chance.randrange(8), "ts": ts}


def _expected(rows: list[Row], text: str) -> list[Any]:
    con = connection()
    con.register("given", pa.Table.from_pylist(rows))
    con.execute("CREATE OR REPLACE VIEW t AS SELECT * REPLACE (ts::TIMESTAMPTZ AS ts) FROM given")
    con.execute(VIEW)
    return list(con.sql(text).fetchall())


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize(
    "seed",
    [
        1,
        *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3)),
        *(pytest.param(seed, marks=pytest.mark.hours) for seed in range(4, 14)),
    ],
)
def test_the_last_revisions_are_those_of_the_rows(name: str, seed: int, tmp_path: Path) -> None:
    text, chance = QUERIES[name], random.Random(seed)
    rows = [_row(chance, key) for key in range(30)]
    batches = delivered(chance, [{**row, "lsn": at} for at, row in enumerate(rows)], keyed=False)
    store = tmp_path / "state" if seed % 2 else None
    quoted = text.replace('"', "`")
    found = answered(f"{STREAM} {quoted} {KEPT}", batches, store)
    columns = [c for c in (found[0] if found else ()) if c not in CHANGELOG_NAMES.values()]
    assert found
    assert bag([[row[c] for c in columns] for row in found]) == bag(_expected(rows, text))
