"""Joins of a stream with groups that have no event time: what RETAIN lets go of, and what not."""

from __future__ import annotations

import pytest

import sqlwin
from sqlwin.embedded.query import EmbeddedQuery

JOINED = """
CREATE STREAM a (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE STREAM b (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
SELECT a.k, g.k AS g, n FROM a {} JOIN (SELECT k, COUNT(*) AS n FROM b GROUP BY k) g ON a.k = g.k
EMIT EARLY ON UPDATE RETAIN 1 MINUTE
"""


def push(query: EmbeddedQuery, stream: str, k: int, minute: int) -> None:
    query.push(stream, [{"k": k, "ts": f"2024-01-01T09:{minute:02}:00Z"}])


@pytest.mark.parametrize("kind", ["INNER", "LEFT"])
def test_what_was_emitted_goes_with_the_row_that_has_a_time(kind: str) -> None:
    query = sqlwin.query(JOINED.format(kind))
    for minute in range(0, 60, 10):
        push(query, "b", 1, minute)
        push(query, "a", 1, minute)
        push(query, "b", 1, minute)
    stores = query._task.complete_stores().named
    assert {name: len(stores[name]) for name in ("left", "right", "revisions")} == {
        "left": 1,
        "right": 1,
        "revisions": 1,
    }


def test_a_group_that_was_emitted_by_itself_is_known_however_late_it_pairs() -> None:
    query = sqlwin.query(JOINED.format("FULL"))
    push(query, "b", 9, 0)
    push(query, "b", 9, 0)
    push(query, "a", 1, 10)
    push(query, "a", 9, 50)
    emissions = [row for row in query.results().to_pylist() if row["g"] == 9]
    assert [(row["op"], row["k"], row["n"], row["revision"]) for row in emissions] == [
        ("+I", None, 1, 0),
        ("+U", None, 2, 1),
        ("-D", None, 2, 2),
        ("+I", 9, 2, 0),
    ]
