"""Plans of joins against DuckDB's answer of the same text: conditions went where they may.

A join below another is a derived stream, whose rows lie at its event time.
"""

from __future__ import annotations

import random
import re

import duckdb
import pytest

from sqlwin.plan.ir.nodes import Filter, Join, Node, Project, Scan, StaticScan
from sqlwin.windows.joins import JoinWindow
from tests.support.sql.joins import query

KINDS = ("INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
NEAR = "s.at BETWEEN o.ts - INTERVAL '4' MINUTE AND o.ts + INTERVAL '2' MINUTE"
QUERIES = [
    *(f"SELECT o.value, o.ts FROM orders o {kind} JOIN shipments s ON o.id = s.id AND {NEAR} "
      "AND value > 1 AND cost > 1 AND value <> cost WHERE o.value < 5" for kind in KINDS),
    *(f"SELECT o.value, s.cost, o.id FROM orders o {kind} JOIN shipments s ON o.id = s.id "
      "AND o.ts < s.at WHERE o.value > 1 AND (s.cost > 1 OR s.cost IS NULL) AND s.order_id <= o.id"
      for kind in KINDS[:4]),
    *(f"SELECT o.value, s.cost, t.value AS v FROM orders o {one} JOIN shipments s "
      f"ON o.id = s.id AND {NEAR} {two} JOIN orders t ON t.id = s.id "
      "AND t.ts BETWEEN o.ts - INTERVAL '3' MINUTE AND o.ts + INTERVAL '5' MINUTE AND cost < 5 "
      "WHERE o.value >= 1"
      for one in KINDS[:4] for two in KINDS[:4]),
    *(f"SELECT o.value, t.cost FROM orders o {one} JOIN shipments s ON o.id = s.id AND {NEAR} "
      f"{two} JOIN shipments t ON t.id = o.id AND t.at > o.ts WHERE o.product = 'a'"
      for one in KINDS[4:] for two in KINDS[:4]),
    *(f"SELECT id, product, value, cost FROM orders o {kind} JOIN shipments s USING (id) "
      "WHERE id > 1" for kind in KINDS[:4]),
    "SELECT o.id, t.id AS b, p.maker FROM orders o, shipments s, orders t LEFT JOIN products p "
    "ON p.product = t.product WHERE o.id = s.order_id AND t.id = s.id AND t.ts <= s.at "
    "AND o.ts > t.ts AND s.cost + 1 = o.value + 1 AND o.product <> t.product",
    "SELECT o.id, maker FROM orders o ANTI JOIN shipments s ON o.id = s.id AND s.at = o.ts "
    "LEFT JOIN products p ON p.product = o.product AND o.value > 2 WHERE maker IS NULL",
    "SELECT j.v, s.cost FROM (SELECT o.id AS k, t.value AS v FROM orders o LEFT JOIN orders t "
    "ON o.id = t.id AND t.ts < o.ts WHERE o.value > 1) j FULL JOIN shipments s ON j.k = s.id",
    *(f"SELECT value, ts FROM orders o WHERE value < 5 AND {no} EXISTS (SELECT 1 FROM shipments s "
      f"WHERE id = o.id AND {NEAR} AND cost > 1 AND value <> cost) AND o.id > 0"
      for no in ("", "NOT")),
    f"SELECT id, ts FROM orders o WHERE id IN (SELECT order_id FROM shipments s WHERE {NEAR}) "
    "AND value + 1 IN (SELECT id FROM shipments WHERE cost > 2) AND product IN ('a', 'b')",
    "SELECT id, ts FROM orders o WHERE EXISTS (SELECT * FROM (SELECT z.id AS k, z.at FROM "
    "shipments z WHERE cost < 4) s WHERE k = o.id AND s.at > o.ts) AND NOT EXISTS "
    "(SELECT maker FROM products p WHERE p.product = o.product AND maker <> 'x')",
    "SELECT o.id, cost, o.ts FROM orders o LEFT JOIN shipments s ON o.id = s.id AND s.at = o.ts "
    "WHERE o.id IN (SELECT order_id FROM shipments UNION ALL SELECT value FROM orders) "
    "AND EXISTS (SELECT 1 FROM orders t WHERE t.id = o.id AND t.ts < o.ts)",
    *(f"SELECT * FROM products p {words} orders o ON o.product = p.product AND o.value > 2"
      for words in ("JOIN", "RIGHT JOIN")),
]  # fmt: skip


def tables(seed: int) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": 1})
    con.execute("SET TimeZone = 'UTC'")
    roll = random.Random(seed)

    def instant() -> str:
        return f"TIMESTAMPTZ '2024-01-01 00:{roll.randrange(12):02}:00Z'"

    orders = [
        f"({roll.randrange(4)}, '{roll.choice('abc')}', {roll.randrange(6)}, {instant()})"
        for _ in range(14)
    ]
    shipments = [
        f"({roll.choice((0, 1, 2, 3, 'NULL'))}, {roll.randrange(4)}, "
        f"{roll.randrange(6)}, {instant()})"
        for _ in range(14)
    ]
    products = "('a', 'x'), ('b', 'y'), ('b', 'z')"
    for name, columns, rows in (
        ("orders", "id, product, value, ts", ", ".join(orders)),
        ("shipments", 'id, order_id, cost, "at"', ", ".join(shipments)),
        ("products", "product, maker", products),
    ):
        con.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {rows}) AS t({columns})")
    return con


