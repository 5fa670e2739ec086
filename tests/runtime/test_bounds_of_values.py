"""One value, one row and one batch cost what they may cost, and no more."""

# ruff: noqa: E501 (an expression stands on one line)

from __future__ import annotations

import time

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import sqlwin
from sqlwin.errors import QueryError, RunError
from sqlwin.plan.ir.nodes import Scalar
from sqlwin.runtime.rows import scalars
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.sandbox import clock, running
from sqlwin.sandbox.bounds import BYTES, ELEMENTS, GROWING, HEAVY, rows_at_once
from sqlwin.sandbox.pure import PURE
from tests.support.sql.cases import plan

STREAM = "CREATE STREAM s (a STRING, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
TOO_LARGE = [
    *(
        "REPEAT(a, 100000000)",
        "REPEAT(a, n)",
        "LPAD(a, 2000000000, 'x')",
        "RPAD(a, CAST(n AS INT), 'xy')",
    ),
    *("SPACE(CAST(n AS INT))", "REPLACE(REPEAT(a, 4000000), 'a', 'bcd')", "a || SPACE(50000000)"),
    *(
        "REGEXP_REPLACE(REPEAT(a, 4000000), 'a', 'bcd')",
        "REPEAT(REPEAT(REPEAT(a, 1000), 1000), 1000)",
    ),
    *("CASE WHEN n > 0 THEN REPEAT(a, n) END", "CAST(LENGTH(REPEAT(a, n)) AS STRING)"),
    *("ARRAY_JOIN(SEQUENCE(1, 9999), '" + "x" * 1000 + "')", "CAST(SEQUENCE(1, n) AS STRING)"),
    *(
        "CAST(SEQUENCE(n, 1, -2) AS STRING)",
        "CAST(SIZE(SEQUENCE(ts, ts + INTERVAL '900' DAY, INTERVAL '1' SECOND)) AS STRING)",
    ),
    *("CAST(LEVENSHTEIN(REPEAT(a, 40000), REPEAT('b', 40000)) AS STRING)",),
    *("CONCAT(" + ", ".join(["REPEAT(a, 4000000)"] * 3) + ")",),
]


def pushed(expression: str) -> tuple[list[object], list[str]]:
    """Of two rows, the values of the one with a small n, and the reasons of the other."""
    q = sqlwin.query(f"{STREAM} SELECT n, {expression} AS x FROM s")
    rows = [{"a": "a", "n": n, "ts": "2024-01-01T09:00:00Z"} for n in (3, 10**9)]
    q.push("s", rows)
    return q.results()["x"].to_pylist(), q.expired()["reason"].to_pylist()


@pytest.mark.parametrize("expression", TOO_LARGE)
def test_a_value_that_is_too_large_costs_its_row(expression: str) -> None:
    begun = time.process_time()
    values, reasons = pushed(expression)
    assert len(values) + len(reasons) == 2
    assert reasons
    for reason in reasons:
        assert any(words in reason for words in (" more than ", "Out of Range"))
    assert time.process_time() - begun < 10


def test_the_row_beside_it_goes_on() -> None:
    values, reasons = pushed("REPEAT(a, n)")
    assert values == ["aaa"]
    assert reasons == [f"an expression makes a value of more than {BYTES} bytes"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        *(("REPEAT(a, 3)", "aaa"), ("REPEAT(a, -3)", ""), ("LPAD(a, 3, '0')", "00a")),
        *(("RPAD(a, 3)", "a  "), ("REPLACE('xax', 'a', '')", "xx"), ("SPACE(2) || a", "  a")),
        *(("REGEXP_REPLACE('xay', '[xy]', '-')", "-a-"), ("LEVENSHTEIN(a, 'bc')", 2)),
        *(("ARRAY_JOIN(ARRAY('a', 'b'), '-')", "a-b"), ("SEQUENCE(1, 3)", [1, 2, 3])),
        *(("SEQUENCE(5, 1, -2)", [5, 3, 1]), ("LENGTH(REPEAT(a, 4000000))", 4_000_000)),
        *(("SIZE(SEQUENCE(ts, ts + INTERVAL '9' DAY, INTERVAL '1' DAY))", 10),),
        *(("REPEAT(CAST(NULL AS STRING), 3)", None), ("LPAD(a, CAST(NULL AS INT), 'x')", None)),
        *((f"SIZE(SEQUENCE(1, {ELEMENTS}))", ELEMENTS),),
    ],
)
def test_within_the_bounds_nothing_changes(expression: str, value: object) -> None:
    values, reasons = pushed(expression)
    assert (values, reasons) == ([value, value], [])


def test_calls_may_be_nested_deep() -> None:
    """Each argument of a call that is bounded is computed once."""
    nested = "a"
    for _ in range(10):
        nested = f"LPAD(REPEAT({nested}, 1), 5, '0')"
    begun = time.process_time()
    values, _ = pushed(nested)
    assert values == ["0000a"] * 2
    assert time.process_time() - begun < 5


