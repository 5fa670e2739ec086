"""Sessions are queried by instants: a session holds those from its first row up to its end, and
not the end itself, though a row exactly there would still join it."""

from __future__ import annotations

from typing import Any

import pytest

import sqlwin
from sqlwin.embedded.query import EmbeddedQuery

STREAM = """
CREATE STREAM clicks (user STRING, page STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);
SELECT user, window_start, window_end, COUNT(*) AS n
FROM clicks OVER (PARTITION BY user ORDER BY ts SESSION {})
GROUP BY user, window_start, window_end
"""
GAP = "INTERVAL '30' SECOND GAP"


def at(clock: str) -> str:
    return f"2024-01-01T09:{clock}Z"


def opened(session: str = GAP, more: str = "RETAIN INTERVAL '1' HOUR") -> EmbeddedQuery:
    return sqlwin.query(STREAM.format(session) + more)


def click(q: EmbeddedQuery, *clocks: str, user: str = "ann", page: str = "a") -> None:
    q.push("clicks", [{"user": user, "page": page, "ts": at(clock)} for clock in clocks])


def listed(q: EmbeddedQuery, *between: str | None, **key: Any) -> list[tuple[str, str, str, int]]:
    """(user, minutes and seconds of start and end, n) of the windows that are found."""
    found = q.windows(*(None if clock is None else at(clock) for clock in between), **key)
    return [
        (row["user"], f"{row['window_start']:%M:%S}", f"{row['window_end']:%M:%S}", row["n"])
        for row in found.to_pylist()
    ]


ANN = ("ann", "00:10", "00:50", 2)
EDGES: list[tuple[str | None, str | None, bool]] = [
    (None, None, True),
    ("00:10", "00:10", True),  # its first row
    (None, "00:10", True),
    (None, "00:09.999999", False),
    ("00:15", "00:16", True),  # between two rows
    ("00:30", "00:40", True),  # in the gap behind the last
    ("00:00", "01:30", True),  # all of it and more
    ("00:49.999999", None, True),
    ("00:49.999999", "00:49.999999", True),
    ("00:50", None, False),  # its end
    ("00:50", "00:50", False),
    ("00:40", "00:15", False),  # no instant
]


@pytest.mark.parametrize(("start", "end", "found"), EDGES)
def test_it_holds_its_start_and_not_its_end(
    start: str | None, end: str | None, found: bool
) -> None:
    q = opened()
    click(q, "00:10", "00:20")
    assert listed(q, start, end) == [ANN] * found


def test_a_row_exactly_a_gap_away_joins_and_then_its_instant_is_in_the_session() -> None:
    q = opened()
    click(q, "00:10", "00:20")
    assert listed(q, "00:50", "00:50") == []
    click(q, "00:50")
    assert listed(q, "00:50", "00:50") == [("ann", "00:10", "01:20", 3)]
    assert listed(q, "01:20", None) == []


def test_of_two_sessions_that_touch_the_instant_between_is_in_the_later() -> None:
    q = opened(GAP + " MAX INTERVAL '30' SECOND")
    click(q, "00:10", "00:20", "00:40")
    first, second = ("ann", "00:10", "00:40", 2), ("ann", "00:40", "01:10", 1)
    assert listed(q) == [first, second]
    assert listed(q, "00:39.999999", "00:39.999999") == [first]
    assert listed(q, "00:40", "00:40") == [second]
    assert listed(q, "00:39.999999", "00:40") == [first, second]


def test_each_key_has_its_own_and_what_grew_together_is_one() -> None:
    q = opened()
    click(q, "00:10", "01:00")
    click(q, "00:40.000001", user="bob")
    ann = [("ann", "00:10", "00:40", 1), ("ann", "01:00", "01:30", 1)]
    assert listed(q, "00:40", "00:59.999999") == [("bob", "00:40", "01:10", 1)]
    assert listed(q, "00:39.999999", "01:00", key="ann") == ann
    click(q, "00:35")
    assert listed(q, "00:40", "00:40") == [("ann", "00:10", "01:30", 3)]


def test_a_full_session_is_found_until_it_is_retired() -> None:
    q = opened(more="RETAIN INTERVAL '1' MINUTE")
    click(q, "00:10", "00:20")
    q.advance(watermark={"clicks": at("01:50")})
    assert listed(q, "00:10", "00:10") == [ANN]
    assert q.windows()["state"].to_pylist() == ["full"]
    q.advance(watermark={"clicks": at("01:50.000001")})
    assert listed(q) == []


def test_sessions_of_messages_hold_numbers_up_to_their_end() -> None:
    q = sqlwin.query(
        "CREATE STREAM clicks (user STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts); "
        "SELECT user, window_start, window_end, COUNT(*) AS n "
        "FROM clicks OVER (PARTITION BY user SESSION 5 ROWS GAP) "
        "GROUP BY user, window_start, window_end"
    )
    q.push("clicks", [{"user": user, "ts": at("00:10")} for user in ("bob", "ann", "ann")])
    bounds = [(r["user"], r["window_start"], r["window_end"]) for r in q.windows().to_pylist()]
    assert sorted(bounds) == [("ann", 2, 4), ("bob", 1, 2)]
    found = [q.windows(n, n)["user"].to_pylist() for n in range(5)]
    assert found == [[], ["bob"], ["ann"], ["ann"], []]
