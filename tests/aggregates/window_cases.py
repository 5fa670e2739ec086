"""Random queries over group windows and joins, in our words and in Spark's, and their rows.

Rows: many at one instant and on the edges of windows, before 1970 and after; values are NULL, NaN,
the ends of the type, and repeated. Calls are those whose answer no order of the rows changes, and
that raise in no group: Spark computes the select list of a group before HAVING removes it.
DISTINCT is not drawn over sessions, of which Spark counts a value more than once: 6 different
ones of `k % 3`, which has 5.

| here | Spark |
|---|---|
| `TUMBLE(TABLE input, DESCRIPTOR(ts), size, offset)` | `window(ts, size, size, offset)` |
| `HOP(TABLE input, DESCRIPTOR(ts), slide, size, offset)` | `window(ts, size, slide, offset)` |
| `SESSION(TABLE input PARTITION BY g, DESCRIPTOR(ts), gap)` | `session_window(ts, gap)` |
| a gap of each row, WHERE, HAVING, computed columns, ON | the same |

>>> case = drawn(3)
>>> case == drawn(3), case.rows.column_names
(True, ['g', 'x', 'y', 'k', 'w', 'ts'])
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa

from sqlwin.schema import TIMESTAMP
from tests.aggregates.tables import KINDS

TYPES = (
    *("int", "bigint", "smallint", "double", "float", "decimal(10,0)", "decimal(5,2)"),
    *("decimal(28,10)", "string", "boolean", "date", "timestamp", "binary"),
)
NUMBERS = TYPES[:8]
FLOATS = ("double", "float")
STARTS = (
    datetime(2024, 2, 29, 23, 59, tzinfo=timezone.utc),
    datetime(1969, 12, 31, 23, 59, 30, tzinfo=timezone.utc),
    datetime(1582, 10, 4, 23, 59, 50, tzinfo=timezone.utc),
)
OF_ANY = (
    *("count(*)", "count(x)", "count(DISTINCT x)", "min(x)", "max(x)", "collect_set(x)"),
    *("count(x) FILTER (WHERE w)", "max(x) FILTER (WHERE k > 0)", "count_if(x IS NULL)"),
    *("bool_or(w)", "every(k > -3)", "sum(k)", "avg(k)", "sum(k) / count(*)", "mode(x, true)"),
    *("count(DISTINCT k % 3)", "CAST(avg(k) AS INT)", "CAST(sum(k) AS STRING)", "bit_xor(k)"),
    *("count(x) = '1'", "sum(k) * 2.5", "max(k) & 6", "CAST(max(k) AS DOUBLE) / 3"),
    *("sum(CAST(k AS DOUBLE) / 3)", "try_divide(sum(k), count(x))", "sum(k) div 2"),
    *("median(k)", "percentile(k, 0.3)", "approx_percentile(k, 0.5)", "max(k) BETWEEN 1 AND '5'"),
)
OF_NUMBERS = (
    *("sum(x)", "avg(x)", "sum(DISTINCT x)", "try_sum(x)", "stddev(x)", "var_pop(x)"),
    *("median(x)", "percentile(x, array(0.1, 0.75))", "approx_percentile(x, 0.4)", "sum(x * 2)"),
    *("sum(x) / count(x)", "sum(x) + avg(x)", "avg(x) = '1.5'", "max(x) > min(y)", "corr(x, k)"),
    *("CAST(avg(x) AS DECIMAL(38, 3))", "sum(CAST(x AS DECIMAL(30, 2)))", "round(avg(x), 1)"),
    *(
        "sum(x) FILTER (WHERE w) IS NULL",
        "avg(x) - 0.5",
        "-CAST(max(x) AS DOUBLE)",
        "greatest(max(x), 1.5)",
    ),
)
HAVING = (
    *("", "", "count(*) > 1", "sum(k) % 2 <> 0", "avg(k) / 2 > CAST('0.5' AS DOUBLE)"),
    *("max(x) IS NOT NULL", "sum(k) div 2 >= 1 OR min(w)", "CAST(sum(k) AS STRING) LIKE '1%'"),
)
WHERE = (
    *("", "", "k / 2 > -1", "CAST(y AS INT) = -2 OR w", "x IS NOT NULL", "k & 1 = 0"),
    *("CAST(k AS STRING) <> '2'", "y <=> NULL OR y > '0'", "pmod(k, 3) < 2"),
)
ON = (
    *("a.k / b.k > 1.5", "CAST(a.y AS INT) = b.k", "a.x = b.x", "a.k = CAST(b.k AS STRING)"),
    *("a.k % 3 = b.k % 3", "a.x <=> b.x AND a.k div 2 < b.k", "a.y > b.k - 0.5"),
)


@dataclass(frozen=True)
class Case:
    """A query over the table `input`, in our words and in Spark's. types: by column of `rows`."""

    rows: pa.Table
    ours: str
    theirs: str
    items: tuple[str, ...]


def drawn(seed: int) -> Case:
    """The same for the same seed."""
    chance = random.Random(f"windows {seed}")
    name = chance.choice(TYPES)
    rows = _rows(chance, name)
    draw = chance.choice((_tumbling, _tumbling, _hopping, _hopping, _session, _gaps, _joined))
    return draw(chance, name, rows)


# --- rows ------------------------------------------------------------------------


