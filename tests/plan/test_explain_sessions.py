"""EXPLAIN of sessions: their key, what ends them, what is kept of them, and warnings."""

import pytest

from sqlwin.plan.properties.facts import (
    bucket_keys,
    counts,
)
from sqlwin.plan.properties.stores import (
    keeps_messages,
    splits_sessions,
)
from tests.support.plan.explained import facts
from tests.support.sql.cases import window

OVER = "FROM orders OVER (PARTITION BY product ORDER BY ts SESSION"
COUNT = f"SELECT product, COUNT(*) AS n {OVER}"


def warned(text: str) -> list[str]:
    return [line.removeprefix("Warning: ") for line in facts(text) if line.startswith("Warning")]


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
    assert splits_sessions(window(text))
    assert not keeps_messages(window(text))
    each = "an accumulator is kept for each instant of a session"
    assert warned(text) == [f"{each}, since {why}"]


def test_what_makes_a_session_keep_its_rows() -> None:
    text = f"SELECT MODE(n) AS m {OVER} 1 HOUR GAP)"
    assert keeps_messages(window(text))
    assert not splits_sessions(window(text))
    assert warned(text) == ["every row of a session is kept, since an aggregate reads them all"]


def test_rows_of_one_session_key_meet() -> None:
    grouped = "GROUP BY product, n"
    assert bucket_keys(window(f"{COUNT} 1 HOUR GAP) {grouped}")) == ("product",)
    rows = window(
        f"SELECT COUNT(*) FROM orders [PARTITION BY product SESSION 5 ROWS GAP] {grouped}"
    )
    assert counts(rows)
    assert bucket_keys(rows) == ()
