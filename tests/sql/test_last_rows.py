"""CQL's last-value join is the plan of FOR SYSTEM_TIME AS OF."""

from __future__ import annotations

import pytest

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Node
from tests.support.sql.joins import query

NOW, LAST = "orders o [NOW]", "shipments s [PARTITION BY id ROWS 1]"
AS_OF = "orders o {}JOIN shipments FOR SYSTEM_TIME AS OF o.ts AS s ON o.id = s.id"


def plan(rest: str) -> Node:
    return query(f"SELECT o.id, cost, value FROM {rest}").plan


@pytest.mark.parametrize(
    "rest",
    [
        f"{NOW}, {LAST} WHERE o.id = s.id",
        f"{NOW}, {LAST} WHERE s.id = o.id",
        f"{LAST}, {NOW} WHERE o.id = s.id",
        f"{NOW} JOIN {LAST} ON o.id = s.id",
        f"{NOW} JOIN {LAST} USING (id)",
        f"{NOW} CROSS JOIN {LAST} WHERE o.id = s.id",
        f"{NOW}, shipments s OVER (PARTITION BY id ORDER BY at ROWS 1 PRECEDING) WHERE o.id = s.id",
    ],
)
def test_it_is_an_as_of_join(rest: str) -> None:
    assert plan(rest) == plan(AS_OF.format(""))


def test_a_left_join_pads_rows_without_a_last_row() -> None:
    assert plan(f"{NOW} LEFT JOIN {LAST} ON o.id = s.id") == plan(AS_OF.format("LEFT "))


@pytest.mark.parametrize("where", ["cost > 2", "o.value = s.cost", "o.value > 1 AND cost < 3"])
def test_other_conditions_apply_to_the_last_row(where: str) -> None:
    expected = plan(f"{AS_OF.format('')} WHERE {where}")
    assert plan(f"{NOW}, {LAST} WHERE o.id = s.id AND {where}") == expected
    assert plan(f"{NOW} JOIN {LAST} ON {where} AND o.id = s.id") == expected


def test_several_streams_have_last_rows() -> None:
    other = "orders p [PARTITION BY product ROWS 1]"
    as_of = "JOIN orders FOR SYSTEM_TIME AS OF o.ts AS p ON o.product = p.product"
    text = "SELECT o.id, cost, p.value FROM "
    given = query(f"{text}{NOW}, {LAST}, {other} WHERE o.id = s.id AND o.product = p.product")
    assert given.plan == query(f"{text}{AS_OF.format('')} {as_of}").plan


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (f"orders o, {LAST} WHERE o.id = s.id", "is joined to rows of [NOW]"),
        (f"orders o [RANGE 1 HOUR], {LAST} WHERE o.id = s.id", "is joined to rows of [NOW]"),
        (f"{LAST}, orders o WHERE o.id = s.id", "is joined to rows of [NOW]"),
        (f"{NOW} FULL JOIN {LAST} ON o.id = s.id", "is joined to rows of [NOW]"),
        (f"{NOW}, {LAST}", "is looked up by this key, no more and no less"),
        (f"{NOW}, {LAST} WHERE o.value = s.cost", "is looked up by this key, no more and no less"),
        (f"{NOW} JOIN {LAST} WITHIN 1 HOUR ON o.id = s.id", "WITHIN belongs to a join"),
        (f"{NOW} LEFT JOIN {LAST} ON o.id = s.id AND cost > 2", "and tests nothing else"),
        (f"{NOW}, shipments s [PARTITION BY id % 2 ROWS 1] WHERE o.id = s.id", "those of columns"),
        (f"{NOW}, shipments s [PARTITION BY id ROWS 2] WHERE o.id = s.id", "is not partitioned"),
    ],
)
def test_what_else_it_would_be_is_refused(rest: str, message: str) -> None:
    with pytest.raises(QueryError, match=message.replace("[", r"\[")) as caught:
        plan(rest)
    assert caught.value.legal
