import pytest

from sqlwin.policies import Late, Policy
from tests.sql.cases import HOUR, MINUTE, SECOND, window

COUNT = "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 MINUTE)"


@pytest.mark.parametrize(
    ("clauses", "policy"),
    [
        ("", Policy(MINUTE)),
        ("EMIT ON CLOSE", Policy(MINUTE)),
        ("EMIT FINAL", Policy(MINUTE, Late.NEVER)),
        ("EMIT ON WINDOW CLOSE", Policy(MINUTE, Late.NEVER)),
        ("EMIT LATE NEVER", Policy(MINUTE, Late.NEVER)),
        ("EMIT ON CLOSE LATE ON UPDATE", Policy(MINUTE, Late.ON_UPDATE)),
        ("EMIT LATE EVERY INTERVAL '3' SECOND, ON CLOSE", Policy(MINUTE, Late.EVERY, 3 * SECOND)),
        ("RETAIN INTERVAL '1' HOUR", Policy(HOUR)),
        ("RETAIN 1 HOUR EMIT FINAL", Policy(HOUR, Late.NEVER)),
        ("EMIT FINAL RETAIN 0 SECONDS", Policy(0, Late.NEVER)),
    ],
)
def test_policies(clauses: str, policy: Policy) -> None:
    assert window(f"{COUNT} {clauses}").policy == policy


def test_default_retention_is_no_less_than_the_streams_delay() -> None:
    assert window("SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 SECOND)").policy.retain == 5 * SECOND


def test_ksqldbs_grace_is_retain() -> None:
    sizes = "SIZE 1 HOUR, RETENTION 7 DAYS, GRACE PERIOD 2 HOURS"
    assert (
        window(f"SELECT COUNT(*) FROM orders WINDOW TUMBLING ({sizes})").policy.retain == 2 * HOUR
    )


def test_columns_may_be_called_like_the_clauses() -> None:
    made = window(
        "SELECT emit, retain, COUNT(*) FROM TUMBLE((SELECT id AS emit, n AS retain, ts AS late, "
        "product AS range, value AS window FROM orders WHERE n > 1), late, 1 HOUR) "
        "WHERE range = 'x' AND emit > 1 OR retain IS NULL GROUP BY emit, retain EMIT FINAL"
    )
    assert made.keys == ("id", "n") or made.keys == ("emit", "retain")
    assert made.policy.late is Late.NEVER
