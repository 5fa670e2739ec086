"""EXPLAIN of joins: keys, the window in words, message keys, policies, warnings."""

from __future__ import annotations

import pytest

from sqlwin.plan.answer import answers
from sqlwin.plan.explain import explain
from sqlwin.plan.facts import (
    bucket_keys,
    streams_of,
)
from sqlwin.sql import script
from tests.sql.joins import STREAMS, join, query

ON = "ON o.id = s.id"


def facts(text: str) -> list[str]:
    told = explain(query(text)).splitlines()
    return told[next(at for at, line in enumerate(told) if line.startswith("Operator")) :]


def fact(text: str, name: str) -> str:
    (told,) = [line for line in facts(text) if line.startswith(f"{name}: ")]
    return told.removeprefix(f"{name}: ")


def warned(text: str) -> list[str]:
    return [line.removeprefix("Warning: ") for line in facts(text) if line.startswith("Warning")]


def test_an_interval_join_in_full() -> None:
    text = (
        "SELECT o.id, s.cost FROM orders o LEFT JOIN shipments s ON o.id = s.order_id "
        "AND s.at BETWEEN o.ts - INTERVAL '4' HOUR AND o.ts AND s.cost > o.value "
        "WHERE o.value > 1 AND s.id IS NULL "
        "EMIT EARLY ON UPDATE LATE EVERY 30 SECONDS EXPIRED COUNT"
    )
    assert explain(query(text)).splitlines() == [
        "Output: screen",
        "  id BIGINT",
        "  cost INT",
        "Project `o.id` AS id, cost",
        "  Filter `s.id` IS NULL",
        "    Join left on [o.id = _key1] RANGE [-4 hours, 0] where cost > value",
        "      Project id AS o.id, value",
        "        Filter value > 1",
        "          Scan orders",
        "      Project id AS s.id, cost, CAST(order_id AS BIGINT) AS _key1",
        "        Scan shipments",
        "Operator: join, left; windows of time",
        "Keys: o.id = _key1",
        "Window: right rows from 4 hours before the left row to its instant",
        "Residual: cost > value",
        "Stores: left, right, pending",
        "Message key: equal fields, timestamp, offset (large window)",
        "Early: left rows without a match at once, withdrawn when one comes",
        "Full: each pair as it is found, left rows without a match once that is certain",
        "Late: every 30 seconds of processing time",
        "Retention: 4 hours after the watermark passed",
        "Expired: counted",
        "Watermark: of orders ts less 5 seconds",
        "Watermark: of shipments at less 1 minute",
        "Ties: of orders by OFFSET id",
        "Ties: of shipments by source position",
    ]


def test_a_join_of_messages_in_full() -> None:
    text = (
        "SELECT id, value, cost FROM shipments JOIN orders OVER (ROWS 3 PRECEDING) "
        "ON orders.id = shipments.id EMIT EARLY EVERY 1 MINUTE"
    )
    assert facts(text) == [
        "Operator: join, inner; windows of messages",
        "Keys: shipments.id = orders.id",
        "Window: right rows from 2 messages before the left row to any time after it",
        "Stores: left, right, pending",
        "Message key: equal fields, offset (large window)",
        "Early: every 1 minute of processing time",
        "Full: each pair as it is found",
        "Late: never: messages are counted as they come",
        "Ties: of shipments by source position",
        "Ties: of orders by OFFSET id",
        "Warning: a window in ROWS numbers the messages of all keys, so all rows go to one bucket",
        "Warning: rows of shipments are kept for ever, "
        "so state grows until a window or TTL is given",
    ]


