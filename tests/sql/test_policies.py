import pytest

from sqlwin.policies import Early, Expired, Late, Policy
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import Whole
from tests.support.sql.cases import HOUR, MINUTE, SECOND, bound, over, window

DAY = 24 * HOUR
COUNT = "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 MINUTE)"
TUPLES = "SELECT COUNT(*) FROM orders OVER (ROWS 100 PRECEDING ADVANCE BY 10 ROWS)"
SLIDES = "SELECT COUNT(*) FROM orders OVER (ROWS 100 PRECEDING)"
WHOLE = "SELECT product, COUNT(*) FROM orders GROUP BY product"


@pytest.mark.parametrize(
    ("clauses", "policy"),
    [
        ("", Policy(MINUTE)),
        ("EMIT ON CLOSE", Policy(MINUTE)),
        ("EMIT FINAL", Policy(0, Late.NEVER)),
        ("EMIT ON WINDOW CLOSE", Policy(0, Late.NEVER)),
        ("EMIT LATE NEVER", Policy(MINUTE, Late.NEVER)),
        ("EMIT ON CLOSE LATE ON UPDATE", Policy(MINUTE, Late.ON_UPDATE)),
        ("EMIT LATE EVERY INTERVAL '3' SECOND, ON CLOSE", Policy(MINUTE, Late.EVERY, 3 * SECOND)),
        ("RETAIN INTERVAL '1' HOUR", Policy(HOUR)),
        ("RETAIN 1 HOUR EMIT FINAL", Policy(0, Late.NEVER, hold=HOUR)),
        ("EMIT FINAL RETAIN 0 SECONDS", Policy(0, Late.NEVER)),
        (
            "EMIT EARLY EVERY INTERVAL '10' SECOND",
            Policy(MINUTE, early=Early.EVERY, early_period=10 * SECOND),
        ),
        ("EMIT EARLY EVERY 100 ROWS", Policy(MINUTE, early=Early.ROWS, early_rows=100)),
        ("EMIT EARLY EVERY 1 ROW", Policy(MINUTE, early=Early.ROWS, early_rows=1)),
        ("EMIT EARLY ON UPDATE", Policy(MINUTE, early=Early.ON_UPDATE)),
        ("EMIT CHANGES", Policy(MINUTE, Late.ON_UPDATE, early=Early.ON_UPDATE)),
        (
            "EMIT CHANGES, ON CLOSE TIMEOUT 5 s",
            Policy(MINUTE, Late.ON_UPDATE, early=Early.ON_UPDATE, timeout=5 * SECOND),
        ),
        ("EMIT ON CLOSE TIMEOUT INTERVAL '1' MINUTE", Policy(MINUTE, timeout=MINUTE)),
        ("EMIT ON WINDOW CLOSE TIMEOUT 1 HOUR", Policy(0, Late.NEVER, timeout=HOUR)),
        ("EMIT FINAL, ON CLOSE TIMEOUT 1 HOUR", Policy(0, Late.NEVER, timeout=HOUR)),
        ("RETAIN 1000 ROWS", Policy(None, retain_rows=1000)),
        ("RETAIN 1 HOUR OR 1000 ROWS", Policy(HOUR, retain_rows=1000)),
        ("RETAIN 1 ROW OR INTERVAL '1' HOUR", Policy(HOUR, retain_rows=1)),
        ("EXPIRED INTO errors", Policy(MINUTE, errors="errors")),
        ("EXPIRED INTO `too late`", Policy(MINUTE, errors="too late")),
        ("EXPIRED COUNT", Policy(MINUTE, expired=Expired.COUNT)),
        (
            "EXPIRED INTO bad RETAIN 1 HOUR OR 5 ROWS "
            "EMIT EARLY EVERY 2 s LATE ON UPDATE ON CLOSE TIMEOUT 3 s",
            Policy(
                HOUR,
                Late.ON_UPDATE,
                early=Early.EVERY,
                early_period=2 * SECOND,
                timeout=3 * SECOND,
                retain_rows=5,
                errors="bad",
            ),
        ),
    ],
)
def test_policies(clauses: str, policy: Policy) -> None:
    assert window(f"{COUNT} {clauses}").policy == policy


def test_default_retention_is_no_less_than_the_streams_delay() -> None:
    assert window("SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 SECOND)").policy.retain == 5 * SECOND


def test_default_retention_of_cumulating_windows_is_the_greatest_one() -> None:
    made = window("SELECT COUNT(*) FROM CUMULATE(orders, ts, 1 HOUR, 1 DAY)")
    assert made.policy == Policy(DAY)


@pytest.mark.parametrize(
    ("parts", "retain", "retention"),
    [
        ("SIZE 1 HOUR, RETENTION 7 DAYS, GRACE PERIOD 2 HOURS", 2 * HOUR, 7 * DAY),
        ("SIZE 1 HOUR, GRACE PERIOD 0 SECONDS", 0, None),
        ("SIZE 1 HOUR, RETENTION 7 DAYS", HOUR, 7 * DAY),
        ("SIZE 1 HOUR, RETENTION 2 HOURS, GRACE PERIOD 2 HOURS", 2 * HOUR, None),
    ],
)
def test_ksqldbs_grace_is_retain(parts: str, retain: int, retention: int | None) -> None:
    made = window(f"SELECT COUNT(*) FROM orders WINDOW TUMBLING ({parts})")
    assert made.policy == Policy(retain, retention=retention)


