"""Joins from every spelling: kinds, windows, keys, names, and where conditions go."""

from __future__ import annotations

import pytest

from sqlwin.plan.explain.lines import line
from sqlwin.plan.ir.nodes import Join, Project, Scan, Stream
from sqlwin.plan.properties.facts import (
    derived_streams,
    join_of,
    window_policy,
)
from sqlwin.policies import Early, Expired, Late, TtlTime
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinWindow
from tests.support.sql.cases import HOUR, MINUTE, SECOND
from tests.support.sql.joins import join, joined, mistake, query, stages, tree

ON = "ON o.id = s.id"
UNBOUNDED = JoinWindow(Unit.RANGE, None, None)


def bounds(low: int | None, high: int | None) -> JoinWindow:
    return JoinWindow(Unit.RANGE, low, high)


# --- kinds ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("JOIN", "inner"),
        ("INNER JOIN", "inner"),
        ("LEFT JOIN", "left"),
        ("left  outer\n join", "left"),
        ("RIGHT JOIN", "right"),
        ("RIGHT OUTER JOIN", "right"),
        ("FULL JOIN", "full"),
        ("FULL OUTER JOIN", "full"),
        ("SEMI JOIN", "semi"),
        ("LEFT SEMI JOIN", "semi"),
        ("ANTI JOIN", "anti"),
        ("LEFT ANTI JOIN", "anti"),
    ],
)
def test_kinds(words: str, kind: str) -> None:
    made = join(f"SELECT o.id FROM orders AS o {words} shipments s {ON}")
    assert (made.kind, made.left_keys, made.right_keys) == (kind, ("o.id",), ("s.id",))
    assert (made.match, made.residual) == (UNBOUNDED, None)


@pytest.mark.parametrize(
    "source",
    [
        "orders o, shipments s WHERE o.id = s.id",
        "orders o CROSS JOIN shipments s WHERE s.id = o.id",
        "orders o JOIN shipments s USING (id)",
        "orders AS o JOIN shipments AS s ON (s.id = o.id)",
        "(SELECT * FROM orders) o JOIN (SELECT * FROM shipments) AS s ON o.id = s.id",
    ],
)
def test_equalities_are_keys_wherever_they_stand(source: str) -> None:
    assert tree(f"SELECT o.id, cost FROM {source}")[1:] == [
        "  Join inner on [o.id = s.id] RANGE [unbounded, unbounded]",
        "    Project id AS o.id",
        "      Scan orders",
        "    Project id AS s.id, cost",
        "      Scan shipments",
    ]


def test_keys_are_computed_and_of_one_type() -> None:
    assert tree("SELECT value FROM orders o JOIN shipments s ON o.id + 1 = s.order_id") == [
        "Project value",
        "  Join inner on [_key1 = _key2] RANGE [unbounded, unbounded]",
        "    Project value, id + 1 AS _key1",
        "      Scan orders",
        "    Project CAST(order_id AS BIGINT) AS _key2",
        "      Scan shipments",
    ]
    made = join("SELECT value FROM orders o JOIN shipments s ON o.id = s.order_id AND s.id = o.id")
    types = [{c.name: c.type for c in side.schema} for side in (made.left, made.right)]
    pairs = zip(made.left_keys, made.right_keys, strict=True)
    assert all(types[0][left] == types[1][right] for left, right in pairs)
    assert made.left_keys == ("o.id", "_key2")


def test_an_equality_said_twice_is_one_key() -> None:
    text = f"SELECT value FROM orders o JOIN shipments s {ON} AND s.id = o.id WHERE o.id = s.id"
    assert joined(text) == "Join inner on [o.id = s.id] RANGE [unbounded, unbounded]"


def test_what_is_no_equality_of_both_sides_is_tested() -> None:
    text = (
        f"SELECT value FROM orders o JOIN shipments s {ON} AND value > cost AND o.id <=> order_id"
    )
    assert joined(text) == (
        "Join inner on [o.id = s.id] RANGE [unbounded, unbounded] "
        "where value > cost AND `o.id` IS NOT DISTINCT FROM order_id"
    )
    crossed = join("SELECT value FROM orders CROSS JOIN shipments")
    assert (crossed.left_keys, crossed.match, crossed.residual) == ((), UNBOUNDED, None)


