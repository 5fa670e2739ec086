"""The event time of what a join gives: no row of it is late that was not late below.

Rows come out of order, though never later than the delay of their stream. So the windows over the
join's results, by GREATEST or COALESCE of its event times, are each emitted once, and right.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any

import pytest

import sqlwin
from sqlwin.errors import QueryError

STREAMS = """
CREATE STREAM a (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM b (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
"""
VIEW = """
CREATE VIEW both_of AS SELECT {time} AS t FROM a {kind} JOIN b
ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL '{before}' SECOND
  AND a.ts + INTERVAL '{after}' SECOND;
"""
COUNTED = """
SELECT window_start, COUNT(*) AS n
FROM TUMBLE(TABLE both_of, DESCRIPTOR(t), INTERVAL '8' SECOND) GROUP BY window_start, window_end
"""
BEGIN = datetime(2024, 1, 1, tzinfo=timezone.utc)
Row = dict[str, Any]


def rows(rng: Random, count: int) -> list[Row]:
    """Each at most 5 seconds behind those before it."""
    at, made = 0, []
    for _ in range(count):
        at += rng.choice((0, 1, 3, 9))
        made.append({"k": rng.randint(1, 2), "ts": max(0, at - rng.choice((0, 0, 2, 5)))})
    return made


def instant(seconds: int) -> str:
    return (BEGIN + timedelta(seconds=seconds)).isoformat()


def joined(
    kind: str, left: list[Row], right: list[Row], before: int, after: int
) -> list[list[int]]:
    """The event times of each result."""
    pairs = [
        (i, j)
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if a["k"] == b["k"] and -before <= b["ts"] - a["ts"] <= after
    ]
    found = [[left[i]["ts"], right[j]["ts"]] for i, j in pairs]
    if kind in ("LEFT", "FULL"):
        found += [[a["ts"]] for i, a in enumerate(left) if i not in {i for i, _ in pairs}]
    if kind in ("RIGHT", "FULL"):
        found += [[b["ts"]] for j, b in enumerate(right) if j not in {j for _, j in pairs}]
    return found


@pytest.mark.parametrize(
    "kind", [*(pytest.param(k, marks=pytest.mark.long) for k in ("INNER", "LEFT", "RIGHT")), "FULL"]
)
@pytest.mark.parametrize("function", ["GREATEST", "COALESCE"])
def test_no_result_is_late_that_was_not_late_below(kind: str, function: str) -> None:
    for seed in range(3):
        rng = Random(seed)
        before, after = rng.choice([(0, 10), (10, 0), (3, 20), (10, 10)])
        view = VIEW.format(time=f"{function}(a.ts, b.ts)", kind=kind, before=before, after=after)
        query = sqlwin.query(STREAMS + view + COUNTED)
        sent: dict[str, list[Row]] = {"a": rows(rng, 25), "b": rows(rng, 25)}
        left = {name: list(all_of) for name, all_of in sent.items()}
        emitted: list[Row] = []
        while any(left.values()):
            name = rng.choice([name for name, some in left.items() if some])
            row = left[name].pop(0)
            query.push(name, [{**row, "ts": instant(row["ts"])}])
            emitted += query.results().to_pylist()
        query.drain()
        emitted += query.results().to_pylist()
        times = joined(kind, sent["a"], sent["b"], before, after)
        first = max if function == "GREATEST" else lambda each: each[0]
        wanted = Counter(first(each) // 8 * 8 for each in times)
        assert {row["emit"] for row in emitted} == {"full"}
        starts = [row["window_start"] for row in emitted]
        assert len(starts) == len(set(starts))
        assert {row["window_start"]: row["n"] for row in emitted} == {
            BEGIN + timedelta(seconds=start): n for start, n in wanted.items()
        }


@pytest.mark.parametrize("kind", ["INNER", "LEFT", "FULL"])
def test_least_of_both_is_no_event_time(kind: str) -> None:
    view = VIEW.format(time="LEAST(a.ts, b.ts)", kind=kind, before=1, after=1)
    with pytest.raises(QueryError):
        sqlwin.query(STREAMS + view + COUNTED)