def test_several_joins_are_told_from_the_last() -> None:
    text = (
        "SELECT o.id FROM orders o LEFT ASOF JOIN shipments s MATCH_CONDITION (o.ts >= s.at) "
        "ON o.id = s.id JOIN products p ON p.product = o.product"
    )
    assert facts(text) == [
        "Operator: join with a static table, inner",
        "Keys: o.product = p.product",
        "Window: none: the table is read whole before the first row",
        "Stores: none but the table",
        "Message key: equal fields",
        "Full: each left row as it comes",
        "Late: as rows of o_s are corrected: each is withdrawn, and looked up anew",
        "Watermark: of o_s ts, as below o_s",
        "Ties: of o_s by what identifies a row of the derived stream",
        "Derived stream: o_s; event time ts; rows are withdrawn and replaced",
        "Project `o.id` AS o.id, `o.product` AS o.product, ts",
        "  Join left on [o.id = s.id] ASOF >=",
        "    Project id AS o.id, product AS o.product, ts",
        "      Scan orders",
        "    Project id AS s.id",
        "      Scan shipments",
        "Operator: ASOF join, left",
        "Keys: o.id = s.id",
        "Window: the last right row at or before the left row",
        "Stores: left (rows that wait), right, pending",
        "Message key: equal fields, timestamp, offset",
        "Full: when the watermark passes the left row",
        "Late: on each update",
        "Retention: 1 minute after the watermark passed",
        "Watermark: of orders ts less 5 seconds",
        "Watermark: of shipments at less 1 minute",
        "Ties: of orders by OFFSET id",
        "Ties: of shipments by source position",
        "Warning: the newest row of every key of shipments is kept, so state grows with keys",
    ]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("o.id = s.id", "none: rows pair however far apart they are"),
        ("at >= ts", "right rows from the instant of the left row to any time after it"),
        ("at = ts", "right rows at the instant of the left row"),
        ("at < ts", "right rows from any time before the left row to 1 microsecond before it"),
        (
            "at = ts + INTERVAL '1' HOUR",
            "right rows 1 hour after the left row",
        ),
    ],
)
def test_the_window_in_words(condition: str, told: str) -> None:
    assert fact(f"SELECT value FROM orders o JOIN shipments s ON {condition}", "Window") == told


@pytest.mark.parametrize(
    ("op", "told"),
    [
        (">", "the last right row before the left row"),
        ("<=", "the first right row at or after the left row"),
        ("<", "the first right row after the left row"),
    ],
)
def test_the_nearest_row_in_words(op: str, told: str) -> None:
    match = f"MATCH_CONDITION (o.ts {op} s.at)"
    text = f"SELECT value FROM orders o ASOF JOIN shipments s {match} {ON}"
    assert fact(text, "Window") == told


@pytest.mark.parametrize(
    ("window", "condition", "hint", "key"),
    [
        ("[ROWS 3]", "value > cost", "small", "offset"),
        ("[ROWS 3]", "value > cost", "large", "offset"),
        ("[ROWS 3]", "o.id = s.id", "small", "offset (small window)"),
        ("[ROWS 3]", "o.id = s.id", "large", "equal fields, offset (large window)"),
        ("", "value > cost", "small", "timestamp, offset"),
        ("[NOW]", "value > cost", "large", "timestamp, offset"),
        ("", "o.id = s.id", "small", "equal fields, timestamp, offset"),
        ("", "o.id = s.id", "large", "equal fields, timestamp, offset"),
        ("[NOW]", "o.id = s.id", "small", "timestamp, equal fields, offset (small window)"),
        ("[NOW]", "o.id = s.id", "large", "equal fields, timestamp, offset (large window)"),
    ],
)
def test_message_keys_as_in_the_design_s_table(
    window: str, condition: str, hint: str, key: str
) -> None:
    text = (
        f"SELECT /*+ JOIN_WINDOW('{hint}') */ value "
        f"FROM orders o {window} JOIN shipments s {window} ON {condition}"
    )
    assert fact(text, "Message key") == key


@pytest.mark.parametrize(
    ("kind", "full"),
    [
        ("INNER", "each pair as it is found"),
        ("RIGHT", "each pair as it is found, right rows without a match once that is certain"),
        ("FULL", "each pair as it is found, rows without a match once that is certain"),
        ("SEMI", "each left row at its first match"),
        ("ANTI", "left rows once they are certain to have no match"),
    ],
)
def test_when_rows_are_sent(kind: str, full: str) -> None:
    text = f"SELECT value FROM orders o {kind} JOIN shipments s WITHIN 1 HOUR {ON}"
    assert fact(text, "Full") == full


def test_what_waits_is_sent_after_a_silence() -> None:
    text = f"SELECT value FROM orders o LEFT JOIN shipments s {ON} EMIT ON CLOSE TIMEOUT 1 MINUTE"
    assert fact(text, "Timeout") == "after 1 minute with no row, rows that wait are sent full"


BOTH = (
    "rows of orders and shipments are kept for ever, so state grows until a RETAIN or TTL is given"
)
ORDERS = BOTH.replace(" and shipments", "")
LASTING = "rows of o_s are kept for ever, so state grows until a TTL is given"
ALL = "the join has no equality, so all rows go to one bucket and each meets all others"
SEEN = "the positions of all messages of orders are kept to tell replays, so state grows for ever"
END = "a row is certain to have no match only at the end of input, for no window ends"