# --- the window -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        ("s.at BETWEEN o.ts - INTERVAL '4' HOUR AND o.ts", -4 * HOUR, 0),
        ("s.at BETWEEN o.ts AND o.ts + INTERVAL '2 hours 30 minutes'", 0, 150 * MINUTE),
        ("s.at >= o.ts", 0, None),
        ("o.ts >= s.at", None, 0),
        ("s.at < o.ts", None, -1),
        ("at > ts - INTERVAL 1 MINUTE AND at < ts + INTERVAL 1 MINUTE", 1 - MINUTE, MINUTE - 1),
        ("o.ts + INTERVAL '5' SECOND <= s.at", 5 * SECOND, None),
        ("s.at - INTERVAL '5' SECOND <= o.ts", None, 5 * SECOND),
        ("s.at - o.ts <= INTERVAL '1' DAY", None, 24 * HOUR),
        ("o.ts - s.at < INTERVAL '1' SECOND", 1 - SECOND, None),
        ("o.ts - (s.at - 2 * INTERVAL '1' HOUR) >= INTERVAL '1' HOUR", None, HOUR),
        ("s.at <= o.ts + INTERVAL '2' HOUR AND s.at <= o.ts + INTERVAL '1' HOUR", None, HOUR),
        ("ts BETWEEN at - INTERVAL '3' MINUTE AND at + INTERVAL '1' MINUTE", -MINUTE, 3 * MINUTE),
        ("s.at = o.ts + INTERVAL '1' HOUR", HOUR, HOUR),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["ON o.id = s.id AND {}", "ON o.id = s.id WHERE {}"])
def test_bounds_of_both_event_times(
    condition: str, low: int | None, high: int | None, place: str
) -> None:
    made = join(f"SELECT value FROM orders o JOIN shipments s {place.format(condition)}")
    assert (made.match, made.residual) == (bounds(low, high), None)
    assert "o.id" in made.left_keys


@pytest.mark.parametrize(
    "condition",
    [
        "s.at <= o.ts + INTERVAL '1' MONTH",
        "NOT s.at < o.ts",
        "s.at < o.ts OR cost > 1",
        "CAST(s.at AS DATE) <= CAST(o.ts AS DATE)",
        "s.at <> o.ts",
    ],
)
def test_other_conditions_on_time_are_tested(condition: str) -> None:
    made = join(f"SELECT value FROM orders o JOIN shipments s {ON} AND ({condition})")
    assert made.match == UNBOUNDED and made.residual is not None


@pytest.mark.parametrize(
    ("left", "right", "low", "high"),
    [
        ("", "OVER (ORDER BY at RANGE '2' min PRECEDING)", -2 * MINUTE, None),
        ("OVER (ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING)", "", None, MINUTE),
        ("[RANGE 1 MINUTE]", "[RANGE 2 MINUTES]", -2 * MINUTE, MINUTE),
        ("[NOW]", "[RANGE UNBOUNDED]", None, 0),
        ("OVER (RANGE BETWEEN 1 HOUR PRECEDING AND CURRENT ROW)", "[NOW]", 0, HOUR),
    ],
)
def test_windows_of_streams(left: str, right: str, low: int | None, high: int | None) -> None:
    text = f"SELECT value FROM orders o {left} JOIN shipments {right} s {ON}"
    assert join(text).match == bounds(low, high)


def test_windows_in_rows() -> None:
    text = "SELECT value FROM shipments s JOIN orders o OVER (ROWS 3 PRECEDING) " + ON
    assert join(text).match == JoinWindow(Unit.ROWS, -2, None)
    text = f"SELECT value FROM orders o [ROWS 5] LEFT JOIN shipments s [ROWS 1] {ON} AND at > ts"
    made = join(text)
    assert made.match == JoinWindow(Unit.ROWS, 0, 4)
    assert made.residual is not None and made.residual.sql == "at > ts"


@pytest.mark.parametrize(
    ("within", "low", "high"),
    [
        ("WITHIN 2 HOURS", -2 * HOUR, 2 * HOUR),
        ("WITHIN (1 HOUR, INTERVAL '2' HOUR)", -HOUR, 2 * HOUR),
        ("WITHIN (0 SECONDS, 1 HOUR)", 0, HOUR),
    ],
)
@pytest.mark.parametrize("order", ["{within} {on}", "{on} {within}"])
def test_within(within: str, low: int, high: int, order: str) -> None:
    text = "SELECT value FROM orders o JOIN shipments s " + order.format(within=within, on=ON)
    made = join(text)
    assert (made.match, made.policy.retain) == (bounds(low, high), max(-low, high, MINUTE))


