"""Queries in WHERE: which joins they are, and which are refused."""

from __future__ import annotations

import pytest

from tests.support.sql.cases import underlined
from tests.support.sql.joins import joined, mistake, query, tree

ORDERS = "SELECT o.id FROM orders o WHERE "
NEAR = "s.at BETWEEN o.ts AND o.ts + INTERVAL '1' HOUR"
CASES = [
    # a query in WHERE, and the join that it is
    (
        f"EXISTS (SELECT 1 FROM shipments s WHERE o.id = s.id AND {NEAR})",
        f"SELECT o.id FROM orders o SEMI JOIN shipments s ON o.id = s.id AND {NEAR}",
    ),
    (
        f"NOT  EXISTS(SELECT * FROM shipments s WHERE o.id = s.id AND {NEAR} AND cost > 2)",
        f"SELECT o.id FROM orders o ANTI JOIN shipments s ON o.id = s.id AND {NEAR} AND cost > 2",
    ),
    (  # id, at and cost are those of shipments, product of the orders
        f"EXISTS (SELECT 1 FROM shipments s WHERE id = o.id AND {NEAR} AND product = 'tea')",
        "SELECT o.id FROM orders o SEMI JOIN shipments s "
        f"ON s.id = o.id AND {NEAR} AND o.product = 'tea'",
    ),
    (
        f"o.id IN (SELECT order_id FROM shipments s WHERE {NEAR})",
        f"SELECT o.id FROM orders o SEMI JOIN shipments s ON {NEAR} AND o.id = s.order_id",
    ),
    (  # the value is of the query around, what is selected of the one in brackets
        f"id + 1 in (SELECT id AS i FROM shipments s WHERE {NEAR})",
        f"SELECT o.id FROM orders o SEMI JOIN shipments s ON {NEAR} AND o.id + 1 = s.id",
    ),
    (
        "value > 1 AND o.product IN (SELECT product FROM products WHERE maker = 'x') AND value < 9",
        "SELECT o.id FROM orders o SEMI JOIN products ON o.product = products.product "
        "AND maker = 'x' WHERE value > 1 AND value < 9",
    ),
    (
        "o.id IN (SELECT MAX(order_id) FROM shipments GROUP BY cost)",
        "WITH in1 (value) AS (SELECT MAX(order_id) FROM shipments GROUP BY cost) "
        "SELECT o.id FROM orders o SEMI JOIN in1 ON o.id = in1.value",
    ),
    (
        f"EXISTS (SELECT 1 FROM shipments s WHERE o.id = s.id AND {NEAR}) "
        "AND NOT EXISTS (SELECT 1 FROM products p WHERE p.product = o.product)",
        f"SELECT o.id FROM orders o SEMI JOIN shipments s ON o.id = s.id AND {NEAR} "
        "ANTI JOIN products p ON p.product = o.product",
    ),
    (
        f"NOT NOT EXISTS (SELECT 1 FROM shipments s WHERE o.id = s.id AND {NEAR})",
        f"SELECT o.id FROM orders o SEMI JOIN shipments s ON o.id = s.id AND {NEAR}",
    ),
    (
        f"NOT o.id NOT IN (SELECT order_id FROM shipments s WHERE {NEAR})",
        f"SELECT o.id FROM orders o SEMI JOIN shipments s ON {NEAR} AND o.id = s.order_id",
    ),
]


@pytest.mark.parametrize(("where", "written"), CASES)
def test_it_is_a_join(where: str, written: str) -> None:
    assert tree(ORDERS + where) == tree(written)


def test_a_union_is_joined_by_its_one_column() -> None:
    union = "SELECT order_id FROM shipments UNION ALL SELECT cost FROM shipments"
    assert joined(f"{ORDERS}o.id IN ({union})").startswith("Join semi on [id = _key1]")


def test_its_policies_are_those_of_the_query() -> None:
    exists = f"{ORDERS}EXISTS (SELECT 1 FROM shipments s WHERE o.id = s.id) RETAIN 1 HOUR"
    semi = "SELECT o.id FROM orders o SEMI JOIN shipments s ON o.id = s.id RETAIN 1 HOUR"
    assert query(exists).plan == query(semi).plan


def test_a_window_of_the_stream_beside_it_is_refused() -> None:
    exists = "EXISTS (SELECT 1 FROM shipments s WHERE s.id = o.id)"
    error = mistake(f"SELECT COUNT(*) FROM orders [RANGE 1 HOUR] o WHERE {exists}")
    assert error.message == "EXISTS beside a window of the stream is not supported yet"
    assert underlined(error) == "EXISTS"
