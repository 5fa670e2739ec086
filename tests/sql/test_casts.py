"""What no value of a type can be is refused when a query is bound, and no error shows the engine's
own words for what people cannot change."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sqlwin
from sqlwin.errors import QueryError
from sqlwin.plan.ir.statements import Describe
from sqlwin.plan.options.option import is_positive
from sqlwin.sql import script
from sqlwin.sql.text.depth import MESSAGE

COLUMNS: dict[str, tuple[pa.DataType, Any]] = {
    "b": (pa.bool_(), True),
    "k": (pa.int64(), 1),
    "n": (pa.int32(), 1),
    "x": (pa.float64(), 1.5),
    "p": (pa.decimal128(10, 2), "1.50"),
    "t": (pa.string(), "1"),
    "d": (pa.date32(), "2024-01-31"),
    "ts": (pa.timestamp("us", "UTC"), "2024-01-31T09:00:00Z"),
    "l": (pa.list_(pa.int64()), [1]),
    "s": (pa.struct([("a", pa.int64())]), {"a": 1}),
    "m": (pa.map_(pa.string(), pa.int64()), {"a": 1}),
}
SCHEMA = pa.schema([(name, type_) for name, (type_, _) in COLUMNS.items()])


def outcome(text: str) -> str:
    """The refusal, or the reason of the one row that is pushed, or nothing."""
    try:
        query = sqlwin.query(text, {"s": SCHEMA})
    except QueryError as error:
        return error.message
    query.push("s", [{name: value for name, (_, value) in COLUMNS.items()}])
    return "".join(row["reason"] for row in query.expired().to_pylist())


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("n::INT[]", "INT cannot be cast to ARRAY<INT>"),
        ("k = s", "= does not take BIGINT, STRUCT<A:BIGINT>"),
        ("k <> m", "<> does not take BIGINT, MAP<STRING,BIGINT>"),
        ("k IN (l)", "values of BIGINT, ARRAY<BIGINT> cannot be compared"),
        ("CASE WHEN b THEN d = k END", "= does not take DATE, BIGINT"),
        ("CAST(b AS DATE)", "BOOLEAN cannot be cast to DATE"),
        ("ts + INTERVAL '1' FORTNIGHT", "FORTNIGHT is no unit of an interval"),
        ("INTERVAL '1 fortnight' + ts", "FORTNIGHT is no unit of an interval"),
        (
            "EXTRACT(FORTNIGHT FROM ts)",
            "[INVALID_EXTRACT_FIELD] there is no field FORTNIGHT here",
        ),
        (f"CONCAT(t{', t' * 1_200})", MESSAGE),
        ("n % 0", "[REMAINDER_BY_ZERO] Remainder by zero."),
    ],
)  # fmt: skip
def test_messages(expression: str, message: str) -> None:
    assert outcome(f"SELECT {expression} AS x FROM s") == message


def test_where_and_having() -> None:
    assert outcome("SELECT k FROM s WHERE k = s") == "= does not take BIGINT, STRUCT<A:BIGINT>"
    grouped = (
        "SELECT COUNT(*) AS c FROM TUMBLE(s, ts, INTERVAL '1' HOUR) GROUP BY k HAVING MAX(d) = k"
    )
    stream = sqlwin.stream(SCHEMA, ts="ts")
    with pytest.raises(QueryError, match="= does not take DATE, BIGINT"):
        sqlwin.query(grouped, {"s": stream})


@pytest.mark.parametrize("to", ["BOOLEAN", "INT", "DOUBLE", "DECIMAL(10, 2)", "STRING", "DATE",
                                "TIMESTAMP", "ARRAY<INT>", "MAP<STRING, INT>"])  # fmt: skip
@pytest.mark.parametrize("name", COLUMNS)
def test_no_cast_fails_by_its_types_when_it_runs(name: str, to: str) -> None:
    assert "Unimplemented" not in outcome(f"SELECT CAST({name} AS {to}) AS x FROM s")


@pytest.mark.parametrize("other", COLUMNS)
@pytest.mark.parametrize("name", COLUMNS)
def test_no_comparison_fails_by_its_types_when_it_runs(name: str, other: str) -> None:
    assert "Unimplemented" not in outcome(f"SELECT {name} = {other} AS x FROM s")


@pytest.mark.parametrize("kind", ["STREAM", "TABLE"])
@pytest.mark.parametrize(
    ("declared", "type_"),
    [
        ("STRUCT<a: INT, b: STRING>", "struct<a: int32, b: string>"),
        ("STRUCT<a: INT>", "struct<a: int32>"),
        ("ROW<a INT NOT NULL, `b c` STRING COMMENT 'x, y'>", "struct<a: int32, b c: string>"),
        ("ROW(a INT, b DECIMAL(5, 2)) NOT NULL", "struct<a: int32, b: decimal128(5, 2)>"),
        ("MAP<STRING, INT>", "map<string, int32>"),
        ("MAP(STRING, INT[])", "map<string, list<item: int32>>"),
        ("ARRAY<INT>", "list<item: int32>"),
        ("array < int >", "list<item: int32>"),
        ("INT[]", "list<item: int32>"),
        ("INT ARRAY", "list<item: int32>"),
        ("VARCHAR(20)[][]", "list<item: list<item: string>>"),
        ("ARRAY<STRUCT<a: TIMESTAMP(3)>>", "list<item: struct<a: timestamp[us, tz=UTC]>>"),
        ("ARRAY<MAP<STRING, ROW<a INT>>>", "list<item: map<string, struct<a: int32>>>"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", ["({}, k INT)", "(k INT, {})", "({})"])
def test_columns_that_hold_others(kind: str, declared: str, type_: str, text: str) -> None:
    columns = text.format(f"v {declared}")
    (described,) = script(f"CREATE {kind} x {columns}; DESCRIBE x").statements
    assert isinstance(described, Describe)
    assert {column.name: str(column.type) for column in described.columns}["v"] == type_


@pytest.mark.parametrize(
    "declared",
    ["ARRAY<POINT>", "ARRAY<INT, INT>", "MAP<STRING>", "MAP<MAP<INT, INT>, INT>", "MULTISET<INT>",
     "STRUCT<a>", "STRUCT<a: INT, A: INT>", "ROW<INT>", "ARRAY<>", "POINT[]"],
)  # fmt: skip
def test_what_holds_something_unknown(declared: str) -> None:
    with pytest.raises(QueryError) as caught:
        script(f"CREATE STREAM x (v {declared}, k INT)")
    assert caught.value.message == f"{declared} is not a type of a column"
    assert caught.value.span is not None
    assert caught.value.span.length == len(declared)


def test_a_comparison_is_no_type() -> None:
    with pytest.raises(QueryError, match="cannot read"):
        sqlwin.query("CREATE STREAM x (a INT, b AS a < a >); SELECT a FROM x")


@pytest.mark.parametrize(
    ("text", "holds"),
    [("1", True), ("0", False), ("", False), ("-1", False), ("1.5", False), ("٣", False)],
)
def test_counts(text: str, holds: bool) -> None:
    assert is_positive(text) == holds


@pytest.mark.parametrize(
    ("expression", "is_value"),
    [
        ("TIMESTAMP '2024-01-31 09:00:00'::DATE", "DATE '2024-01-31'"),
        ("TIMESTAMP '2024-01-31 09:00:00'::DATE::STRING", "'2024-01-31'"),
        ("DATE '2024-01-31'::TIMESTAMP", "TIMESTAMP '2024-01-31 00:00:00'"),
        ("TIMESTAMP_NTZ '2024-01-31 09:00:00'::STRING", "'2024-01-31 09:00:00'"),
        ("DATE '2024-01-31'::STRING || '!'", "'2024-01-31!'"),
    ],
)
def test_a_typed_literal_is_cast_whole(expression: str, is_value: str) -> None:
    query = sqlwin.query(f"SELECT {expression} AS found, {is_value} AS due FROM s", {"s": SCHEMA})
    query.push("s", [{"k": 1}])
    table = query.results()
    assert table.schema.field("found").type == table.schema.field("due").type
    assert table["found"].to_pylist() == table["due"].to_pylist() != [None]