# --- windows without a bound --------------------------------------------------------


@pytest.mark.parametrize(
    ("clauses", "policy"),
    [
        ("", Policy(None, early=Early.ON_UPDATE)),
        ("EMIT CHANGES", Policy(None, Late.ON_UPDATE, early=Early.ON_UPDATE)),
        ("EMIT EARLY EVERY 1 MINUTE", Policy(None, early=Early.EVERY, early_period=MINUTE)),
        ("EMIT LATE NEVER", Policy(None, Late.NEVER, early=Early.ON_UPDATE)),
        ("EMIT ON CLOSE", Policy(None)),
        ("EMIT ON CLOSE TIMEOUT 1 MINUTE", Policy(None, timeout=MINUTE)),
        ("EMIT FINAL", Policy(None, Late.NEVER)),
        ("RETAIN 1 HOUR", Policy(HOUR, early=Early.ON_UPDATE)),
        ("RETAIN 9 ROWS", Policy(None, early=Early.ON_UPDATE, retain_rows=9)),
    ],
)
def test_the_whole_stream_is_sent_at_each_update_if_nothing_is_said(
    clauses: str, policy: Policy
) -> None:
    made = window(f"{WHOLE} {clauses}")
    assert (made.window, made.policy) == (Whole(), policy)


def test_a_window_without_bound_is_kept_for_ever_if_nothing_is_said() -> None:
    unbounded = "SELECT COUNT(*) FROM orders OVER (RANGE UNBOUNDED PRECEDING)"
    assert over(unbounded).policy == Policy(None)
    assert over(f"{unbounded} RETAIN 1 HOUR").policy == Policy(HOUR)
    assert over(f"{unbounded} RETAIN 10 ROWS").policy == Policy(None, retain_rows=10)


# --- windows of messages ------------------------------------------------------------


@pytest.mark.parametrize(
    ("clauses", "policy"),
    [
        ("", Policy(0)),
        ("EMIT EARLY EVERY 1 MINUTE", Policy(0, early=Early.EVERY, early_period=MINUTE)),
        ("EMIT EARLY EVERY 2 ROWS", Policy(0, early=Early.ROWS, early_rows=2)),
        ("EMIT CHANGES", Policy(0, early=Early.ON_UPDATE)),
        ("EMIT FINAL", Policy(0)),
        ("EMIT ON CLOSE TIMEOUT 1 MINUTE", Policy(0, timeout=MINUTE)),
        ("RETAIN 1 HOUR", Policy(0)),
        ("RETAIN 5 ROWS", Policy(0, retain_rows=5)),
        ("EXPIRED INTO bad", Policy(0, errors="bad")),
        ("EXPIRED COUNT", Policy(0, expired=Expired.COUNT)),
    ],
)
def test_windows_of_messages(clauses: str, policy: Policy) -> None:
    assert window(f"{TUPLES} {clauses}").policy == policy


def test_a_sliding_window_of_messages_is_full_at_once() -> None:
    made = over(f"{SLIDES} EMIT EARLY EVERY 1 MINUTE ON CLOSE TIMEOUT 1 HOUR RETAIN 5 ROWS")
    assert made.policy == Policy(0, retain_rows=5)
    assert made.calls[0].frame == Frame(Unit.ROWS, 99)


# --- names --------------------------------------------------------------------------


def test_columns_may_be_called_like_the_clauses() -> None:
    made = window(
        "SELECT emit AS e, retain, COUNT(*) FROM TUMBLE((SELECT id AS emit, n AS retain, "
        "ts AS late, product AS range, value AS window FROM orders WHERE n > 1), late, 1 HOUR) "
        "WHERE range = 'x' AND emit > 1 OR retain IS NULL GROUP BY emit, retain EMIT FINAL"
    )
    assert made.keys == ("id", "n") or made.keys == ("emit", "retain")
    assert made.policy.late is Late.NEVER


def test_columns_called_early_and_expired() -> None:
    made = window(
        "SELECT early, COUNT(*) FROM TUMBLE((SELECT id AS early, n > 1 AS expired, ts, "
        "n AS changes, n AS timeout, n AS final FROM orders), ts, 1 HOUR) "
        "WHERE expired AND changes + timeout > final GROUP BY early EMIT EARLY ON UPDATE"
    )
    assert made.policy.early is Early.ON_UPDATE


def test_the_sink_that_takes_expired_rows() -> None:
    sink = "CREATE SINK Bad WITH (connector = 'files');"
    (only,) = bound(f"{sink} {COUNT} EXPIRED INTO bad").queries
    assert only.errors is not None
    assert only.errors.name == "Bad"
    (free,) = bound(f"{COUNT} EXPIRED INTO bad").queries
    assert free.errors is None


def test_policies_of_a_query_around_the_windows() -> None:
    inner = "SELECT * FROM (SELECT product, COUNT(*) AS c FROM TUMBLE(orders, ts, 1 MINUTE) "
    made = window(f"SELECT c FROM ({inner} GROUP BY product) WHERE c > 1) EMIT CHANGES RETAIN 5 s")
    assert made.policy == Policy(5 * SECOND, Late.ON_UPDATE, early=Early.ON_UPDATE)


# --- refused ------------------------------------------------------------------------
