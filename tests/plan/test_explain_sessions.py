"""EXPLAIN of sessions: their key, what ends them, what is kept of them, and warnings."""

import pytest

from sqlwin.plan.facts import (
    bucket_keys,
    counts,
)
from sqlwin.plan.keeping import (
    keeps_messages,
    parts_sessions,
)
from tests.plan.test_explain import facts, lines
from tests.sql.cases import window

OVER = "FROM orders OVER (PARTITION BY product ORDER BY ts SESSION"
COUNT = f"SELECT product, COUNT(*) AS n {OVER}"


def warned(text: str) -> list[str]:
    return [line.removeprefix("Warning: ") for line in facts(text) if line.startswith("Warning")]


def test_a_session_in_full() -> None:
    assert lines(f"{COUNT} 30 MINUTES GAP)")[4:] == [
        "  WindowAggregate session gap 30 minutes by [product] keys [product] [_agg1 = count(*)]",
        "    Project product",
        "      Scan orders",
        "Operator: aggregator, incremental; sessions of time",
        "Stores: sessions (merged accumulators), revisions",
        "Session key: product",
        "Gap: 30 minutes",
        "Message key: none: incremental",
        "Full: when the watermark passes the session's end",
        "Late: every 10 seconds of processing time",
        "Watermark: ts less 5 seconds",
        "Retention: 30 minutes after the watermark passed",
        "Ties: by OFFSET id",
    ]


def test_a_session_of_every_part_in_full() -> None:
    text = (
        f"SELECT product, n, MEDIAN(value) AS m {OVER} ('5 s' || CAST(n AS STRING)) GAP "
        "MAX 4 HOURS START WHEN n = 0 END WHEN n = 9) WHERE id > 1 GROUP BY product, n "
        "RETAIN 1 DAY EXPIRED EMIT"
    )
    assert lines(text)[5] == (
        "  WindowAggregate session gap _gap1 max 4 hours start when _start1 end when _end1 "
        "by [product] keys [product, n] [m = median(value)]"
    )
    assert facts(text) == [
        "Operator: aggregator, full state; sessions of time",
        "Stores: sessions (metadata), panes (accumulators of each instant), messages, revisions",
        "Session key: product",
        "Gap: each row's own, _gap1",
        "Max: 4 hours",
        "Start: at a row where _start1",
        "End: behind a row where _end1",
        "Message key: timestamp, offset",
        "Full: when the watermark passes the session's end",
        "Late: every 10 seconds of processing time",
        "Watermark: ts less 5 seconds",
        "Retention: 1 day after the watermark passed",
        "Expired: emitted, each a session of its own",
        "Ties: by OFFSET id",
        "Warning: an accumulator is kept for each instant of a session, since MAX, START or END "
        "may part it anew and its groups have keys of their own",
        "Warning: every row of a session is kept, since an aggregate reads them all",
    ]


def test_a_session_in_rows_in_full() -> None:
    text = (
        "SELECT product, window_start, COUNT(*) AS n FROM orders "
        "OVER (PARTITION BY product SESSION 100 ROWS GAP)"
    )
    assert facts(text) == [
        "Operator: aggregator, incremental; sessions of messages",
        "Stores: sessions (merged accumulators), revisions, counts (messages of all keys)",
        "Session key: product",
        "Gap: 100 messages of others",
        "Message key: none: incremental",
        "Full: at the message 101 of others behind its last",
        "Late: never: messages are counted as they come",
        "Ties: by OFFSET id",
        "Warning: a session in ROWS counts the messages of all keys, so all rows go to one bucket",
        "Warning: a message whose id is not above those before it in its partition is taken for "
        "a replay",
    ]


def test_a_session_in_rows_that_keeps_messages_finds_them_by_offset() -> None:
    text = "SELECT MEDIAN(n) AS m FROM orders OVER (SESSION 1 ROW GAP)"
    assert {"Gap: 1 message of others", "Message key: offset"} <= {*facts(text)}


def test_a_session_of_all_rows() -> None:
    text = "SELECT COUNT(*) AS n FROM SESSION(orders, ts, 1 HOUR)"
    assert "Session key: none: one for all rows" in facts(text)
    assert warned(text) == ["there is no key to part the rows by, so all rows go to one bucket"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{COUNT} 1 HOUR GAP MAX 4 HOURS)", "MAX, START or END may part it anew"),
        (f"{COUNT} 1 HOUR GAP START WHEN n = 1)", "MAX, START or END may part it anew"),
        (f"{COUNT} 1 HOUR GAP END WHEN n = 1)", "MAX, START or END may part it anew"),
        (f"{COUNT} 1 HOUR GAP) GROUP BY product, id", "its groups have keys of their own"),
        (f"{COUNT} 1 HOUR GAP) RETAIN 9 ROWS", "RETAIN counts its rows"),
    ],
)
def test_what_makes_a_session_keep_its_instants(text: str, why: str) -> None:
    assert parts_sessions(window(text))
    assert not keeps_messages(window(text))
    each = "an accumulator is kept for each instant of a session"
    assert warned(text) == [f"{each}, since {why}"]


def test_what_makes_a_session_keep_its_rows() -> None:
    text = f"SELECT MODE(n) AS m {OVER} 1 HOUR GAP)"
    assert keeps_messages(window(text))
    assert not parts_sessions(window(text))
    assert warned(text) == ["every row of a session is kept, since an aggregate reads them all"]


@pytest.mark.parametrize("most", ["1 HOUR", "5 MINUTES"])
def test_a_gap_that_ends_nothing(most: str) -> None:
    assert warned(f"{COUNT} 1 HOUR GAP MAX {most})")[-1] == (
        "MAX is no longer than the gap, so the gap ends no session"
    )


def test_rows_of_one_session_key_meet() -> None:
    grouped = "GROUP BY product, n"
    assert bucket_keys(window(f"{COUNT} 1 HOUR GAP) {grouped}")) == ("product",)
    rows = window(
        f"SELECT COUNT(*) FROM orders [PARTITION BY product SESSION 5 ROWS GAP] {grouped}"
    )
    assert counts(rows)
    assert bucket_keys(rows) == ()


def test_the_columns_a_session_goes_by_are_not_pruned() -> None:
    text = f"SELECT product {OVER} (product) GAP START WHEN n = 1 END WHEN id = 2) GROUP BY product"
    assert lines(text)[3:5] == [
        "  WindowAggregate session gap _gap1 start when _start1 end when _end1 "
        "by [product] keys [product]",
        "    Project product, product AS _gap1, n = 1 AS _start1, id = 2 AS _end1",
    ]
