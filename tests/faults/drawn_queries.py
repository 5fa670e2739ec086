"""Queries over all operators, what DuckDB answers to each, and rows for them.

Rows come in the order of their ids, out of order in time. A question's answer is over the rows
that were taken: with a short RETAIN those that expired are in the error stream instead, and of
those that expired in part `missed` says up to which end they miss their windows.

>>> drawn(Random(7)) == drawn(Random(7)), drawn(Random(7)) == drawn(Random(8))
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

Row = dict[str, Any]
Answer = list[tuple[Any, ...]]
BEGIN = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
STREAMS = """
CREATE STREAM s (id BIGINT, k STRING, v BIGINT, ts TIMESTAMP,
                 WATERMARK FOR ts AS ts - INTERVAL '5' SECOND{offset}){s};
CREATE STREAM r (id BIGINT, k STRING, v BIGINT, ts TIMESTAMP,
                 WATERMARK FOR ts AS ts - INTERVAL '5' SECOND{offset}){r};
"""
DAY, SOON = "RETAIN INTERVAL '1' DAY", "RETAIN INTERVAL '15' SECOND EXPIRED INTO {bad}"
POLICIES = {
    "full": "",
    "early": "EMIT EARLY ON UPDATE LATE ON UPDATE ",
    "late": "EMIT LATE ON UPDATE ",
    "periods": "EMIT LATE EVERY INTERVAL '10' SECOND ",
}
GROUPED = "SELECT k, window_start, COUNT(*) AS n, SUM(v) AS x, MEDIAN(v) AS m FROM {} "
BY = "GROUP BY k, window_start, window_end"
OVER = "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts {}) AS x FROM s"
ISLANDS = (
    "SELECT *, sum(new::INT) OVER (PARTITION BY k ORDER BY ts, id) AS g FROM (SELECT *, "
    "coalesce(ts - lag(ts) OVER (PARTITION BY k ORDER BY ts, id) > INTERVAL 3500 MILLISECOND, "
    "true) AS new FROM s)"
)
PASSED = "ts >= s.ts - INTERVAL 8 SECOND AND r.ts <= s.ts"
KEPT = "(missed IS NULL OR e > missed)"
TENS = "time_bucket(INTERVAL 10 SECOND, ts)"

WINDOWED = {
    "tumble": (
        GROUPED.format("TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND)") + BY,
        f"SELECT k, {TENS}, count(*), sum(v), median(v) FROM s GROUP BY ALL",
    ),
    "hop": (
        GROUPED.format("HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)")
        + BY,
        "SELECT k, b, count(*), sum(v), median(v) FROM (SELECT *, b + INTERVAL 15 SECOND AS e "
        "FROM (SELECT *, time_bucket(INTERVAL 5 SECOND, ts) - d * INTERVAL 5 SECOND AS b "
        f"FROM s, range(3) AS each(d))) WHERE {KEPT} GROUP BY ALL",
    ),
    "session": (
        "SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS x FROM s "
        "GROUP BY k, SESSION(ts, INTERVAL '3500' MILLISECOND)",
        f"SELECT k, min(ts), max(ts) + INTERVAL 3500 MILLISECOND, count(*), sum(v) "
        f"FROM ({ISLANDS}) GROUP BY k, g",
    ),
    "cumulate": (
        "SELECT k, window_start, window_end, SUM(v) AS x FROM CUMULATE(TABLE s, DESCRIPTOR(ts), "
        "INTERVAL '5' SECOND, INTERVAL '15' SECOND) " + BY,
        "SELECT k, b, e, sum(v) FROM (SELECT *, time_bucket(INTERVAL 15 SECOND, ts) AS b, "
        "b + d * INTERVAL 5 SECOND AS e FROM s, range(1, 4) AS each(d)) "
        f"WHERE ts < e AND {KEPT} GROUP BY ALL",
    ),
    "sets": (
        "SELECT k, window_start, SUM(v) AS x FROM TUMBLE(TABLE s, DESCRIPTOR(ts), "
        "INTERVAL '10' SECOND) GROUP BY window_start, window_end, GROUPING SETS ((k), ())",
        f"SELECT k, t, sum(v) FROM (SELECT *, {TENS} AS t FROM s) "
        "GROUP BY GROUPING SETS ((k, t), (t))",
    ),
    "range": (
        OVER.format("RANGE INTERVAL '9' SECOND PRECEDING"),
        "SELECT o.id, (SELECT sum(i.v) FROM s AS i WHERE i.k IS NOT DISTINCT FROM o.k "
        "AND i.ts BETWEEN o.ts - INTERVAL 9 SECOND AND o.ts "
        "AND (i.missed IS NULL OR o.ts >= i.missed)) "
        "FROM s AS o WHERE o.missed IS NULL OR o.ts >= o.missed",
    ),
    "rows": (
        OVER.format("ROWS 2 PRECEDING"),
        "SELECT o.id, (SELECT list_sum(list(i.v ORDER BY i.ts DESC, i.id DESC)[:3]) FROM s AS i "
        "WHERE i.k IS NOT DISTINCT FROM o.k AND (i.ts, i.id) <= (o.ts, o.id) "
        "AND (i.missed IS NULL OR o.ts >= i.missed)) "
        "FROM s AS o WHERE o.missed IS NULL OR o.ts >= o.missed",
    ),
    "running": (
        OVER.format("RANGE UNBOUNDED PRECEDING"),
        "SELECT o.id, (SELECT sum(i.v) FROM s AS i WHERE i.k IS NOT DISTINCT FROM o.k "
        "AND i.ts <= o.ts AND (i.missed IS NULL OR o.ts >= i.missed)) "
        "FROM s AS o WHERE o.missed IS NULL OR o.ts >= o.missed",
    ),
}
CHAINED = {
    "chain": (
        "SELECT k, window_start, MAX(n) AS n, SUM(n) AS x FROM TUMBLE(TABLE (SELECT k, "
        "window_time, COUNT(*) AS n FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND) "
        "GROUP BY k, window_start, window_end, window_time), DESCRIPTOR(window_time), "
        "INTERVAL '30' SECOND) " + BY + f" EMIT LATE ON UPDATE {DAY}",
        "SELECT k, time_bucket(INTERVAL 30 SECOND, t), max(n), sum(n) FROM (SELECT k, "
        f"{TENS} AS t, count(*) AS n FROM s GROUP BY ALL) GROUP BY ALL",
    ),
    "ranks": (
        "SELECT k, window_start, n, p FROM (SELECT k, window_start, COUNT(*) AS n, "
        "RANK() OVER (PARTITION BY window_start, window_end ORDER BY COUNT(*) DESC) AS p "
        "FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND) "
        f"{BY}) WHERE p <= 1 EMIT LATE ON UPDATE {DAY}",
        "SELECT k, t, n, p FROM (SELECT *, rank() OVER (PARTITION BY t ORDER BY n DESC) AS p "
        f"FROM (SELECT k, {TENS} AS t, count(*) AS n FROM s GROUP BY ALL)) WHERE p <= 1",
    ),
}
UNBOUNDED = {
    "tuples": (
        "SELECT k, window_start, SUM(v) AS x, COUNT(*) AS n FROM s OVER (PARTITION BY k "
        "ROWS 3 PRECEDING ADVANCE BY 2 ROWS) " + BY,
        "SELECT k, a, sum(v), count(*) FROM (SELECT *, unnest([a FOR a IN range(1, p + 1, 2) "
        "IF a + 3 > p]) AS a FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY id) AS p "
        "FROM s)) GROUP BY k, a",
    ),
    "top": (
        "SELECT k, id, v FROM (SELECT k, id, v, ROW_NUMBER() OVER (PARTITION BY k "
        "ORDER BY v DESC, id) AS n FROM s) WHERE n <= 2",
        "SELECT k, id, v FROM s "
        "QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC, id) <= 2",
    ),
    "totals": (
        "SELECT k, COUNT(*) AS n, SUM(v) AS x FROM s GROUP BY k",
        "SELECT k, count(*), sum(v) FROM s GROUP BY k",
    ),
    "distinct": (
        "SELECT DISTINCT k, v FROM s",
        "SELECT DISTINCT k, v FROM s",
    ),
    "lived": (
        "SELECT /*+ STATE_TTL('s' = '1 hour') */ k, COUNT(*) AS n, SUM(v) AS x FROM s GROUP BY k",
        "SELECT k, count(*), sum(v) FROM s GROUP BY k",
    ),
}
JOINED = {
    "join": (
        "SELECT s.id, r.id AS other, s.v + r.v AS x FROM s LEFT JOIN r ON s.k = r.k "
        f"AND r.ts BETWEEN s.ts - INTERVAL '8' SECOND AND s.ts {DAY}",
        f"SELECT s.id, r.id, s.v + r.v FROM s LEFT JOIN r ON s.k = r.k AND r.{PASSED}",
    ),
    "outer": (
        "SELECT s.id, r.id AS other, s.v + r.v AS x FROM s FULL JOIN r ON s.k = r.k "
        f"AND r.ts BETWEEN s.ts - INTERVAL '8' SECOND AND s.ts {DAY}",
        f"SELECT s.id, r.id, s.v + r.v FROM s FULL JOIN r ON s.k = r.k AND r.{PASSED}",
    ),
    "exists": (
        "SELECT id, v FROM s WHERE EXISTS (SELECT 1 FROM r WHERE r.k = s.k "
        f"AND r.ts BETWEEN s.ts - INTERVAL '8' SECOND AND s.ts) {DAY}",
        f"SELECT id, v FROM s WHERE EXISTS (FROM r WHERE r.k = s.k AND r.{PASSED})",
    ),
    "asof": (
        "SELECT s.id, r.v AS x FROM s LEFT ASOF JOIN r MATCH_CONDITION (s.ts >= r.ts) "
        f"ON s.k = r.k {DAY}",
        "SELECT s.id, (SELECT arg_max(r.v, (r.ts, r.id)) FROM r WHERE r.k = s.k AND r.ts <= s.ts) "
        "FROM s",
    ),
}


@dataclass(frozen=True)
class Question:
    """text: a SELECT, `{bad}` where its error stream goes. offset: whether its streams declare one,
    and so messages may come twice."""

    name: str
    text: str
    batch: str
    streams: tuple[str, ...]
    offset: bool

    @property
    def expires(self) -> bool:
        return "{bad}" in self.text

    @property
    def repeats(self) -> bool:
        """An expired row that comes again is an error again."""
        return self.offset and not self.expires


def drawn(random: Random) -> Question:
    kind = random.choice(("windowed", "windowed", "chained", "unbounded", "joined"))
    if kind == "joined":
        name = random.choice(list(JOINED))
        return Question(name, *JOINED[name], ("s", "r"), random.random() < 0.7)
    if kind != "windowed":
        those = CHAINED if kind == "chained" else UNBOUNDED
        name = random.choice(list(those))
        return Question(name, *those[name], ("s",), random.random() < 0.7)
    name, policy = random.choice(list(WINDOWED)), random.choice(list(POLICIES))
    select, batch = WINDOWED[name]
    text = f"{select}\n{POLICIES[policy]}{random.choice((DAY, DAY, SOON))}"
    return Question(f"{name}-{policy}", text, batch, ("s",), random.random() < 0.7)


def rows(random: Random, first: int, count: int, about: int) -> list[Row]:
    """Ids from `first` on, times around second `about`, a few of them long before."""
    early = (20, 20, 20, 60)
    return [
        {
            "id": first + n,
            "k": random.choice("ab"),
            "v": random.randint(0, 9),
            "ts": BEGIN + timedelta(seconds=about + random.randint(-random.choice(early), 5)),
        }
        for n in range(count)
    ]


SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("k", pa.string()),
        ("v", pa.int64()),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("missed", pa.timestamp("us", tz="UTC")),
    ]
)


@cache
def _duck() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect(config={"threads": 1})
    made.execute("SET TimeZone = 'UTC'")
    return made


def batch_answer(question: Question, taken: Mapping[str, Sequence[Row]]) -> Answer:
    """Over the rows of each stream that were taken."""
    for name in ("s", "r"):
        _duck().register(name, pa.Table.from_pylist(list(taken.get(name, ())), SCHEMA))
    return comparable(_duck().sql(question.batch).fetchall())


def comparable(found: Iterable[Sequence[Any]]) -> Answer:
    """In an order of its own; instants are compared as numbers."""
    return sorted((tuple(map(_plain, row)) for row in found), key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, str) and value.endswith("Z"):
        value = datetime.fromisoformat(value.replace("Z", "+00:00"))
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if isinstance(value, int | float) else value