def test_a_grace_period_is_retain() -> None:
    text = (
        f"SELECT value FROM orders o JOIN shipments s WITHIN 2 HOURS GRACE PERIOD 15 MINUTES {ON}"
    )
    assert join(text).policy.retain == 15 * MINUTE


def test_windows_and_conditions_hold_together() -> None:
    text = (
        "SELECT value FROM orders o [RANGE 1 HOUR] JOIN shipments s [RANGE 2 HOURS] "
        f"WITHIN 90 MINUTES {ON} AND at >= ts - INTERVAL '3' HOUR AND at < ts"
    )
    assert join(text).match == bounds(-90 * MINUTE, -1)


# --- ASOF and versions ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "op"),
    [
        ("MATCH_CONDITION (o.ts >= s.at)", ">="),
        ("MATCH_CONDITION (s.at <= o.ts)", ">="),
        ("MATCH_CONDITION (o.ts > at)", ">"),
        ("MATCH_CONDITION (ts <= at)", "<="),
        ("MATCH_CONDITION (at > ts)", "<"),
    ],
)
@pytest.mark.parametrize("kind", ["inner", "left"])
def test_asof(match: str, op: str, kind: str) -> None:
    words = "LEFT ASOF JOIN" if kind == "left" else "ASOF JOIN"
    made = join(f"SELECT value FROM orders o {words} shipments s {match} {ON}")
    assert (made.match, made.kind, made.left_keys) == (AsOf(op), kind, ("o.id",))
    assert (made.policy.early, made.policy.retain) == (None, MINUTE)


def test_asof_as_duckdb_writes_it() -> None:
    text = "SELECT value FROM orders o ASOF JOIN shipments s ON o.id = s.id AND o.ts >= s.at"
    assert joined(text) == "Join inner on [o.id = s.id] ASOF >="


@pytest.mark.parametrize(
    "right",
    [
        "shipments FOR SYSTEM_TIME AS OF o.ts AS s",
        "shipments s FOR SYSTEM_TIME AS OF ts",
        "shipments for system_time as of o.ts s",
    ],
)
def test_a_version_is_the_last_row_of_its_key(right: str) -> None:
    assert joined(f"SELECT value FROM orders o LEFT JOIN {right} {ON}") == (
        "Join left on [o.id = s.id] ASOF >="
    )


def test_versions_one_after_the_other() -> None:
    text = (
        "SELECT o.value FROM orders o JOIN shipments FOR SYSTEM_TIME AS OF o.ts s ON o.id = s.id "
        "JOIN orders FOR SYSTEM_TIME AS OF o.ts p ON p.id = o.id"
    )
    made = join(text)
    (lower,) = below(made).of
    inner = join_of(lower)
    assert inner is not None and inner.match == made.match == AsOf(">=")
    assert (below(made).ts, below(made).delay) == ("o.ts", 0)


def test_where_does_not_change_which_row_is_nearest() -> None:
    text = (
        "SELECT value FROM orders o ASOF JOIN shipments s MATCH_CONDITION (ts >= at) "
        "ON o.id = s.id WHERE cost > 1 AND value > 2 AND order_id = o.id"
    )
    assert tree(text)[1:] == [
        "  Filter cost > 1 AND order_id = `o.id`",
        "    Join inner on [o.id = s.id] ASOF >=",
        "      Project id AS o.id, value",
        "        Filter value > 2",
        "          Scan orders",
        "      Project id AS s.id, order_id, cost",
        "        Scan shipments",
    ]


# --- static tables --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti"])
def test_a_static_table_is_looked_up(kind: str) -> None:
    text = f"SELECT id FROM orders o {kind} JOIN products p ON o.product = p.product"
    made = join(text)
    assert (made.kind, made.match, made.static, made.unbounded) == (kind, UNBOUNDED, True, ())
    assert made.policy.retain is None
    assert tree(text)[-1] == "      StaticScan products"


def test_a_static_table_has_one_version() -> None:
    text = "SELECT id FROM orders o JOIN products FOR SYSTEM_TIME AS OF o.ts p USING (product)"
    assert join(text).match == UNBOUNDED


# --- where conditions go --------------------------------------------------------------

ON_BOTH = "ON o.id = s.id AND value > 1 AND cost > 2"
WHERE_BOTH = "ON o.id = s.id WHERE value > 1 AND cost > 2"


