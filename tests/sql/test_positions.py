"""An expression means the same wherever it stands: in rows, above windows, in joins, in policies.

Each predicate is true of the one row that there is, as Spark has it in ANSI mode, and would not be
if any place left it to the engine. Each place is a query that gives a row whose `v` is true just if
its predicate is. A predicate that raises ends up in the error stream where it is of a row, and ends
the run where it is of results.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import sqlwin
from sqlwin.errors import RunError
from sqlwin.schema import TIMESTAMP, type_name

INPUT: dict[str, tuple[Any, pa.DataType]] = {
    "i": (7, pa.int32()),
    "z": (0, pa.int32()),
    "x": (3.5, pa.float64()),
    "d": (Decimal("12.50"), pa.decimal128(10, 2)),
    "s": (" 1 ", pa.string()),
    "p": ("a_c", pa.string()),
    "n": (None, pa.int32()),
    "k": (1, pa.int32()),
    "ts": (1_704_099_600_000_000, pa.int64()),
}
COLUMNS = ", ".join(f"{name} {type_name(t)}" for name, (_, t) in INPUT.items() if name != "ts")
COLUMNS += ", ts TIMESTAMP"
OTHER = "CREATE STREAM other (key INT, at TIMESTAMP, WATERMARK FOR at AS at);"
PREDICATES = (
    *("CAST(x AS INT) = 3", "CAST(3.5 AS INT) = 3", "i / 2 = 3.5", "i DIV 2 = 3", "-i % 4 = -3"),
    *("s = 1", "s + 1 = 2", "'1.0' = d - 11.5", "CAST(d / 3 AS STRING) = '4.166667'"),
    *("0.1 + 0.2 = 0.3", "d * 0.1 = 1.25", "ROUND(x) = 4", "ROUND(2.5) = 3", "p LIKE 'a\\_c'"),
    *("n IS NULL OR n > 1", "NOT (n <=> i)", "COALESCE(n = 1, true)", "TRY_DIVIDE(i, z) IS NULL"),
    *(
        "z = 0 OR 1 / z > 1",
        "CASE WHEN z = 0 THEN true ELSE 1 / z > 1 END",
        "i BETWEEN '7' AND 7.5",
    ),
    *("SUBSTRING(p, -1) = 'c'", "CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE)", "i IN ('7', 8)"),
    *("CAST('NaN' AS DOUBLE) > x", "CONCAT(p, n) IS NULL", "TYPEOF(d + i) = 'decimal(13,2)'"),
)
FALSE = ("CAST(x AS INT) = 4", "i / 2 = 3", "s = 2", "n > 1", "p LIKE 'a\\_d'")
RAISING = (
    *("1 / z > 1", "CAST(p AS INT) = 1", "1 % z = 0", "p = 1", "CAST(1e10 AS INT) > i"),
    *(
        "i + 2147483647 > 0",
        "-2147483647 - i < 5",
        "i * 2147483647 <> 0",
        "-CAST('-2147483648' AS INT) > z",
    ),
)

MINUTE = "TUMBLE(TABLE input, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
WINDOW = "window_start, window_end"
OF_ROWS = {
    "select": "SELECT {p} AS v FROM input",
    "where": "SELECT true AS v FROM input WHERE {p}",
    "subquery": "SELECT v FROM (SELECT {p} AS v, ts FROM input) WHERE v",
    "argument": f"SELECT BOOL_AND({{p}}) AS v FROM {MINUTE} GROUP BY {WINDOW}",
    "filter": f"SELECT COUNT(*) FILTER (WHERE {{p}}) = 1 AS v FROM {MINUTE} GROUP BY {WINDOW}",
    "count_if": f"SELECT COUNT_IF({{p}}) = 1 AS v FROM {MINUTE} GROUP BY {WINDOW}",
    "key": f"SELECT {{p}} AS v, COUNT(*) AS n FROM {MINUTE} GROUP BY {WINDOW}, {{p}}",
    "over": "SELECT BOOL_OR({p}) OVER (ORDER BY ts ROWS 1 PRECEDING) AS v FROM input",
    "on": "SELECT true AS v FROM input JOIN other WITHIN 10 SECONDS ON k = key AND {p}"
    " RETAIN 20 SECONDS",
    "key of a join": "SELECT true AS v FROM input JOIN other WITHIN 10 SECONDS"
    " ON CASE WHEN {p} THEN 1 ELSE 2 END = key RETAIN 20 SECONDS",
    "gap": "SELECT window_end > window_start + INTERVAL '5' SECOND AS v FROM input OVER (PARTITION"
    " BY k ORDER BY ts SESSION (CASE WHEN {p} THEN '10 seconds' ELSE '1 second' END) GAP)"
    " GROUP BY k, window_start, window_end",
    "start": "SELECT n = 1 AS v FROM (SELECT COUNT(*) AS n FROM input OVER (PARTITION BY k"
    " ORDER BY ts SESSION INTERVAL '1' MINUTE GAP START WHEN {p}) GROUP BY k)",
    "end": "SELECT n = 1 AS v FROM (SELECT COUNT(*) AS n FROM input OVER (PARTITION BY k"
    " ORDER BY ts SESSION INTERVAL '1' MINUTE GAP END WHEN {p}) GROUP BY k)",
    "column": "SELECT computed AS v FROM declared",
}
RESULT = ", ".join(f"MAX({name}) AS {name}" for name in INPUT if name != "ts")
OF_RESULTS = {
    "having": f"SELECT true AS v, {RESULT} FROM {MINUTE} GROUP BY {WINDOW} HAVING {{p}}",
    "above": f"SELECT {{p}} AS v FROM (SELECT {RESULT} FROM {MINUTE} GROUP BY {WINDOW})",
    "above, where": f"SELECT true AS v FROM (SELECT {RESULT} FROM {MINUTE} GROUP BY {WINDOW})"
    " WHERE {p}",
    "qualify": "SELECT true AS v FROM input"
    " QUALIFY COUNT(*) OVER (ORDER BY ts ROWS 1 PRECEDING) = 1 AND {p}",
}
_COLUMN = re.compile(r"(?<!')\b([izxdspn])\b(?!')")
LATER = ("start", "end")
"""Places that say where a window is cut: of two rows, one minute is one session or is two."""


def rows(place: str) -> pa.Table:
    times = [INPUT["ts"][0], INPUT["ts"][0] + 10_000_000] if place in LATER else [INPUT["ts"][0]]
    columns = {name: pa.array([value] * len(times), t) for name, (value, t) in INPUT.items()}
    return pa.table({**columns, "ts": pa.array(times, pa.int64()).cast(TIMESTAMP)})


def outcome(place: str, predicate: str) -> str:
    """`true`, `false`, `rejected` or `ended`."""
    written = _COLUMN.sub(r"MAX(\1)", predicate) if place == "having" else predicate
    text = {**OF_ROWS, **OF_RESULTS}[place].replace("{p}", f"({written})")
    read = "declared" if place == "column" else "input"
    computed = f"computed AS ({predicate}), " if place == "column" else ""
    streams = f"CREATE STREAM {read} ({COLUMNS}, {computed}WATERMARK FOR ts AS ts);"
    query = sqlwin.query(f"{streams} {OTHER if 'other' in text else ''} {text}")
    try:
        if "other" in text:
            other = {"key": pa.array([1], pa.int32()), "at": rows(place)["ts"]}
            query.push("other", pa.table(other))
        query.push(read, rows(place))
        query.drain()
    except RunError:
        return "ended"
    if query.refused():
        return "rejected"
    return "true" if True in query.table()["v"].to_pylist() else "false"


PLACES = pytest.mark.parametrize("place", [*OF_ROWS, *OF_RESULTS])


@PLACES
def test_predicates_are_true(place: str) -> None:
    assert outcome(place, " AND ".join(f"({p})" for p in PREDICATES)) == "true"
    assert outcome(place, " OR ".join(f"({p})" for p in FALSE)) == "false"


@PLACES
@pytest.mark.long
def test_each_by_itself(place: str) -> None:
    assert [p for p in PREDICATES if outcome(place, p) != "true"] == []
    assert [p for p in FALSE if outcome(place, p) != "false"] == []


@PLACES
def test_predicates_that_raise(place: str) -> None:
    expected = "rejected" if place in OF_ROWS else "ended"
    assert [(p, found) for p in RAISING if (found := outcome(place, p)) != expected] == []
