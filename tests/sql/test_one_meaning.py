"""An expression means the same wherever it stands: the one table of functions computes them all.

Conditions that are true in Spark, and would not be with the types or the rounding of another
engine, stand in every place that a query has for one. Negated, none of them lets a row through.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import sqlwin
from sqlwin.sql import script

TRUE = (
    "{n} / 2 = 3.5",
    "CAST({s} AS INT) = 3",
    "NOT {d} = '1.51'",
    "{t} * 2 = 200",
    "{n} DIV 2 = 3",
    "CAST(3.5 + {n} * 0 AS INT) = 3",
    "NOT {f} = 0.1",
    "{n} + {s} = 10",
    "DAYOFWEEK({day}) = 2",
    "LEFT({w}, -1) = '' AND SUBSTRING({w}, 0, 2) = 'ab'",
    "ROUND({d} * 1.01, 2) = 1.52",
    "DATEDIFF(HOUR, {ts}, {ts} + INTERVAL '59' MINUTE) = 0",
)
ROW = {"n": 7, "s": "3", "d": "1.5", "t": 100, "f": 0.1, "day": "2024-01-01", "w": "abc"}
NAMES = (*ROW, "ts")
STREAM = """CREATE STREAM {0} (n INT, s STRING, d DECIMAL(3, 1), t TINYINT, f FLOAT, day DATE,
  w STRING, ts TIMESTAMP, computed AS {1}, WATERMARK FOR ts AS ts);
"""
TUMBLE = "TUMBLE(TABLE x, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY window_start, window_end"
NEAR = "a.w = b.w AND b.ts BETWEEN a.ts - INTERVAL '1' HOUR AND a.ts + INTERVAL '1' HOUR"
SESSION = "GROUP BY w, window_start, window_end HAVING COUNT(*) = 1"
OF_ROWS = {
    "select": "SELECT p FROM (SELECT {0} AS p FROM x) WHERE p",
    "case": "SELECT CASE WHEN {0} THEN 1 ELSE 0 END AS p FROM x WHERE CASE WHEN {0} THEN TRUE END",
    "where": "SELECT n FROM x WHERE {0}",
    "aggregate": f"SELECT BOOL_AND({{0}}) AS p FROM {TUMBLE} HAVING p",
    "filter": f"SELECT COUNT(*) FILTER (WHERE {{0}}) AS c FROM {TUMBLE} HAVING c = 2",
    "key": "SELECT {0} AS p, COUNT(*) AS c FROM x GROUP BY {0} HAVING p",
    "over": "SELECT BOOL_OR({0}) OVER (ORDER BY ts ROWS 1 PRECEDING) AS p FROM x QUALIFY p",
    "qualify": "SELECT COUNT(*) OVER (ORDER BY ts ROWS 1 PRECEDING) AS c FROM x"
    " QUALIFY c > 0 AND {0}",
    "rank": "SELECT ROW_NUMBER() OVER (PARTITION BY {0} ORDER BY ts) AS r FROM x"
    " QUALIFY r = 2 AND {0}",
    "start": f"SELECT 1 FROM x OVER (PARTITION BY w SESSION 1 HOUR GAP START WHEN {{0}}) {SESSION}",
    "end": f"SELECT 1 FROM x OVER (PARTITION BY w SESSION 1 HOUR GAP END WHEN {{0}}) {SESSION}",
    "gap": "SELECT 1 FROM x OVER (PARTITION BY w SESSION"
    f" (CASE WHEN {{0}} THEN '1 second' ELSE '2 hours' END) GAP) {SESSION}",
    "computed column": "SELECT n FROM x WHERE computed",
}
OF_PAIRS = {
    "join": f"SELECT a.n FROM x a JOIN y b ON {NEAR} AND {{0}}",
    "left join": f"SELECT b.n FROM x a LEFT JOIN y b ON {NEAR} AND {{0}} WHERE b.n IS NOT NULL",
    "full join": f"SELECT b.n FROM x a FULL JOIN y b ON {NEAR} AND {{0}}"
    " WHERE a.n IS NOT NULL AND b.n IS NOT NULL",
    "semi join": f"SELECT a.n FROM x a SEMI JOIN y b ON {NEAR} AND {{0}}",
    "where of a join": f"SELECT a.n FROM x a JOIN y b ON {NEAR} WHERE {{0}}",
    "exists": f"SELECT a.n FROM x a WHERE EXISTS (SELECT 1 FROM y b WHERE {NEAR} AND {{0}})",
}
KEYS = {
    "a.s = b.n - 4": True,
    "a.d = b.s": False,
    "a.d * 2 = b.s": True,
    "a.t = b.n * 14 + 2": True,
    "a.n / 2 = b.d + 2": True,
    "a.n DIV 2 = b.s": True,
    "a.f = b.d / 15": False,
    "a.s = b.d + 1.5": True,
}
"""Equalities of two sides, which rows are found by."""


def emitted(query: str, computed: str = "TRUE") -> list[dict[str, Any]]:
    made = sqlwin.query(STREAM.format("x", computed) + STREAM.format("y", "TRUE") + query)
    for name in ("x", "y"):
        if re.search(rf"\b{name}\b", query):
            rows = [{**ROW, "ts": f"2024-01-01T09:00:{second}Z"} for second in ("01", "11")]
            made.push(name, rows)
    made.drain()
    assert not made.refused()
    found: list[dict[str, Any]] = made.results().to_pylist()
    return found


def both(texts: list[str], query: str) -> None:
    """It lets rows through where all are true, and none where one of them is not."""
    never = " OR ".join(f"NOT ({text})" for text in texts)
    for true, condition in ((True, " AND ".join(texts)), (False, never)):
        computed = condition if "computed" in query else "TRUE"
        assert bool(emitted(query.format(f"({condition})"), computed)) is true


def written(**of: str) -> list[str]:
    return [text.format(**of) for text in TRUE]


@pytest.mark.parametrize("place", OF_ROWS)
def test_of_a_row(place: str) -> None:
    both(written(**{name: name for name in NAMES}), OF_ROWS[place])


def test_of_a_group() -> None:
    of = {name: f"MAX({name})" for name in NAMES}
    both(written(**of), f"SELECT COUNT(*) AS q FROM {TUMBLE} HAVING {{0}}")


@pytest.mark.parametrize("place", OF_PAIRS)
def test_of_a_pair(place: str) -> None:
    sides = dict.fromkeys(NAMES, "a") | dict.fromkeys(("s", "d", "w"), "b")
    both(written(**{name: f"{side}.{name}" for name, side in sides.items()}), OF_PAIRS[place])


@pytest.mark.parametrize("text", KEYS)
def test_of_keys(text: str) -> None:
    near = "b.ts BETWEEN a.ts - INTERVAL '1' HOUR AND a.ts + INTERVAL '1' HOUR"
    for condition in (f"{near} AND {text}", f"a.w = b.w AND {near} AND {text}"):
        found = emitted(f"SELECT a.n FROM x a JOIN y b ON {condition}")
        assert bool(found) is KEYS[text], condition


@pytest.mark.parametrize(
    ("one", "other", "type_"),
    [("f", "d", "double"), ("n", "f", "double"), ("t", "d", "decimal128(4, 1)")],
)
def test_of_a_union(one: str, other: str, type_: str) -> None:
    text = f"SELECT {one} AS v FROM x UNION ALL SELECT {other} FROM y"
    (query,) = script(STREAM.format("x", "TRUE") + STREAM.format("y", "TRUE") + text).queries
    assert str(query.plan.schema[0].type) == type_