@pytest.mark.parametrize(
    ("kind", "condition", "left", "right", "pairs", "above"),
    [
        ("inner", ON_BOTH, "value > 1", "cost > 2", None, None),
        ("left", ON_BOTH, None, "cost > 2", "value > 1", None),
        ("right", ON_BOTH, "value > 1", None, "cost > 2", None),
        ("full", ON_BOTH, None, None, "value > 1 AND cost > 2", None),
        ("semi", ON_BOTH, "value > 1", "cost > 2", None, None),
        ("anti", ON_BOTH, None, "cost > 2", "value > 1", None),
        ("inner", WHERE_BOTH, "value > 1", "cost > 2", None, None),
        ("left", WHERE_BOTH, "value > 1", None, None, "cost > 2"),
        ("right", WHERE_BOTH, None, "cost > 2", None, "value > 1"),
        ("full", WHERE_BOTH, None, None, None, "value > 1 AND cost > 2"),
        ("semi", "ON o.id = s.id WHERE value > 1", "value > 1", None, None, None),
        ("anti", "ON o.id = s.id WHERE value > 1", "value > 1", None, None, None),
        ("left", "ON o.id = s.id WHERE at >= ts", None, None, None, "at >= ts"),
        ("left", "ON o.id = s.id AND TRUE", None, None, None, None),
        ("inner", "ON o.id = s.id WHERE value > cost", None, None, None, "value > cost"),
    ],
)
def test_conditions_go_where_every_answer_stays(
    kind: str,
    condition: str,
    left: str | None,
    right: str | None,
    pairs: str | None,
    above: str | None,
) -> None:
    reported = tree(f"SELECT value FROM orders o {kind} JOIN shipments s {condition}")
    filters = {text.index("Filter"): text.strip() for text in reported if "Filter" in text}
    found = [text.strip() for text in reported]
    scans = [found.index("Scan orders"), found.index("Scan shipments")]
    for at, wanted in zip(scans, (left, right), strict=True):
        assert (found[at - 1] == f"Filter {wanted}") == (wanted is not None), reported
    assert (filters.get(2) == f"Filter {above}") == (above is not None), reported
    residual = join(f"SELECT value FROM orders o {kind} JOIN shipments s {condition}").residual
    assert (None if residual is None else residual.sql) == pairs


# --- more than two inputs -------------------------------------------------------------


def below(made: Join) -> Stream:
    """The derived stream on the left of a join."""
    assert isinstance(made.left, Project) and isinstance(made.left.input, Scan)
    return made.left.input.stream


def test_three_inputs_are_joined_from_the_left() -> None:
    text = (
        "SELECT a.id, c.cost FROM orders a "
        "JOIN orders b ON a.product = b.product AND b.ts BETWEEN a.ts - INTERVAL 1 HOUR AND a.ts "
        "JOIN shipments c ON c.id = b.id AND c.at BETWEEN b.ts AND b.ts + INTERVAL '2' HOUR "
        "WHERE a.value > 1 AND b.value > 2"
    )
    assert stages(text) == [
        "a_b: b.ts less 1 hour",
        "  Project `a.id` AS a.id, `b.id` AS b.id, `b.ts` AS b.ts",
        "    Join inner on [a.product = b.product] RANGE [-1 hour, 0]",
        "      Project id AS a.id, product AS a.product",
        "        Filter value > 1",
        "          Scan orders",
        "      Project id AS b.id, product AS b.product, ts AS b.ts",
        "        Filter value > 2",
        "          Scan orders",
        "answer:",
        "  Project `a.id` AS id, cost",
        "    Join inner on [b.id = c.id] RANGE [0, 2 hours]",
        "      Project `a.id` AS a.id, `b.id` AS b.id",
        "        Scan a_b",
        "      Project id AS c.id, cost",
        "        Scan shipments",
    ]


def test_bounds_of_two_event_times_meet_in_one_window() -> None:
    """c is at most an hour after a, which is at most half an hour after b."""
    text = (
        "SELECT a.id FROM orders a JOIN orders b ON a.id = b.id "
        "AND b.ts BETWEEN a.ts - INTERVAL '30' MINUTE AND a.ts "
        "JOIN shipments c ON c.id = a.id AND c.at >= b.ts AND c.at <= a.ts + INTERVAL '1' HOUR"
    )
    made = join(text)
    assert below(made).ts == "b.ts"
    assert line(made) == (
        "Join inner on [a.id = c.id] RANGE [0, 1 hour 30 minutes] "
        "where at <= `a.ts` + INTERVAL '1' HOUR"
    )


