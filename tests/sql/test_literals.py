"""Literals, parameters and names in quotes mean what Spark says; see literals.py."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

import sqlwin
from sqlwin.errors import QueryError
from sqlwin.sql import script
from sqlwin.sql.text.prepared import literal, prepare, unquoted
from tests.sql.literals import COLUMNS, FIELDS, answers, expressions, recorded, shown

RECORDED = recorded()
STRUCT = pa.struct([pa.field(name, pa.int64()) for name in FIELDS])
SCHEMA = pa.schema([*((name, pa.int64()) for name in COLUMNS), ("s", STRUCT)])
ROW = {name: [at] for at, name in enumerate(COLUMNS, 1)} | {"s": [{"x.y": 21, "a b": 22}]}


def value(text: str, params: dict[str, str] | None = None) -> str | None:
    """Of an expression, None where it is refused."""
    try:
        query = sqlwin.query(f"SELECT {text} AS x FROM t", {"t": SCHEMA}, params)
    except QueryError:
        return None
    query.push("t", pa.table(ROW, SCHEMA))
    (found,) = query.table()["x"].to_pylist()
    return shown(found)


def agree(ours: str | None, theirs: str | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    try:
        return Decimal(ours) == Decimal(theirs)
    except ArithmeticError:
        return ours == theirs


@pytest.mark.parametrize("text", expressions())
def test_expressions(text: str) -> None:
    assert agree(value(text), RECORDED[text]), (value(text), RECORDED[text])


@pytest.mark.parametrize("name", [name for name in RECORDED if name.startswith(":p = ")])
def test_parameters(name: str) -> None:
    given = name.removeprefix(":p = ")
    assert value(":p", {"p": given}) == RECORDED[name] == given
    assert value("CASE WHEN :p = concat('', :p) THEN 1 ELSE 0 END", {"p": given}) == "1"
    assert value("'a':p'b'", {"p": given}) == f"a{given}b"


NUMBERS = [
    ("5", "5"),
    ("1e5", "100000"),
    ("-1.5E-3", "-0.0015"),
    (".5", "0.5"),
    ("+7", "7"),
    ("-5", "-5"),
    ("9223372036854775807", "9223372036854775807"),
    ("-99999999999999999999", "-99999999999999999999"),
]


@pytest.mark.parametrize(("given", "meant"), NUMBERS)
def test_parameters_that_are_numbers(given: str, meant: str) -> None:
    for text, number in ((":p", meant), ("0 - :p", f"-{meant}"), ("0 -:p", f"-{meant}")):
        found = value(text, {"p": given})
        assert found is not None
        assert float(found) == float(number.replace("--", "")), text


@pytest.mark.parametrize("given", ["1_000", "0x10", "1e", "e5", "1 2", "١٢", "1;2", "NaN", "--1"])
def test_parameters_that_look_like_numbers_are_texts(given: str) -> None:
    assert literal(given) == f"'{given}'"
    assert value(":p", {"p": given}) == given


@pytest.mark.parametrize("name", COLUMNS)
def test_names_in_quotes_as_columns_and_aliases(name: str) -> None:
    ticked = "`" + name.replace("`", "``") + "`"
    text = f"SELECT t.{ticked}, 1 AS {ticked[:-1]}2` FROM t"
    (query,) = script(text, {"t": sqlwin.stream(SCHEMA)}).queries
    assert [column.name for column in query.plan.schema] == [name, f"{name}2"]


@pytest.mark.parametrize(
    "written", ["'it''s'", r"'it\'s'", '"it\'s"', r"'\u0069t\u0027s'", 'r"it\'s"']
)
def test_on_every_path(written: str) -> None:
    """Options, columns' comments, settings, and what stands in the query: one meaning."""
    made = script(
        f"CREATE STREAM s (k STRING COMMENT {written}, ts TIMESTAMP, WATERMARK FOR ts AS ts) "
        f"WITH (connector = 'kafka', 'topic' = {written}); "
        f"CREATE SINK o WITH (connector = 'files', path = {written}); "
        f"INSERT INTO o SELECT k, STRING_AGG(k, {written}) AS all FROM TUMBLE(s, ts, 1 HOUR) "
        f"WHERE k = {written} AND k LIKE {written} AND k IN ({written}) GROUP BY k "
        f"HAVING MAX(k) = {written}"
    )
    assert dict(made.streams[0].options)["topic"] == "it's"
    (query,) = made.queries
    assert query.sink is not None
    assert dict(query.sink.options)["path"] == "it's"
    assert repr(query.plan).replace("\\", "").count("'it''s'") >= 4
    assert unquoted(written) == "it's"
    with pytest.raises(QueryError, match='an unknown option "it\'s"'):
        script(f"CREATE STREAM s (ts TIMESTAMP) WITH ({written} = 'x')")


@pytest.mark.spark
def test_what_is_recorded_is_what_spark_says(spark: object) -> None:
    assert answers(spark) == RECORDED  # type: ignore[arg-type]


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(QueryError, match="half of a surrogate pair") as raised:
        script("SELECT '\ud83d' AS x FROM t", {"t": sqlwin.stream(SCHEMA)})
    assert str(raised.value).encode()
    assert value(":p", {"p": "\ud83d"}) == "\ufffd"


@pytest.mark.parametrize("number", ["11001", "210019", "0.31001", "9" * 30 + "1001"])
def test_a_number_may_have_any_digits(number: str) -> None:
    assert prepare(f"WHERE n = {number}", {}).text == f"WHERE n = {number}"


def test_a_number_of_more_than_a_thousand_digits() -> None:
    assert prepare("9" * 1_000, {}).text
    with pytest.raises(QueryError, match="at most 1,000 digits"):
        prepare("9" * 1_001, {})
