"""FOR SYSTEM_TIME AS OF over a rank: which is one of versions, and which is refused."""

from __future__ import annotations

import pytest

from sqlwin.plan.properties.facts import (
    join_of,
    streams_of,
)
from tests.support.sql.joins import query

LAST = "ROW_NUMBER() OVER (PARTITION BY id ORDER BY at DESC)"
AT = "FOR SYSTEM_TIME AS OF o.ts"


def joined(view: str, on: str = "o.id = s.id", shown: str = "cost") -> str:
    views = "" if view == "shipments" else f"CREATE VIEW s AS {view}; "
    read = "shipments" if view == "shipments" else "s"
    return f"{views}SELECT o.id, {shown} FROM orders o LEFT JOIN {read} {AT} AS s ON {on}"


@pytest.mark.parametrize(
    "view",
    [
        f"SELECT * FROM shipments QUALIFY {LAST} = 1",
        f"SELECT id, cost, at FROM (SELECT *, {LAST} AS rn FROM shipments) WHERE rn = 1",
        f"SELECT id, cost FROM shipments QUALIFY {LAST} <= 1",
        f"SELECT id, cost FROM (SELECT id, cost, at, {LAST} AS rn FROM shipments) WHERE rn < 2",
    ],
)
def test_the_last_row_of_each_key_is_a_version(view: str) -> None:
    assert query(joined(view)).plan == query(joined("shipments")).plan


def test_filters_and_columns_below_and_above_the_rank_stay() -> None:
    view = (
        "SELECT id, price + 1 AS cost, rn FROM "
        f"(SELECT id, cost * 2 AS price, {LAST} AS rn FROM shipments WHERE cost > 0) WHERE rn = 1"
    )
    plain = (
        "SELECT id, (cost * 2) + 1 AS cost, CAST(1 AS BIGINT) AS rn FROM shipments WHERE cost > 0"
    )
    found, same = (query(joined(each, shown="cost, rn")).plan for each in (view, plain))
    assert found == same


def test_a_condition_does_not_choose_another_time() -> None:
    hops = (
        "SELECT id, window_start, window_end, COUNT(*) AS cost FROM "
        "HOP(TABLE shipments, DESCRIPTOR(at), 1 MINUTE, 2 MINUTES) "
        "GROUP BY id, window_start, window_end"
    )
    last = LAST.replace("at DESC", "window_end DESC")
    text = f"CREATE VIEW hops AS {hops}; {joined(f'SELECT * FROM hops QUALIFY {last} = 1')}"
    for where in ("", " WHERE o.ts >= s.window_start"):
        found = join_of(query(text + where).plan)
        assert found is not None
        assert [stream.ts for stream in streams_of(found.right)] == ["window_end"]