def test_a_comma_join_of_three_finds_its_equalities() -> None:
    text = (
        "SELECT a.id FROM orders a, shipments b, products c "
        "WHERE a.id = b.id AND c.product = a.product AND b.at = a.ts AND maker = 'x'"
    )
    assert stages(text) == [
        "a_b: ts less 0 seconds",
        "  Project `a.id` AS a.id, `a.product` AS a.product, ts",
        "    Join inner on [a.id = b.id, ts = at] RANGE [0, 0]",
        "      Project id AS a.id, product AS a.product, ts",
        "        Scan orders",
        "      Project id AS b.id, at",
        "        Scan shipments",
        "answer:",
        "  Project `a.id` AS id",
        "    Join inner on [a.product = c.product] RANGE [unbounded, unbounded]",
        "      Project `a.id` AS a.id, `a.product` AS a.product",
        "        Scan a_b",
        "      Project product AS c.product",
        "        Filter maker = 'x'",
        "          StaticScan products",
    ]


def test_a_window_bounds_how_far_every_later_input_is_ahead() -> None:
    text = (
        "SELECT o.id FROM orders o [RANGE 1 MINUTE] JOIN shipments s [RANGE 2 MINUTES] {} "
        "LEFT JOIN orders t [NOW] ON t.id = s.id"
    )
    assert joined(text.format("ON o.id = s.id")) == (
        "Join left on [s.id = t.id] RANGE [0, 1 minute] where `t.ts` <= at + INTERVAL '2 minutes'"
    )
    outer = text.replace("JOIN shipments", "LEFT JOIN shipments").format("ON o.id = s.id")
    assert joined(outer) == (
        "Join left on [s.id = t.id] RANGE [0, 1 minute] "
        "where at IS NULL OR `t.ts` <= at + INTERVAL '2 minutes'"
    )


def test_filters_pass_no_join_that_pads_them() -> None:
    text = (
        "SELECT o.id FROM orders o RIGHT JOIN shipments s ON o.id = s.id "
        "LEFT JOIN orders t ON t.id = s.id WHERE t.value > 2 AND o.value > 1 AND cost > 3"
    )
    reported = [text for text in stages(text) if "Filter" in text]
    assert reported == [
        "    Filter `o.value` > 1",
        "          Filter cost > 3",
        "    Filter `t.value` > 2",
    ]


def test_a_join_of_a_query_that_joins() -> None:
    text = (
        "WITH j AS (SELECT o.id, cost FROM orders o JOIN shipments s ON o.id = s.id) "
        "SELECT j.id, k.value FROM j JOIN orders k ON k.id = j.id WHERE j.cost > 1"
    )
    assert stages(text) == [
        "j: None less 0 seconds",
        "  Project `o.id` AS id, cost",
        "    Join inner on [o.id = s.id] RANGE [unbounded, unbounded]",
        "      Project id AS o.id",
        "        Scan orders",
        "      Project id AS s.id, cost",
        "        Scan shipments",
        "answer:",
        "  Project `j.id` AS id, value",
        "    Join inner on [j.id = k.id] RANGE [unbounded, unbounded]",
        "      Project id AS j.id",
        "        Filter cost > 1",
        "          Scan j",
        "      Project id AS k.id, value",
        "        Scan orders",
    ]


# --- names ----------------------------------------------------------------------------


def columns(text: str) -> dict[str, str]:
    plan = query(text).plan
    assert isinstance(plan, Project)
    return {name: scalar.sql for name, scalar in plan.columns}


def test_a_star_has_all_columns_under_names_of_their_own() -> None:
    text = "SELECT * FROM orders o JOIN shipments s ON o.id = s.id"
    assert list(columns(text)) == ["id", "product", "value", "ts", "id0", "order_id", "cost", "at"]
    assert list(columns(text.replace("*", "s.*"))) == ["id", "order_id", "cost", "at"]
    assert list(columns(text.replace("*", "s.*, o.id AS id"))) == [
        "id0", "order_id", "cost", "at", "id",
    ]  # fmt: skip
    assert list(columns(text.replace("*", "* EXCEPT (id, at)"))) == [
        "product", "value", "ts", "order_id", "cost",
    ]  # fmt: skip