@pytest.mark.parametrize(
    ("rest", "warnings"),
    [
        (f"JOIN shipments s {ON}", [BOTH, SEEN]),
        (f"JOIN shipments s {ON} RETAIN 1 HOUR", []),
        (f"JOIN shipments s WITHIN 1 HOUR {ON}", []),
        (f"JOIN shipments s [RANGE 1 HOUR] {ON}", [ORDERS, SEEN]),
        (f"LEFT JOIN shipments s [RANGE 1 HOUR] {ON}", [ORDERS, END, SEEN]),
        (f"RIGHT JOIN shipments s [RANGE 1 HOUR] {ON}", [ORDERS, SEEN]),
        ("CROSS JOIN shipments s", [ALL, BOTH, SEEN]),
        ("JOIN shipments s WITHIN 1 HOUR ON value > cost", [ALL]),
        ("JOIN products s USING (product)", []),
        ("JOIN products s ON o.product < s.product", []),
        (f"JOIN shipments s {ON} JOIN shipments t ON t.id = o.id",
         [BOTH.replace("orders and ", ""), LASTING, BOTH, SEEN]),
    ],
)  # fmt: skip
def test_warnings(rest: str, warnings: list[str]) -> None:
    assert warned(f"SELECT o.id FROM orders o {rest}") == warnings


def test_a_ttl_bounds_what_no_window_does() -> None:
    text = f"SELECT /*+ STATE_TTL('o' = '1 day') */ value FROM orders o JOIN shipments s {ON}"
    assert warned(text) == [BOTH.replace("orders and ", ""), SEEN]
    assert fact(text, "Stores") == "left, right, pending, lives"
    assert fact(text, "State TTL").startswith("of orders 1 day of processing time")
    both = text.replace("'1 day'", "'1 day', 's' = '1 day'")
    assert warned(both) == [SEEN]
    assert fact(both, "State TTL").startswith("1 day of processing time")
    apart = text.replace("'1 day'", "'1 day', 's' = '2 h'")
    told = [line for line in explain(query(apart)).splitlines() if line.startswith("State TTL")]
    assert [line.split(" of processing")[0] for line in told] == [
        "State TTL: of orders 1 day",
        "State TTL: of shipments 2 hours",
    ]


def test_a_ttl_bounds_the_versions_of_an_asof_join() -> None:
    text = f"SELECT value FROM orders o ASOF JOIN shipments s MATCH_CONDITION (ts >= at) {ON}"
    assert len(warned(text)) == 1
    bounded = f"SET state.ttl = '1 day'; {text}"
    assert warned(bounded) == []
    assert fact(bounded, "Stores") == "left (rows that wait), right, pending, lives"
    assert fact(bounded, "State TTL").startswith("of shipments 1 day of processing time")


def test_a_ttl_of_a_join_of_sessions() -> None:
    text = """SELECT /*+ STATE_TTL('s' = '1 day') */ value
        FROM orders o OVER (PARTITION BY id ORDER BY ts SESSION INTERVAL '1' MINUTE GAP)
        JOIN shipments s OVER (PARTITION BY id ORDER BY at SESSION INTERVAL '1' MINUTE GAP)
        ON o.id = s.id"""
    assert fact(text, "Stores") == "left_sessions, right_sessions, left, right, pending, lives"
    assert fact(text, "State TTL").startswith("of shipments 1 day of processing time")


def test_a_row_without_a_match_may_be_forgotten_before_it_is_told() -> None:
    text = f"SET state.ttl = '1 day'; SELECT value FROM orders o LEFT JOIN shipments s {ON}"
    untold = "rows of orders without a match are forgotten untold, for EMIT names no EARLY"
    assert warned(text) == [END, untold, SEEN]
    assert warned(f"{text} EMIT EARLY ON UPDATE") == [END, SEEN]
    assert warned(f"{text} RETAIN 1 HOUR") == []


def test_the_same_text_is_told_the_same() -> None:
    text = f"SELECT * FROM orders o FULL JOIN shipments s WITHIN 1 HOUR {ON}"
    assert explain(query(text)) == explain(query(text))


def test_what_a_join_reads_and_goes_by() -> None:
    made = join(f"SELECT value FROM orders o JOIN shipments s {ON}")
    assert [stream.name for stream in streams_of(made)] == ["orders", "shipments"]
    assert bucket_keys(made) == ("o.id",)


def test_a_static_table_is_described() -> None:
    assert answers(script(STREAMS + "DESCRIBE products")) == [
        "products\n  product  STRING\n  maker    STRING"
    ]