def meant(node: Node) -> str:
    """The plan as SQL, each row with its event time in microseconds."""
    if isinstance(node, Scan) and node.stream.of:
        rows = " UNION ALL ".join(meant(plan) for plan in node.stream.of)
        time = "NULL::BIGINT" if node.stream.ts is None else f'epoch_us("{node.stream.ts}")'
        return f"SELECT * EXCLUDE (pos), {time} AS pos FROM ({rows})"
    if isinstance(node, Scan):
        return f'SELECT *, epoch_us("{node.stream.ts}") AS pos FROM {node.stream.name}'
    if isinstance(node, StaticScan):
        return f"SELECT *, NULL::BIGINT AS pos FROM {node.stream.name}"
    if isinstance(node, Filter):
        return f"SELECT * FROM ({meant(node.input)}) WHERE {node.predicate.duckdb}"
    if isinstance(node, Project):
        columns = [f'{scalar.duckdb} AS "{name}"' for name, scalar in node.columns]
        return f"SELECT {', '.join([*columns, 'pos'])} FROM ({meant(node.input)})"
    assert isinstance(node, Join) and isinstance(node.match, JoinWindow)
    tests = [f'"{a}" = "{b}"' for a, b in zip(node.left_keys, node.right_keys, strict=True)]
    tests += [f"rpos - lpos >= {node.match.low}"] * (node.match.low is not None)
    tests += [f"rpos - lpos <= {node.match.high}"] * (node.match.high is not None)
    tests += [node.residual.duckdb] * 1 if node.residual is not None else []
    left, right = (
        f"(SELECT * EXCLUDE (pos), pos AS {called} FROM ({meant(side)}))"
        for side, called in ((node.left, "lpos"), (node.right, "rpos"))
    )
    return (
        f"SELECT *, lpos AS pos FROM {left} {node.kind} JOIN {right} "
        f"ON {' AND '.join(tests) or 'TRUE'}"
    )


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 5), marks=pytest.mark.long)])
@pytest.mark.parametrize("text", QUERIES)
def test_a_plan_answers_as_its_text(text: str, seeds: range) -> None:
    plan = query(text).plan
    names = ", ".join(f'"{column.name}"' for column in plan.schema)
    found = 0
    for seed in seeds:
        con = tables(seed)
        expected = con.execute(re.sub(r"(?<=\.)at\b", '"at"', text)).fetchall()
        reported = con.execute(f"SELECT {names} FROM ({meant(plan)})").fetchall()
        assert sorted(map(str, reported)) == sorted(map(str, expected)), (seed, meant(plan))
        found += len(reported)
    assert found, "the tables are too small to tell"