def test_a_half_join_shows_its_left_alone() -> None:
    text = "SELECT * FROM orders SEMI JOIN shipments ON orders.id = shipments.id"
    assert columns(text) == {
        "id": "`orders.id`",
        "product": "product",
        "value": "value",
        "ts": "ts",
    }


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("INNER", "`o.id`"),
        ("LEFT", "`o.id`"),
        ("RIGHT", "`s.id`"),
        ("FULL", "COALESCE(`o.id`, `s.id`)"),
    ],
)
def test_a_column_of_using_stands_once(kind: str, shown: str) -> None:
    text = f"SELECT * FROM orders o {kind} JOIN shipments s USING (id) WHERE id > 0"
    assert list(columns(text)) == ["id", "product", "value", "ts", "order_id", "cost", "at"]
    assert columns(text)["id"] == shown
    assert columns(text.replace("*", "o.id AS a, s.id AS b, id")) == {
        "a": "`o.id`", "b": "`s.id`", "id": shown,
    }  # fmt: skip


def test_using_goes_on_over_three() -> None:
    text = "SELECT * FROM orders o JOIN shipments s USING (id) LEFT JOIN orders t USING (id)"
    assert joined(text) == "Join left on [o.id = t.id] RANGE [unbounded, unbounded]"
    assert [name for name in columns(text) if name.startswith("id")] == ["id"]


@pytest.mark.parametrize(
    ("kind", "shown"), [("INNER", "`o.id`"), ("LEFT", "`o.id`"), ("RIGHT", "`s.id`")]
)
def test_a_name_of_equal_columns_is_not_ambiguous(kind: str, shown: str) -> None:
    text = f"SELECT id, value, cost FROM orders o {kind} JOIN shipments s ON s.id = o.id"
    assert columns(text)["id"] == shown


def test_a_self_join_needs_aliases_alone() -> None:
    text = "SELECT a.id, b.id AS other FROM orders a JOIN orders b ON a.product = b.product"
    assert columns(text) == {"id": "`a.id`", "other": "`b.id`"}


# --- policies and options -------------------------------------------------------------


def test_pairs_are_sent_as_they_come_if_nothing_is_said() -> None:
    policy = join(f"SELECT value FROM orders o JOIN shipments s WITHIN 1 HOUR {ON}").policy
    assert (policy.early, policy.late, policy.retain) == (None, Late.ON_UPDATE, HOUR)
    assert (policy.expired, policy.errors) == (Expired.STREAM, None)


@pytest.mark.parametrize(
    ("said", "early", "late"),
    [
        ("EMIT EARLY EVERY 1 MINUTE", (Early.EVERY, MINUTE), Late.ON_UPDATE),
        ("EMIT EARLY ON UPDATE LATE EVERY 30 SECONDS", (Early.ON_UPDATE, 0), Late.EVERY),
        ("EMIT LATE NEVER", (None, 0), Late.NEVER),
        ("EMIT CHANGES", (Early.ON_UPDATE, 0), Late.ON_UPDATE),
        ("EMIT FINAL", (None, 0), Late.NEVER),
        ("EMIT ON CLOSE", (None, 0), Late.ON_UPDATE),
    ],
)
def test_emit(said: str, early: tuple[Early | None, int], late: Late) -> None:
    policy = join(f"SELECT value FROM orders o LEFT JOIN shipments s {ON} {said}").policy
    assert ((policy.early, policy.early_period), policy.late) == (early, late)


def test_late_says_nothing_of_messages_that_are_counted() -> None:
    text = "SELECT o.id FROM orders o [ROWS 3] JOIN shipments s ON o.id = s.id"
    for late in ("LATE NEVER", "LATE ON UPDATE", "LATE EVERY 30 SECONDS"):
        assert query(f"{text} EMIT {late}").plan == query(text).plan


def test_retain_and_expired() -> None:
    text = f"SELECT value FROM orders o JOIN shipments s {ON} RETAIN 1 HOUR EXPIRED INTO bad"
    policy = join(text).policy
    assert (policy.retain, policy.errors) == (HOUR, "bad")
    assert join(f"SELECT value FROM orders o JOIN shipments s {ON}").policy.retain is None


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("RETAIN 3 ROWS", (None, 3)),
        ("RETAIN 1 HOUR OR 3 ROWS", (HOUR, 3)),
        ("AND s.at = o.ts RETAIN 3 ROWS", (None, 3)),
    ],
)
def test_retain_rows(said: str, kept: tuple[int | None, int]) -> None:
    policy = join(f"SELECT value FROM orders o JOIN shipments s {ON} {said}").policy
    assert (policy.retain, policy.retain_rows) == kept


