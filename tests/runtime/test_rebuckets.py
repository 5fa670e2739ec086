"""State that is cut into other buckets: all of a row goes where the rows of its key go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.plan.ir.nodes import Script
from sqlwin.runtime.lowering.explained import explain
from sqlwin.sql import script
from tests.support.runtime.bucketed import bucketed

STAFF = """CREATE STREAM staff (id BIGINT, boss BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
SELECT /*+ STATE_TTL({ttl}) */ a.id, b.id AS boss
FROM staff a {kind} JOIN staff b ON a.boss = b.id
  AND b.ts BETWEEN a.ts - INTERVAL '3' HOUR AND a.ts + INTERVAL '3' HOUR
EMIT EARLY ON UPDATE RETAIN INTERVAL '1' DAY"""
COUNT = 12


def staff(first: int, hour: int) -> list[dict[str, Any]]:
    """Whose boss is the next one."""
    return [
        {"id": first + at, "boss": first + (at + 1) % COUNT, "ts": f"2024-01-01T{hour:02}:00:00Z"}
        for at in range(COUNT)
    ]


def in_one_piece(parsed: Script) -> Iterator[EmbeddedQuery]:
    query = EmbeddedQuery(parsed, explain)
    while True:
        yield query


def emitted(lives: Iterator[EmbeddedQuery]) -> list[list[tuple[Any, ...]]]:
    """Of rows; of the same ones again when their state has expired, and so knows none of them."""
    out = []
    for hour in (9, 11):
        query = next(lives)
        query.advance(now=f"2024-01-01T{hour:02}:00:00Z")
        query.push("staff", staff(0, hour))
        found = query.results().to_pylist()
        out.append(sorted(((row["id"], row["boss"]) for row in found), key=repr))
    next(lives)._check()
    return out


@pytest.mark.parametrize("kind", ["", "LEFT", "FULL"])
@pytest.mark.parametrize("ttl", ["'a' = '1 hour', 'b' = '1 hour'", "'a' = '1 hour'"])
def test_a_row_of_both_sides_is_by_the_key_of_each(kind: str, ttl: str) -> None:
    """A message has one position, on the left with one key, and on the right with another."""
    parsed = script(STAFF.format(kind=kind, ttl=ttl))
    assert emitted(bucketed(parsed)) == emitted(in_one_piece(parsed))
