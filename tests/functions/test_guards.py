"""What is evaluated, and in which order: what a NULL, a constant or CASE keeps from raising."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest

from sqlwin.plan.ir.nodes import Scalar
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.sandbox.running import Failed
from sqlwin.sql.expressions.compile.compiled import Uncompiled
from tests.functions.evaluating import values

MOST = 2**31 - 1
ROWS = pa.table(
    {
        "n": pa.array([None, 2], pa.int32()),
        "most": pa.array([MOST, MOST], pa.int32()),
        "l": pa.array([2**63 - 1, 1], pa.int64()),
        "s": pa.array([None, "ab"]),
        "dt": pa.array([None, 19000], pa.int32()).cast(pa.date32()),
        "b": [True, False],
        "d": [2.0**63, 1.5],
    }
)
LAST = ROWS.slice(1)


@pytest.mark.parametrize(
    "text",
    [
        "dt - (100 + most) % 100",
        "date_add(dt, -(-most - 1))",
        "substring(s, most + 1)",
        "concat(s, CAST(most + 1 AS STRING))",
        "nullif(n, most + 1)",
        "(most + 1) % n",
        "bit_get(n, most + 1)",
        "n = most + 1",
        "get(CASE WHEN n IS NOT NULL THEN array(n) END, most + 1)",
        "levenshtein(s, CAST(most + 1 AS STRING))",
    ],
)
def test_behind_a_null_nothing_is_evaluated(text: str) -> None:
    assert values(text, ROWS.slice(0, 1)) == [None]
    with pytest.raises(Failed):
        values(text, LAST)


@pytest.mark.parametrize(
    "text",
    [
        "most + 1 + NULL",
        "CAST(NULL AS INT) * (most + 1)",
        "year(date_add(dt, CAST(NULL AS INT))) + (most + 1)",
        "TRY_CAST('x' AS INT) + (most + 1)",
        "nullif(CAST(NULL AS INT), most + 1)",
    ],
)
def test_beside_a_null_for_all_rows_nothing_is_evaluated(text: str) -> None:
    assert values(text, ROWS) == [None, None]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("most + 5 + -5", [MOST, MOST]),
        ("try_add(n, 1) + n + 1", [None, 6]),
        ("try_add(most + n, 1)", [None, None]),
        ("try_add(n + 2147483647, 1)", [None, None]),
        ("try_multiply(n * 65536, 65536)", [None, None]),
        ("CASE WHEN TRUE THEN n ELSE most + 1 END", [None, 2]),
        ("coalesce(dayofweek(DATE '2024-02-29'), pmod(n, n - n) ^ n)", [5, 5]),
        ("replace('', '', s)", [None, ""]),
        ("TRY_CAST(d AS DECIMAL(20, 4)) IS NULL", [True, False]),
        ("CAST('1e-400' || '' AS DECIMAL(20, 4)) = 0", [True, True]),
        ("try_add(most, -5 + levenshtein('Ab c', ''))", [MOST - 1, MOST - 1]),
        ("coalesce(l, 1 DIV 0)", [2**63 - 1, 1]),
        ("FALSE AND 1 / 0 > 1 AND b", [False, False]),
        ("n + CASE WHEN sqrt(4D) IS NULL THEN 0 ELSE most - most + 2147483645 END", [None, MOST]),
        ("greatest(1, CAST(NULL AS INT) + l * (1 DIV 0))", [1, 1]),
        ("ceil(CAST(-l AS DOUBLE) - 1)", [-(2**63), -2]),
    ],
)
def test_values(text: str, wanted: list[object]) -> None:
    assert values(text, ROWS) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "try_add(most, 1) + 1",
        "l + 1 > 0",
        "nullif(1L, 101 + l)",
        "1 + n + 2147483647",
        "log(-d, CAST(l AS INT))",
        "concat(CAST(CAST(l AS INT) AS STRING), CAST(NULL AS STRING))",
        "CAST(d AS DECIMAL(20, 4))",
        "CAST('9.2e+18' || '' AS DECIMAL(20, 4))",
    ],
)
def test_raises(text: str) -> None:
    with pytest.raises(Failed, match=r"OVERFLOW|OUT_OF_RANGE|DECIMAL"):
        values(text, ROWS)


@pytest.mark.parametrize(
    "text",
    [
        "n + CAST(-5 / 0 AS INT)",
        "greatest(1, n + CAST(1 DIV 0 AS INT))",
        "s IS NULL AND 1 / 0 > 1",
        "try_divide(n, 1 DIV 0)",
        "transform(array(n), x -> x + CAST(1 DIV 0 AS INT))",
        "nullif(1, 1) + l * (1 DIV 0)",
        "n + 1 DIV coalesce(0, l)",
    ],
)
def test_a_constant_that_raises_does_so_for_every_row(text: str) -> None:
    for rows in (ROWS.slice(0, 1), LAST):
        with pytest.raises(Failed, match="DIVIDE_BY_ZERO"):
            values(text, rows)


@pytest.mark.parametrize(
    "text", ["n DIV (0 % (l - l))", "n % (l DIV (l - l))", "n / (l % (l - l))"]
)
def test_a_divisor_raises_beside_a_null(text: str) -> None:
    null = pa.table({"n": pa.nulls(1, pa.int32()), "l": pa.array([5], pa.int64())})
    with pytest.raises(Failed, match="BY_ZERO"):
        values(text, null)


@pytest.mark.parametrize(
    "text", ["CASE WHEN NULL THEN 1 END", "CASE WHEN s THEN 1 END", "if(s, 1, 2)"]
)
def test_a_condition_of_case_is_a_boolean(text: str) -> None:
    with pytest.raises(Uncompiled, match="is no condition"):
        values(text, ROWS)


def test_constants_that_fail_are_a_matter_of_rows() -> None:
    always = Scalar("1 % 0 >= n", "(1 // 0 >= CAST('x' AS INTEGER))", pa.bool_(), ("n",))
    done = evaluate(pl.DataFrame({"n": [1, 2]}), (("x", always),))
    assert [at for at, _ in done.rejected] == [0, 1]
    assert done.frame.schema == {"x": pl.Boolean}
    assert (
        evaluate(pl.DataFrame({"n": pl.Series([], dtype=pl.Int32)}), (("x", always),)).rejected
        == []
    )


@pytest.mark.parametrize(
    "name", ["array_length", "strpos", "charindex", "iif", "truncate", "to_hex"]
)
def test_functions_of_other_databases_are_unknown(name: str) -> None:
    with pytest.raises(Uncompiled, match=f"no function is called {name}"):
        values(f"{name}(s, s)", ROWS)


@pytest.mark.parametrize("text", ["rand()", "uuid()"])
def test_what_is_of_chance_says_so(text: str) -> None:
    with pytest.raises(Uncompiled, match="gives another value each time"):
        values(text, ROWS)
