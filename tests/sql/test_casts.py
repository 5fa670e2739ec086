"""What no value of a type can be is refused when a query is bound, and no error shows the engine's
own words for what people cannot change."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sqlwin
from sqlwin.errors import QueryError
from sqlwin.plan.options.connectors import is_positive
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


NESTED = "columns of lists, structs and maps are declared by a schema, in Python"


@pytest.mark.parametrize("kind", ["STREAM", "TABLE", "SINK"])
@pytest.mark.parametrize(
    "declared",
    ["STRUCT<a: INT, b: STRING>", "STRUCT<a: INT>", "MAP<STRING, INT>", "ARRAY<INT>",
     "ARRAY<STRUCT<a: INT>>", "array < int >"],
)  # fmt: skip
@pytest.mark.parametrize("text", ["({}, k INT)", "(k INT, {})", "({})"])
def test_nested_columns_are_declared_in_python(kind: str, declared: str, text: str) -> None:
    columns = text.format(f"v {declared}")
    with pytest.raises(QueryError) as caught:
        sqlwin.query(f"CREATE {kind} x {columns}; SELECT v FROM x")
    assert caught.value.message == NESTED
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