def test_constants_are_not_computed_when_a_query_is_bound() -> None:
    begun = time.process_time()
    plan("SELECT LENGTH(REPEAT('x', 2000000000)) AS x FROM orders")
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "expression",
    [
        *("REGEXP_REPLACE(x, '(a*)*b', 'c')", "REGEXP_LIKE(x, '^(a+)+$b')", "x RLIKE '(a|a)*b'"),
        *(
            "x RLIKE '(a|aa)+$b'",
            "REGEXP_EXTRACT(x, '(.*)(.*)(.*)(.*)b', 1)",
            "x LIKE '" + "%a" * 50 + "%b'",
        ),
        *(
            "SIZE(SPLIT(x, '(a*)*b'))",
            "SIZE(REGEXP_EXTRACT_ALL(x, '(a*b)', 1))",
            "x ILIKE '%a%a%a%a%b'",
        ),
    ],
)
def test_patterns_take_time_in_proportion_to_the_text(expression: str) -> None:
    """Those that take for ever elsewhere; RE2 does not go back."""
    if " ILIKE " in expression and duckdb.__version__ < "2":
        pytest.skip("ILIKE of DuckDB 1.5, on Python 3.10, does go back")
    frame = pl.DataFrame({"x": ["a" * 200_000]})
    node = plan(f"SELECT {expression.replace('x', 'product', 1)} AS x FROM orders")
    ((_, scalar),) = node.columns  # type: ignore[union-attr]
    begun = time.process_time()
    evaluate(frame.rename({"x": "product"}), (("y", scalar),))
    assert time.process_time() - begun < 3


def test_a_pattern_too_large_for_the_linear_engine_has_a_time() -> None:
    begun = time.process_time()
    values, reasons = pushed("REGEXP_LIKE(REPEAT(a, 5000), '(((a{1,99}){1,99}){1,99})*b')")
    assert len(values) + len(reasons) == 2
    assert all("takes more than" in reason for reason in reasons)
    assert time.process_time() - begun < 10


# --- time --------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "SECONDS", 0.06)
    monkeypatch.setattr(running, "SECONDS_A_ROW", 0.0005)
    monkeypatch.setattr(clock, "LOOK", 0.005)


def slow_rows(slow: int, quick: int) -> pl.DataFrame:
    return pl.DataFrame({"a": ["ab" * 400] * slow + ["ab"] * quick})


SEVERAL = Scalar(
    "several",
    " + ".join(f"""levenshtein("a" || '{i}', reverse("a"))""" for i in range(20)),
    pa.int64(),
    ("a",),
)


@pytest.mark.usefixtures("impatient")
def test_rows_that_take_too_long_are_cut_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine looks up between two pieces of rows; the quick ones go on in any case."""
    monkeypatch.setattr(scalars, "TIMES_OUT", 1000)
    done = evaluate(slow_rows(10, 200), (("x", SEVERAL),))
    reasons = {reason for _, reason in done.rejected}
    assert reasons <= {"the row takes too long to compute"}
    assert {at for at, _ in done.rejected} <= set(range(10))
    assert len(done.frame) + len(done.rejected) == 210


@pytest.mark.usefixtures("impatient")
def test_a_batch_ends_the_run_where_too_much_of_it_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scalars, "TIMES_OUT", 0)
    with pytest.raises(RunError, match="too many rows of one batch take too long"):
        evaluate(slow_rows(80, 0), (("x", SEVERAL),))


@pytest.mark.usefixtures("impatient")
def test_rows_that_are_quick_are_not_interrupted() -> None:
    done = evaluate(slow_rows(0, 200), (("x", SEVERAL),))
    assert (len(done.frame), done.rejected) == (200, [])


def test_time_is_that_of_the_thread() -> None:
    """A machine that is busy elsewhere makes nothing run out of time."""
    with clock.watched(running.running(), seconds=0.2):
        time.sleep(0.8)
        assert running.running().sql("SELECT 1").fetchall() == [(1,)]


# --- sizes of batches -----------------------------------------------------------------------


def test_all_values_of_a_batch_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "RESULT", 10**7)
    frame = pl.DataFrame({"a": ["x"] * 100})
    grown = Scalar("r", """repeat("a", 1000000)""", pa.string(), ("a",))
    with pytest.raises(RunError, match="of one batch make more than"):
        evaluate(frame, (("x", grown),))


def test_a_tower_of_computed_columns_is_cut_at_the_bound() -> None:
    columns = ", ".join(f"a{i + 1} AS a{i} || a{i}" for i in range(40))
    text = f"CREATE STREAM s (a0 STRING, ts TIMESTAMP, {columns}, WATERMARK FOR ts AS ts); SELECT a40 FROM s"
    q = sqlwin.query(text)
    q.push("s", [{"a0": "0123456789", "ts": "2024-01-01T09:00:00Z"}])
    assert q.expired()["reason"].to_pylist() == [f"a value of more than {BYTES} bytes"]


def test_what_is_counted_as_heavy_is_there() -> None:
    assert GROWING <= HEAVY <= PURE
    assert rows_at_once(("abs", "+")) is None
    assert rows_at_once(("list_reduce",)) == 64
    assert rows_at_once(("list_reduce",) * 1000) == 1


def test_a_lambda_over_short_rows_takes_as_many_as_the_engine() -> None:
    assert rows_at_once(("list_transform", "+"), 40) == 2048
    assert rows_at_once(("list_transform", "+"), 4000) == 64
    assert rows_at_once(("list_transform", "spark_sequence_x"), 40) == 64
    assert rows_at_once(("list_transform", "list_transform"), 40) == 32


def test_a_refused_text_does_not_run() -> None:
    """As it would come from a checkpoint that somebody wrote."""
    planted = Scalar("x", "(SELECT 1)", pa.int32(), ())
    with pytest.raises(RunError, match="an expression is refused: not an expression over rows"):
        evaluate(pl.DataFrame({"a": [1]}), (("x", planted),))


def test_views_that_double_an_expression_are_refused() -> None:
    views = "".join(f"CREATE VIEW v{i + 1} AS SELECT a || a AS a FROM v{i};" for i in range(30))
    text = f"{STREAM} CREATE VIEW v0 AS SELECT a FROM s; {views} SELECT a FROM v30"
    begun = time.process_time()
    with pytest.raises(QueryError, match="this expression has 50,000 parts"):
        sqlwin.query(text)
    assert time.process_time() - begun < 30