def test_numbers_say_what_a_window_in_rows_keeps_and_a_static_table_is_kept_whole() -> None:
    counted = f"orders o JOIN shipments s OVER (ROWS 3 PRECEDING) {ON}"
    for read in (counted, "orders o JOIN products p ON o.product = p.product"):
        assert join(f"SELECT value FROM {read} RETAIN 3 ROWS").policy.retain_rows is None


def test_what_waits_may_have_a_timeout() -> None:
    text = f"SELECT value FROM orders o LEFT JOIN shipments s {ON} EMIT ON CLOSE TIMEOUT 1 MINUTE"
    assert join(text).policy.timeout == MINUTE


def test_policies_outside_belong_to_the_join_inside() -> None:
    text = f"SELECT v FROM (SELECT value AS v FROM orders o JOIN shipments s {ON}) RETAIN 1 HOUR"
    assert join(text).policy.retain == HOUR


def test_the_last_of_several_joins_is_emitted_as_the_query_says() -> None:
    text = (
        f"SELECT o.value FROM orders o JOIN shipments s {ON} JOIN orders t ON t.id = o.id "
        "EMIT EARLY EVERY 1 MINUTE LATE NEVER RETAIN 1 HOUR"
    )
    outer = join(text)
    inner = join_of(below(outer).of[0])
    assert inner is not None
    assert (outer.policy.early, outer.policy.late) == (Early.EVERY, Late.NEVER)
    assert (inner.policy.early, inner.policy.late) == (None, Late.ON_UPDATE)
    assert outer.policy.retain == inner.policy.retain == HOUR


def test_small_and_large() -> None:
    text = "SELECT {hint} value FROM orders o JOIN shipments s WITHIN {size} ON o.id = s.id"
    assert not join(text.format(hint="", size="5 MINUTES")).large
    assert join(text.format(hint="", size="1 HOUR")).large
    assert not join(text.format(hint="/*+ JOIN_WINDOW('small') */", size="1 HOUR")).large
    assert join(text.format(hint="/*+ join_window(large) */", size="5 MINUTES")).large
    said = "SET join.window = 'small'; " + text
    assert not join(said.format(hint="", size="1 HOUR")).large
    assert join(said.format(hint="/*+ JOIN_WINDOW('large') */", size="1 HOUR")).large


def lengths(text: str) -> dict[str, int]:
    """Of the TTL of each side, in hours."""
    return {side: ttl.length // HOUR for side, ttl in join(text).policy.ttls.items()}


def test_each_side_has_the_ttl_that_is_hinted_for_it() -> None:
    hint = "/*+ STATE_TTL('o' = '3 days', 's' = '1 day'), JOIN_WINDOW('small') */"
    text = f"SELECT {hint} value FROM orders o JOIN shipments s {ON}"
    assert lengths(text) == {"left": 72, "right": 24}
    assert not join(text).large
    assert lengths(text.replace("'o' =", "'ORDERS' =")) == {"left": 72, "right": 24}
    assert lengths(text.replace(", 's' = '1 day'", "")) == {"left": 72}
    assert lengths(text.replace("'1 day'", "'0'")) == {"left": 72}
    itself = text.replace("shipments", "orders").replace(" value ", " o.value ")
    assert lengths(itself) == {"left": 72, "right": 24}
    assert lengths(text.replace(" s ON", " s WITHIN 1 HOUR ON")) == {"left": 72, "right": 24}
    inner = f"SELECT value FROM orders o JOIN shipments s {ON}"
    outer = f"SELECT /*+ STATE_TTL('q' = '2 h') */ * FROM ({inner}) q"
    assert lengths(outer) == {"left": 2, "right": 2}


def test_what_is_set_is_for_the_sides_that_no_window_bounds() -> None:
    unset = "SET state.ttl = '1 day'; SELECT value FROM orders o JOIN shipments s "
    assert lengths(unset + ON) == {"left": 24, "right": 24}
    assert lengths(unset + "WITHIN 1 HOUR " + ON) == {}
    assert lengths(unset + "[RANGE 1 HOUR] " + ON) == {"left": 24}
    own = """CREATE STREAM kept (id BIGINT, at TIMESTAMP, WATERMARK FOR at AS at)
        WITH ('state.ttl' = '7 days', 'state.ttl.time' = 'event');"""
    text = f"SET state.ttl = '1 d'; {own} SELECT o.id FROM orders o JOIN kept s {ON}"
    assert lengths(text) == {"left": 24, "right": 168}
    assert join(text).policy.ttls["right"].time is TtlTime.EVENT
    hinted = text.replace("SELECT o", "SELECT /*+ STATE_TTL('o' = '2 d') */ o")
    assert lengths(hinted) == {"left": 48, "right": 168}


def test_what_joins_before_gave_has_the_longest_ttl_of_those_it_reads() -> None:
    text = f"""SELECT /*+ STATE_TTL('o' = '1 h', 's' = '3 h', 'p' = '2 h') */ o.id
        FROM orders o JOIN shipments s {ON} JOIN orders p ON p.id = o.id"""
    assert lengths(text) == {"left": 3, "right": 2}


@pytest.mark.parametrize(("op", "set_for"), [(">=", {"right": 24}), ("<=", {})])
def test_options_hold_for_the_versions_of_an_asof_join(op: str, set_for: dict[str, int]) -> None:
    text = f"FROM orders o ASOF JOIN shipments s MATCH_CONDITION (o.ts {op} s.at) {ON}"
    assert lengths(f"SELECT /*+ STATE_TTL('o' = '1 h') */ o.id {text}") == {"left": 1}
    assert lengths(f"SET state.ttl = '1 d'; SELECT o.id {text}") == set_for


def test_a_static_table_is_not_forgotten() -> None:
    text = (
        "SELECT /*+ STATE_TTL('{}' = '1 h') */ o.id FROM orders o JOIN products p USING (product)"
    )
    assert lengths(text.format("o")) == {}
    assert mistake(text.format("p")).message.startswith("a static table is read once")


# --- a static table before the stream -----------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kind"), [("JOIN", "inner"), ("RIGHT JOIN", "left"), ("RIGHT OUTER JOIN", "left")]
)
def test_a_stream_behind_a_static_table_looks_it_up(words: str, kind: str) -> None:
    text = f"SELECT * FROM products p {words} orders o ON o.product = p.product"
    made = join(text)
    assert (made.kind, made.static, made.left_keys) == (kind, True, ("o.product",))
    names = [name for name, _ in query(text).plan.columns]  # type: ignore[union-attr]
    assert names == ["product", "maker", "id", "product0", "value", "ts"]


