"""Late rows of sessions, over the whole of a query: who counts, and what the results come to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import sqlwin
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.sql import script
from tests.reference.host import reference

START = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
OPTIONS = ["", ", OFFSET id", ", OFFSET id TRUSTED"]
VALUES = ["COUNT(*) AS n", "COUNT(*) AS n, MEDIAN(id) AS half"]
OF_CHANGES = ("op", "emit", "revision", "row_key")
Row = tuple[str, int]


def text(gap: int, grace: int, declared: str = "", values: str = VALUES[0]) -> str:
    return f"""
        CREATE STREAM clicks (k STRING, id BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts{declared});
        SELECT k, window_start, window_end, {values}
        FROM clicks WINDOW SESSION ({gap} SECONDS, GRACE PERIOD {grace} SECONDS)
        GROUP BY k EMIT CHANGES"""


def named(rows: Iterable[Row], first: int) -> list[dict[str, Any]]:
    return [
        {"k": k, "id": first + at, "ts": START + timedelta(seconds=second)}
        for at, (k, second) in enumerate(rows)
    ]


def expired(query: EmbeddedQuery) -> list[int]:
    """Ids of the rows that did not count."""
    return sorted(json.loads(row)["id"] for row in query.expired()["row"].to_pylist())


def sessions(query: EmbeddedQuery) -> list[tuple[Any, ...]]:
    names = [name for name in query.table().column_names if name not in OF_CHANGES]
    return sorted(tuple(row[name] for name in names) for row in query.table().to_pylist())


BATCHES = st.lists(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 200)), min_size=1, max_size=4),
    min_size=1,
    max_size=8,
)


@given(BATCHES, st.sampled_from([3, 10, 70]), st.sampled_from([0, 5, 90]), st.data())
def test_they_are_judged_as_the_reference_does_and_come_to_the_batch_answer(
    batches: list[list[Row]], gap: int, grace: int, data: st.DataObject
) -> None:
    parsed = text(
        gap, grace, data.draw(st.sampled_from(OPTIONS)), data.draw(st.sampled_from(VALUES))
    )
    fast, slow = sqlwin.query(parsed), reference(script(parsed))
    came: list[dict[str, Any]] = []
    for at, batch in enumerate(batches):
        rows = named(batch, 10 * at)
        came += rows
        fast.push("clicks", rows)
        slow.push("clicks", rows)
    assert sessions(fast) == sessions(slow)
    assert expired(fast) == expired(slow)
    counted = [row for row in came if row["id"] not in expired(fast)]
    at_once = sqlwin.query(parsed)
    at_once.push("clicks", counted)
    assert sessions(fast) == sessions(at_once)


def test_rows_of_a_batch_are_judged_together() -> None:
    query = sqlwin.query(text(10, 0))
    query.push("clicks", named([("b", 60)], 0))
    query.push("clicks", named([("a", 42), ("a", 51), ("a", 33), ("a", 20)], 1))
    assert expired(query) == [4]
    assert [row[-1] for row in sessions(query)] == [3, 1]


def test_a_message_that_comes_again_counts_once_while_its_session_is_there() -> None:
    query = sqlwin.query(text(10, 0, ", OFFSET id"))
    for at, second in enumerate(range(0, 400, 10)):
        query.push("clicks", named([("a", second)], at))
    query.push("clicks", named([("a", 0), ("a", 10)], 0))
    assert [row[-1] for row in sessions(query)] == [40]
    assert expired(query) == []
