"""State that is cut into other buckets: all of a row goes where the rows of its key go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random
from typing import Any

import pytest

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.plan.ir.statements import Script
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


MOVING = """CREATE STREAM s (k STRING, v BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR);
WITH counted AS (
  SELECT k, window_end, COUNT(*) AS n, SUM(v) AS total
  FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
  GROUP BY k, window_start, window_end EMIT CHANGES RETAIN INTERVAL '1' DAY)
"""
OF_COUNTS = {
    "folds": "SELECT n, SUM(total) AS x FROM counted GROUP BY n",
    "rows": "SELECT n, MEDIAN(total) AS x FROM counted GROUP BY n",
    "over": """SELECT k, n, SUM(total) OVER (PARTITION BY n ORDER BY window_end
        RANGE INTERVAL '1' MINUTE PRECEDING) AS x FROM counted
        EMIT CHANGES RETAIN INTERVAL '1' DAY""",
    "newest": """SELECT k, n, SUM(total) OVER (PARTITION BY n ORDER BY window_end
        ROWS 1 PRECEDING) AS x FROM counted EMIT CHANGES RETAIN INTERVAL '1' DAY""",
    "top": """SELECT k, n, total FROM (SELECT *, ROW_NUMBER() OVER (
        PARTITION BY n ORDER BY total DESC) AS r FROM counted) WHERE r <= 2""",
    "join": """SELECT a.k, b.k AS other, a.n, b.total FROM counted a LEFT JOIN counted b
        ON a.n = b.n AND a.k < b.k AND a.window_end = b.window_end RETAIN INTERVAL '1' DAY""",
}


def last(lives: Iterator[EmbeddedQuery], seed: int) -> list[list[str]]:
    """Values of the last revisions. In a batch retractions come first, as on Spark: they may be
    those of another bucket."""
    chance, found = Random(seed), dict[str, list[str]]()
    for query in islice(lives, 9):
        rows = [
            {"k": chance.choice("abcdef"), "v": chance.randrange(100), "ts": minute_of(chance)}
            for _ in range(chance.randrange(1, 5))
        ]
        query.push("s", rows)
        for row in sorted(query.results().to_pylist(), key=lambda row: str(row["op"]) != "-D"):
            found[row["row_key"]] = [str(value) for value in list(row.values())[:-4]]
            if row["op"] == "-D":
                del found[row["row_key"]]
    return sorted(found.values())


def minute_of(chance: Random) -> str:
    return f"2024-01-01T09:{chance.randrange(4):02}:{chance.randrange(60):02}Z"


@pytest.mark.parametrize(
    "name",
    [
        "rows",
        "over",
        *(
            pytest.param(each, marks=pytest.mark.long)
            for each in ("folds", "newest", "top", "join")
        ),
    ],
)
@pytest.mark.parametrize(
    ("counts", "seeds"),
    [
        ((2, 3), (1,)),
        pytest.param((3, 1, 2), range(2), marks=pytest.mark.long),
        pytest.param((3, 1, 2), range(2, 8), marks=pytest.mark.hours),
    ],
)
def test_a_row_that_changes_its_key_is_where_it_is_now(
    name: str, counts: tuple[int, ...], seeds: Iterable[int]
) -> None:
    """The bucket of its former key still knows that it was retracted there."""
    parsed = script(MOVING + OF_COUNTS[name])
    for seed in seeds:
        assert last(bucketed(parsed, counts), seed) == last(in_one_piece(parsed), seed), seed