def _rows(chance: random.Random, name: str) -> pa.Table:
    start, tick = chance.choice(STARTS), chance.choice((250, 1000, 5000))
    at = sorted(chance.randint(0, 40) for _ in range(chance.randint(1, 40)))
    pool = [*_values(name), *(KINDS[name].draw(chance) for _ in range(6))]
    made = [
        (
            chance.randint(0, 2),
            chance.choice(pool),
            chance.choice((None, 1.5, -2.0, 0.25, 10.0)),
            chance.choice((-4, -2, -1, 1, 2, 3, 5)),
            chance.choice((True, False, None)),
            start + timedelta(milliseconds=tick * n),
        )
        for n in at
    ]
    types = (pa.int32(), KINDS[name].type, pa.float64(), pa.int32(), pa.bool_(), TIMESTAMP)
    columns = [pa.array(of, t) for of, t in zip(zip(*made, strict=True), types, strict=True)]
    return pa.table(columns, names=["g", "x", "y", "k", "w", "ts"])


def _values(name: str) -> list[Any]:
    """NULL twice, and the ends where a sum of some of them stays within its type in any order."""
    kind = KINDS[name]
    if name in FLOATS:
        return [None, None, float("nan"), float("inf"), -0.0, 0.0, 5e-324, *kind.plain]
    ends = [] if name in ("bigint", "decimal(28,10)") else [kind.least, kind.greatest]
    return [None, None, *ends, *kind.plain]


# --- windows ---------------------------------------------------------------------


def _tumbling(chance: random.Random, name: str, rows: pa.Table) -> Case:
    size = chance.choice((1, 3, 7, 10, 60))
    offset = chance.randint(0, size - 1)
    ours = f"TUMBLE(TABLE input, DESCRIPTOR(ts), {_for(size)}, {_for(offset)})"
    theirs = f"window(ts, '{size} seconds', '{size} seconds', '{offset} seconds')"
    return _grouped(chance, name, rows, ours, theirs, chance.choice(WHERE))


def _hopping(chance: random.Random, name: str, rows: pa.Table) -> Case:
    slide, times = chance.choice((1, 2, 5, 12)), chance.randint(1, 5)
    size, offset = slide * times, chance.randint(0, slide - 1)
    ours = f"HOP(TABLE input, DESCRIPTOR(ts), {_for(slide)}, {_for(size)}, {_for(offset)})"
    theirs = f"window(ts, '{size} seconds', '{slide} seconds', '{offset} seconds')"
    return _grouped(chance, name, rows, ours, theirs, chance.choice(WHERE))


def _session(chance: random.Random, name: str, rows: pa.Table) -> Case:
    gap = chance.choice((1, 2, 5, 10))
    ours = f"SESSION(TABLE input PARTITION BY g, DESCRIPTOR(ts), {_for(gap)})"
    return _grouped(chance, name, rows, ours, f"session_window(ts, '{gap} seconds')")


def _gaps(chance: random.Random, name: str, rows: pa.Table) -> Case:
    """Each row has its own gap, of a division, a cast and a comparison."""
    seconds = f"CAST(1 + abs(k) / 2 AS INT) + IF(y > '1', {chance.randint(1, 5)}, 0)"
    gap = f"(make_dt_interval(0, 0, 0, {seconds}))"
    ours = f"SESSION(TABLE input PARTITION BY g, DESCRIPTOR(ts), {gap})"
    theirs = f"session_window(ts, concat(CAST({seconds} AS STRING), ' seconds'))"
    return _grouped(chance, name, rows, ours, theirs)


def _grouped(
    chance: random.Random, name: str, rows: pa.Table, ours: str, theirs: str, where: str = ""
) -> Case:
    calls = OF_ANY + (OF_NUMBERS * 2 if name in NUMBERS else ())
    if theirs.startswith("session"):
        calls = tuple(call for call in calls if "DISTINCT" not in call)
    items = tuple(dict.fromkeys(chance.choices(calls, k=6)))
    listed = ", ".join(f"{item} AS c{at}" for at, item in enumerate(items))
    where = f" WHERE {where}" if where else ""
    having = chance.choice(HAVING)
    having = f" HAVING {having}" if having else ""
    edge = theirs.partition("(")[0]
    return Case(
        rows,
        f"SELECT g, window_start AS s, window_end AS e, {listed} FROM {ours}{where}"
        f" GROUP BY g, window_start, window_end{having}",
        f"SELECT g, {edge}.start AS s, {edge}.end AS e, {listed} FROM input{where}"
        f" GROUP BY g, {theirs}{having}",
        items,
    )


def _for(seconds: int) -> str:
    return f"INTERVAL '{seconds}' SECOND"


def _joined(chance: random.Random, name: str, rows: pa.Table) -> Case:
    items = ("a.x", "b.x", "a.k / b.k", "CAST(a.y AS INT)", "a.k < b.y")
    listed = ", ".join(f"{item} AS c{at}" for at, item in enumerate(items))
    text = (
        f"SELECT a.g AS g, a.ts AS s, b.ts AS e, {listed} FROM input a JOIN input b ON a.g = b.g"
        f" AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '{chance.randint(1, 9)}' SECOND"
        f" AND {chance.choice(ON)}"
    )
    return Case(rows, text, text, items)
