"""Analytic functions: which aggregates over frames they are, and that these give SQL's values.

Values are checked against DuckDB's own window functions: a plan is run by brute
force, frame by frame, over rows with ties and NULLs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import duckdb
import polars as pl
import pytest

from sqlwin.plan.ir.nodes import Aggregate, OverAggregate, OverCall, Project
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude
from tests.support.sql.cases import below, columns, over, plan

Row = dict[str, Any]
W = "OVER (PARTITION BY product ORDER BY ts)"
ALONE = "OVER (PARTITION BY product ORDER BY ts, id)"


def frames(items: str) -> list[tuple[object, ...]]:
    made = over(f"SELECT {items} FROM orders")
    return [
        (c.aggregate.function, c.aggregate.params, c.frame.unit.value, *_ends(c))
        for c in made.calls
    ]


def _ends(call: OverCall) -> tuple[int | None, int | None]:
    return call.frame.preceding, call.frame.following


@pytest.mark.parametrize(
    ("items", "meant"),
    [
        (f"ROW_NUMBER() {W}", [("count", (), "ROWS", None, 0)]),
        (f"RANK() {W}", [("count", (), "RANGE", None, -1)]),
        (f"DENSE_RANK() {W}", [("count", (), "RANGE", None, 0)]),
        (f"RANK() {ALONE}", [("count", (), "ROWS", None, -1)]),
        (f"DENSE_RANK() {ALONE}", [("count", (), "ROWS", None, 0)]),
        (f"LAG(n) {W}", [("first", (), "ROWS", 1, -1)]),
        (f"LAG(n, 3) {W}", [("first", (), "ROWS", 3, -3)]),
        (f"LAG(n, 0, 5) {W}", [("first", (), "ROWS", 0, 0)]),
        (f"LEAD(n, 3) {W}", [("first", (), "ROWS", -3, 3)]),
        (f"LAG(n, 3, NULL) {W}", [("first", (), "ROWS", 3, -3)]),
        (f"LAG(n, 2) IGNORE NULLS {W}", [("nth_last", (2,), "ROWS", None, -1)]),
        (f"LEAD(n, 2 IGNORE NULLS) {W}", [("nth_value", (2,), "ROWS", -1, None)]),
        (f"FIRST_VALUE(n) {W}", [("first", (), "RANGE", None, 0)]),
        (f"NTH_VALUE(n, 2) FROM LAST {W}", [("nth_last", (2,), "RANGE", None, 0)]),
        (
            "LAG(n) OVER (ORDER BY ts DESC), FIRST_VALUE(n) OVER (ORDER BY ts DESC)",
            [("first", (), "ROWS", -1, 1), ("last", (), "RANGE", 0, None)],
        ),
        ("LAG(n) IGNORE NULLS OVER (ORDER BY ts DESC)", [("nth_value", (1,), "ROWS", -1, None)]),
        (
            "NTH_VALUE(n, 2) OVER (ORDER BY ts DESC ROWS 5 PRECEDING)",
            [("nth_last", (2,), "ROWS", 0, 5)],
        ),
    ],
)
def test_is_an_aggregate_over_a_frame(items: str, meant: list[tuple[object, ...]]) -> None:
    assert frames(items) == meant


def test_what_calls_have_in_common_is_shared() -> None:
    names = ("ROW_NUMBER", "RANK", "PERCENT_RANK", "CUME_DIST")
    items = ", ".join(f"{name}() {W}" for name in names)
    assert len(frames(f"{items}, NTILE(4) {W}, LAG(n) {W}, LAG(n, 1, 0) {W}")) == 6


def test_expressions_and_defaults_stand_above() -> None:
    text = f"SELECT id, LAG(n + 1, 1, id * 2) {W} + 1 AS x FROM orders"
    above = columns(plan(text))
    assert above["x"] == "CASE WHEN _agg2 < 1 THEN id * 2 ELSE _agg1 END + 1"
    assert set(below(over(text))) == {"id", "product", "_arg1"}


def test_names_of_items() -> None:
    made = over(f"SELECT LAG(n) {W} AS a, ROW_NUMBER() {W} AS b, RANK() {W} AS c FROM orders")
    assert [call.aggregate.name for call in made.calls] == ["a", "b", "_agg1"]


# --- values ------------------------------------------------------------------------------

VALUES = [
    *(f"{name}() OVER (PARTITION BY product ORDER BY ts)" for name in ("RANK", "DENSE_RANK")),
    *(
        f"{name}() OVER (PARTITION BY product ORDER BY ts)"
        for name in ("PERCENT_RANK", "CUME_DIST")
    ),
    *(
        f"{name}() OVER (PARTITION BY product ORDER BY ts, id)"
        for name in ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")
    ),
    *(f"NTILE({count}) OVER (PARTITION BY product ORDER BY ts, id)" for count in (1, 3, 4, 50)),
    *(
        f"{name}(n{rest}) OVER (PARTITION BY product ORDER BY ts{order}, id{order})"
        for name in ("LAG", "LEAD")
        for rest in ("", ", 3", ", 2, -7", ", 2, n * 100", ", 2, -7 IGNORE NULLS", " IGNORE NULLS")
        for order in ("", " DESC")
    ),
    *(
        f"{call} OVER (PARTITION BY product ORDER BY ts{order}, id{order} {frame})"
        for call in (
            "FIRST_VALUE(n)",
            "LAST_VALUE(n IGNORE NULLS)",
            "NTH_VALUE(n, 2)",
            "NTH_VALUE(n, 2 IGNORE NULLS)",
            "SUM(n)",
            "COUNT(DISTINCT n)",
            "COUNT(*) FILTER (WHERE n > 3)",
        )
        for order in ("", " DESC")
        for frame in (
            "",
            "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
            "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING",
            "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
            "ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE GROUP",
        )
    ),
    *(
        f"SUM(n) OVER (PARTITION BY product ORDER BY ts{order} RANGE {frame})"
        for order in ("", " DESC")
        for frame in (
            "BETWEEN INTERVAL '2' MINUTE PRECEDING AND INTERVAL '1' MINUTE FOLLOWING",
            "BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' MINUTE PRECEDING",
            "BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES",
            "BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE GROUP",
        )
    ),
    "RANK() OVER (ORDER BY ts) * 10 + NTILE(2) OVER (PARTITION BY product ORDER BY ts, id)",
]


def rows() -> pl.DataFrame:
    dice = random.Random(7)
    made = [
        {
            "id": at,
            "product": dice.choice(["a", "b", None]),
            "n": dice.choice([None, *range(6)]),
            "ts": dice.randrange(12) * 60_000_000,
        }
        for at in range(36)
    ]
    schema = {"id": pl.Int64, "product": pl.String, "n": pl.Int32, "ts": pl.Datetime("us", "UTC")}
    return pl.DataFrame(made, schema=schema).sort("ts", "id")


@pytest.mark.parametrize("item", VALUES)
def test_gives_the_values_of_sql(item: str) -> None:
    given = rows()
    con = duckdb.connect(config={"threads": 1})
    con.register("orders", given.to_arrow())
    reported = con.sql(f"SELECT {item} AS x FROM orders ORDER BY ts, id").fetchall()
    ours = brute_force(plan(f"SELECT {item} AS x FROM orders"), given)
    assert [pytest.approx(value) for (value,) in reported] == ours


def brute_force(made: object, given: pl.DataFrame) -> list[Any]:
    assert isinstance(made, Project)
    window = made.input
    assert isinstance(window, OverAggregate)
    assert isinstance(window.input, Project)
    computed = evaluate(given, window.input.columns, keep=()).frame
    table = computed.with_columns(given["ts"].dt.timestamp("us").alias("__ts"))
    for call in window.calls:
        values = [_value(call, table.to_dicts(), at) for at in range(len(table))]
        table = table.with_columns(pl.Series(call.aggregate.name, values, strict=False))
    return evaluate(table, made.columns).frame["x"].to_list()


def _value(call: OverCall, table: Sequence[Row], at: int) -> Any:
    key = [table[at][name] for name in call.partition]
    mine = [i for i, row in enumerate(table) if [row[name] for name in call.partition] == key]
    return _aggregate(
        call.aggregate, [table[i] for i in mine if _in_frame(call, table, mine, at, i)]
    )


def _in_frame(call: OverCall, table: Sequence[Row], mine: list[int], at: int, other: int) -> bool:
    frame = call.frame
    peers = table[at]["__ts"] == table[other]["__ts"]
    if frame.unit is Unit.ROWS:
        away = mine.index(other) - mine.index(at)
    else:
        away = table[other]["__ts"] - table[at]["__ts"]
    excluded = {
        Exclude.NO_OTHERS: False,
        Exclude.CURRENT_ROW: at == other,
        Exclude.GROUP: peers,
        Exclude.TIES: peers and at != other,
    }[frame.exclude]
    before = frame.preceding is None or away >= -frame.preceding
    return before and (frame.following is None or away <= frame.following) and not excluded


def _aggregate(aggregate: Aggregate, framed: list[Row]) -> Any:
    taken = [row for row in framed if aggregate.where is None or row[aggregate.where]]
    values = [row[aggregate.args[0]] if aggregate.args else 1 for row in taken]
    known = [value for value in values if value is not None]
    known = list(dict.fromkeys(known)) if aggregate.distinct else known
    nth = int(aggregate.params[0]) if aggregate.params else 1
    far = nth <= len(values)
    if aggregate.function == "sum":
        return sum(known) if known else None
    return {
        "count": len(known),
        "first": values[0] if values else None,
        "last": values[-1] if values else None,
        "nth_value": values[nth - 1] if far else None,
        "nth_last": values[-nth] if far else None,
    }[aggregate.function]