# --- windows over joins -------------------------------------------------------------------


def test_the_window_of_ksqldb_behind_a_join_is_over_its_rows() -> None:
    grouped = "GROUP BY o.product EMIT FINAL"
    text = f"SELECT o.product, COUNT(*) AS n FROM orders o JOIN shipments s WITHIN 1 HOUR {ON}"
    ksql = stages(f"{text} WINDOW TUMBLING (SIZE 1 MINUTE) {grouped}")
    named = stages(f"{text} {grouped.replace('EMIT', ', TUMBLE(o.ts, 1 MINUTE) EMIT')}")
    assert named[0] == "o_s: ts less 1 hour"
    assert ksql[0] == "o_s: join time less 0 seconds"
    windows = [[line for line in of if "WindowAggregate" in line] for of in (named, ksql)]
    assert windows[0] == windows[1]
    assert "WindowAggregate tumbling 1 minute" in windows[0][0]


def test_the_policies_of_a_query_over_a_join_are_those_of_its_windows() -> None:
    text = f"SELECT o.product, COUNT(*) AS n FROM orders o LEFT JOIN shipments s WITHIN 1 HOUR {ON}"
    made = query(f"{text} GROUP BY o.product EMIT EARLY EVERY 1 MINUTE LATE NEVER RETAIN 2 HOURS")
    upper = window_policy(made.plan)
    assert upper is not None
    assert (upper.early, upper.late, upper.retain) == (Early.EVERY, Late.NEVER, 2 * HOUR)
    (stream,) = derived_streams(made.plan)
    below = window_policy(stream.of[0])
    assert below is not None
    assert (below.early, below.late, below.retain) == (Early.ON_UPDATE, Late.ON_UPDATE, 2 * HOUR)


def test_null_safe_equality_has_two_spellings() -> None:
    text = "SELECT o.id FROM orders o JOIN shipments s WITHIN 1 HOUR ON o.id {} s.id"
    assert tree(text.format("IS NOT DISTINCT FROM")) == tree(text.format("<=>"))


def test_the_retention_of_rows_that_are_reported_once_is_that_of_the_join_too() -> None:
    text = f"SELECT DISTINCT o.id FROM orders o JOIN shipments s {ON} RETAIN 1 HOUR"
    (below,) = derived_streams(query(text).plan)
    policy = window_policy(below.of[0])
    assert policy is not None and policy.retain == HOUR
