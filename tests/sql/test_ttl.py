"""STATE_TTL, `state.ttl…` in WITH and in SET: where a TTL holds, and what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlwin.plan.properties.facts import window_policy
from sqlwin.policies import Cleanup, Ttl, TtlTime, Update, Visibility
from tests.support.sql.cases import HOUR, bound, mistake

DAY = 24 * HOUR
WHOLE = "SELECT {}product, COUNT(*) AS n FROM orders GROUP BY product"
TOP = "SELECT {}* FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY product ORDER BY ts DESC) = 1"
RUNNING = "SELECT {}COUNT(*) OVER (PARTITION BY product ORDER BY ts) AS n FROM orders"
UNION = "SELECT {}DISTINCT * FROM (SELECT id FROM orders UNION ALL SELECT n FROM orders)"
FRAME = "SELECT {}COUNT(*) OVER (ORDER BY ts ROWS 3 PRECEDING) AS n FROM orders"
FRAMES = FRAME.replace("(ORDER", "(PARTITION BY product ORDER")
TUMBLE = "SELECT {}COUNT(*) AS n FROM TUMBLE(orders, ts, 1 MINUTE)"
MESSAGES = "SELECT {}COUNT(*) AS n FROM orders OVER (ROWS 10 PRECEDING ADVANCE BY 5 ROWS)"
OF_KEYS = MESSAGES.replace("(ROWS", "(PARTITION BY product ROWS") + " GROUP BY product"
RANKED = """SELECT {}product, ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY n DESC) AS place
FROM (SELECT product, window_start, COUNT(*) AS n FROM TUMBLE(orders, ts, 1 MINUTE)
      GROUP BY product, window_start, window_end) QUALIFY place <= 3"""
HINT = "/*+ STATE_TTL('orders' = '3 days') */ "
SET = "SET 'state.ttl' = '1 day'; "


def ttl(text: str) -> Ttl | None:
    policy = window_policy(bound(text).queries[0].plan)
    assert policy is not None
    return policy.ttl


@pytest.mark.parametrize("query", [WHOLE, UNION, TOP, RUNNING, FRAMES, OF_KEYS])
def test_what_no_window_bounds_has_the_ttl_that_is_set(query: str) -> None:
    assert ttl(query.format("")) is None
    assert ttl(SET + query.format("")) == Ttl(DAY)
    assert ttl(SET + query.format(HINT)) == Ttl(3 * DAY)


@pytest.mark.parametrize(
    ("length", "micros"), [("24 h", DAY), ("1 d", DAY), ("1440 min", DAY), ("86400 s", DAY)]
)
def test_flink_setting_is_the_same(length: str, micros: int) -> None:
    assert ttl(f"SET 'table.exec.state.ttl' = '{length}'; " + WHOLE.format("")) == Ttl(micros)
    assert ttl(SET + "SET 'table.exec.state.ttl' = '0 ms'; " + WHOLE.format("")) is None


@pytest.mark.parametrize("query", [FRAME, TUMBLE, MESSAGES, RANKED])
def test_other_state_has_one_if_a_hint_sets_it(query: str) -> None:
    assert ttl(SET + query.format("")) is None
    assert ttl(query.format(HINT)) == Ttl(3 * DAY)


@pytest.mark.parametrize("none", ["0", "none", "0 days"])
def test_a_ttl_may_be_none(none: str) -> None:
    assert ttl(SET + WHOLE.format(HINT.replace("3 days", none))) is None
    assert ttl(f"{SET}SET state.ttl = '{none}'; " + WHOLE.format("")) is None


def test_each_option_is_set_by_itself() -> None:
    sets = {
        "time": "event",
        "update": "read-and-write",
        "visibility": "return-expired-if-not-cleaned-up",
        "cleanup": "incremental(5, false); full-snapshot",
    }
    text = SET + "".join(f"SET 'state.ttl.{name}' = '{value}'; " for name, value in sets.items())
    cleanup = Cleanup(full_snapshot=True, incremental=5)
    expected = Ttl(DAY, TtlTime.EVENT, Update.READ, Visibility.UNTIL_CLEANED, cleanup)
    assert ttl(text + WHOLE.format("")) == expected
    declared = """CREATE STREAM logins (user STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts)
        WITH ('state.ttl' = '2 h', 'state.ttl.cleanup' = 'timers');"""
    query = "SELECT user, COUNT(*) AS n FROM logins GROUP BY user"
    reported = replace(expected, length=2 * HOUR, cleanup=Cleanup(timers=True))
    assert ttl(text + declared + query) == reported


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM (SELECT /*+ STATE_TTL('o' = '3d') */ product, COUNT(*) AS n"
        " FROM orders AS o GROUP BY product)",
        'SELECT /*+ state_ttl(orders = "72 h") */ * FROM (SELECT product, COUNT(*) AS n'
        " FROM orders GROUP BY product)",
        "WITH c AS (SELECT /*+ STATE_TTL('orders' = '3 days') */ product, COUNT(*) AS n"
        " FROM orders GROUP BY product) SELECT * FROM c WHERE n > 1",
        "CREATE VIEW c AS SELECT /*+ STATE_TTL('orders' = '3 days') */ product, COUNT(*) AS n"
        " FROM orders GROUP BY product; SELECT n FROM c",
    ],
)
def test_a_hint_stands_in_any_query_around_the_state(text: str) -> None:
    assert ttl(text) == Ttl(3 * DAY)


@pytest.mark.parametrize("option", ["state.ttl.updates", "state.tll"])
def test_a_mistake_in_a_stream_is_reported_when_it_is_declared(option: str) -> None:
    found = mistake(f"CREATE STREAM s (a BIGINT) WITH ('{option}' = 'x')")
    assert found.message == f"there is no option {option}"
