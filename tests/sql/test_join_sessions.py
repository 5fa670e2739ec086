# ruff: noqa: E501
"""Session joins: the key, the gaps, where conditions go; and what is refused."""

from __future__ import annotations

import pytest

from sqlwin.plan.ir.nodes import Project
from sqlwin.policies import Late
from sqlwin.windows.joins import JoinSessions
from sqlwin.windows.session import Session
from tests.support.sql.cases import MINUTE
from tests.support.sql.joins import join, joined, mistake, tree

LEFT = "orders OVER (PARTITION BY id ORDER BY ts SESSION 30 MINUTES GAP) AS o"
RIGHT = "shipments OVER (PARTITION BY id ORDER BY at SESSION 10 MINUTES GAP) AS s"
ON = "ON o.id = s.id"
BOTH = JoinSessions(Session(30 * MINUTE), Session(10 * MINUTE), 1)
LINE = "session gap 30 minutes and session gap 10 minutes of the first key"


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti"])
def test_kinds(kind: str) -> None:
    made = join(f"SELECT value FROM {LEFT} {kind} JOIN {RIGHT} {ON}")
    assert (made.kind, made.match, made.residual) == (kind, BOTH, None)
    assert (made.buckets, made.unbounded) == ((("o.id",), ("s.id",)), ())


@pytest.mark.parametrize(
    "source",
    [
        f"{LEFT} JOIN {RIGHT} USING (id)",
        f"{LEFT}, {RIGHT} WHERE s.id = o.id",
        f"{LEFT} CROSS JOIN {RIGHT} WHERE s.id = o.id",
        f"{LEFT.replace(' OVER (', ' [').replace(')', ']')} JOIN {RIGHT} {ON}",
        f"{LEFT.replace('30 MINUTES', '(INTERVAL 30 MINUTES)')} JOIN {RIGHT} {ON}",
        f"(SELECT * FROM orders) {LEFT.removeprefix('orders ')} JOIN {RIGHT} {ON}",
    ],
)
def test_spellings(source: str) -> None:
    assert joined(f"SELECT value FROM {source}") == f"Join inner on [o.id = s.id] {LINE}"


def test_the_session_key_comes_first_among_the_keys() -> None:
    text = f"SELECT value FROM {LEFT} JOIN {RIGHT} ON value = cost AND o.id = s.id"
    made = join(text)
    assert made.left_keys[0] == "o.id" and made.right_keys[0] == "s.id"
    assert (len(made.left_keys), made.buckets) == (2, (("o.id",), ("s.id",)))


def test_a_key_of_several_columns_stands_in_any_order() -> None:
    left = LEFT.replace("BY id", "BY id, value")
    right = RIGHT.replace("BY id", "BY cost, id")
    made = join(f"SELECT 1 AS x FROM {left} JOIN {right} {ON} AND value = cost AND o.id = s.cost")
    assert isinstance(made.match, JoinSessions) and made.match.keys == 2
    assert [len(keys) for keys in (*made.buckets, made.left_keys)] == [2, 2, 3]


def test_conditions_are_of_pairs_and_change_no_session() -> None:
    on = f"SELECT o.id FROM {LEFT} JOIN {RIGHT} {ON} AND value > 1 AND s.cost > 2 AND at >= ts AND TRUE"
    assert tree(on) == [
        "Project `o.id` AS id",
        f"  Join inner on [o.id = s.id] {LINE} where value > 1 AND cost > 2 AND at >= ts",
        "    Project id AS o.id, value, ts",
        "      Scan orders",
        "    Project id AS s.id, cost, at",
        "      Scan shipments",
    ]
    where = tree(f"SELECT o.id FROM {LEFT} LEFT JOIN {RIGHT} {ON} WHERE value > 1 AND cost > 2")
    assert where[1:3] == [
        "  Filter value > 1 AND cost > 2",
        f"    Join left on [o.id = s.id] {LINE}",
    ]
    assert len(where) == 7


def test_a_query_in_from_filters_before() -> None:
    source = LEFT.replace("orders", "(SELECT * FROM orders WHERE value > 1)")
    assert "      Filter value > 1" in tree(f"SELECT o.id FROM {source} JOIN {RIGHT} {ON}")


def test_a_gap_of_each_row_is_a_column_of_its_input() -> None:
    left = LEFT.replace("30 MINUTES", "(CASE WHEN value > 1 THEN '1 minute' ELSE '2 hours' END)")
    made = join(f"SELECT s.id FROM {left} JOIN {RIGHT} {ON}")
    assert isinstance(made.match, JoinSessions) and isinstance(made.left, Project)
    gap = made.match.left.gap_by
    assert made.match.left.gap is None and gap in dict(made.left.columns)
    assert made.policy.retain == 10 * MINUTE


def test_kept_as_long_as_the_longer_gap_and_the_delay() -> None:
    policy = join(f"SELECT value FROM {LEFT} JOIN {RIGHT} {ON}").policy
    assert (policy.retain, policy.late) == (30 * MINUTE, Late.ON_UPDATE)
    short = f"{LEFT} JOIN {RIGHT} {ON}".replace("30 MINUTES", "1 SECOND").replace("10 M", "1 M")
    assert (
        join(f"SELECT value FROM {short.replace('1 MINUTES', '2 SECONDS')}").policy.retain == MINUTE
    )
    assert (
        join(f"SELECT value FROM {LEFT} JOIN {RIGHT} {ON} RETAIN 1 MINUTE").policy.retain == MINUTE
    )


def test_joined_rows_are_joined_again_by_a_window() -> None:
    text = f"SELECT o.id FROM {LEFT} JOIN {RIGHT} {ON} JOIN orders t ON t.id = o.id AND t.value > 1"
    assert joined(text) == "Join inner on [o.id = t.id] RANGE [unbounded, unbounded]"


# --- refusals -------------------------------------------------------------------------


def test_what_would_be_legal_names_the_session_key() -> None:
    error = mistake(f"SELECT value FROM {LEFT} JOIN {RIGHT} ON value = cost")
    assert error.legal == "ON o.id = s.id"
