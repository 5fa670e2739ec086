"""What a value means, by type and form: the table of docs/formats.md, cell by cell.

The forms are files of JSON and CSV, dicts, Arrow, pandas and Polars. BAD is malformed.
"""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.files.source import Decoded, decoded, read
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.schema import TIMESTAMP, Column, type_of

BAD = "malformed"
NINE = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
DAY, MIDNIGHT = date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=timezone.utc)
Cell = tuple[str, Any, Any]
"""Type, what is given, what is taken."""

JSON: list[Cell] = [
    ("TINYINT", "127", 127),
    ("TINYINT", "128", BAD),
    ("SMALLINT", "-32768", -32768),
    ("SMALLINT", "70000", BAD),
    ("BIGINT", "1", 1),
    ("BIGINT", "1.0", 1),
    ("BIGINT", "1e2", 100),
    ("BIGINT", "1.5", BAD),
    ("BIGINT", '"7"', 7),
    ("BIGINT", '"7.0"', BAD),
    ("BIGINT", '""', BAD),
    ("BIGINT", "true", BAD),
    ("BIGINT", '{"a": 1}', BAD),
    ("BIGINT", "[1]", BAD),
    ("BIGINT", "9223372036854775808", BAD),
    ("BIGINT", "1e400000000", BAD),
    ("DOUBLE", "1", 1.0),
    ("DOUBLE", '"1.5"', 1.5),
    ("DOUBLE", '"inf"', float("inf")),
    ("DOUBLE", "1e999", BAD),
    ("DOUBLE", "NaN", BAD),
    ("DOUBLE", "-Infinity", BAD),
    ("FLOAT", "0.5", 0.5),
    ("FLOAT", "1e300", BAD),
    ("DECIMAL(38, 2)", "1234567890123456.78", Decimal("1234567890123456.78")),
    ("DECIMAL(38, 2)", "9" * 36 + ".99", Decimal("9" * 36 + ".99")),
    ("DECIMAL(10, 2)", "1.50", Decimal("1.50")),
    ("DECIMAL(10, 2)", "1.500", Decimal("1.50")),
    ("DECIMAL(10, 2)", "1e2", Decimal("100.00")),
    ("DECIMAL(10, 2)", '"1.5"', Decimal("1.50")),
    ("DECIMAL(10, 2)", "1.005", BAD),
    ("DECIMAL(10, 2)", "999999999.9", BAD),
    ("DECIMAL(10, 2)", "true", BAD),
    ("BOOLEAN", "true", True),
    ("BOOLEAN", '"FALSE"', False),
    ("BOOLEAN", "1", BAD),
    ("STRING", '"tea"', "tea"),
    ("STRING", '""', ""),
    ("STRING", "1", "1"),
    ("STRING", "1.0", "1.0"),
    ("STRING", "1.50", "1.50"),
    ("STRING", "true", "true"),
    ("STRING", "[1, 2.50]", "[1, 2.50]"),
    ("STRING", "null", None),
    ("STRING", '"\\ud83d\\ude00"', "😀"),
    ("STRING", '"\\ud83d"', BAD),
    ("BINARY", '"tea"', b"tea"),
    ("DATE", '"2024-01-01"', DAY),
    ("DATE", '"2024-1-1"', BAD),
    ("DATE", '"2024-02-30"', BAD),
    ("DATE", "20240101", BAD),
    ("DATE", "true", BAD),
    ("DATE", "[2024, 1, 1]", BAD),
    ("TIMESTAMP", '"2024-01-01T09:00:00Z"', NINE),
    ("TIMESTAMP", '"2024-01-01 09:00:00"', NINE),
    ("TIMESTAMP", '"2024-01-01T11:00:00+02"', NINE),
    ("TIMESTAMP", '"2024-01-01T11:00:00+0200"', NINE),
    ("TIMESTAMP", '"2024-01-01"', BAD),
    ("TIMESTAMP", "1704099600", BAD),
]
CSV: list[Cell] = [
    ("TINYINT", "127", 127),
    ("SMALLINT", "70000", BAD),
    ("BIGINT", "7", 7),
    ("BIGINT", " 7 ", 7),
    ("BIGINT", "+7", 7),
    ("BIGINT", "7.0", BAD),
    ("BIGINT", "", None),
    ("BIGINT", '""', None),
    ("BIGINT", "9223372036854775808", BAD),
    ("DOUBLE", "1e2", 100.0),
    ("DOUBLE", "1e999", BAD),
    ("DOUBLE", "-inf", float("-inf")),
    ("FLOAT", "1e300", BAD),
    ("DECIMAL(38, 2)", "1234567890123456.78", Decimal("1234567890123456.78")),
    ("DECIMAL(10, 2)", "1.005", BAD),
    ("DECIMAL(10, 2)", "1.500", Decimal("1.50")),
    ("BOOLEAN", "True", True),
    ("BOOLEAN", "1", BAD),
    ("STRING", "", None),
    ("STRING", '""', ""),
    ("STRING", '"a, ""b"""', 'a, "b"'),
    ("STRING", '5" x', '5" x'),
    ("STRING", "x" * 131_072, "x" * 131_072),
    ("STRING", "x" * 131_073, BAD),
    ("STRING", '"unclosed', BAD),
    ("STRING", '"closed"early', BAD),
    ("DATE", "2024-01-01", DAY),
    ("DATE", "20240101", BAD),
    ("TIMESTAMP", "2024-01-01T11:00:00+02", NINE),
    ("TIMESTAMP", '""', None),
]
DICTS: list[Cell] = [
    ("BIGINT", 7, 7),
    ("BIGINT", 7.0, 7),
    ("BIGINT", 7.5, BAD),
    ("BIGINT", Decimal("7.00"), 7),
    ("BIGINT", Decimal("Infinity"), BAD),
    ("BIGINT", "7", 7),
    ("BIGINT", True, BAD),
    ("BIGINT", {"a": 1}, BAD),
    ("BIGINT", b"7", BAD),
    ("DOUBLE", 2**70, 2.0**70),
    ("FLOAT", 1e300, BAD),
    ("DECIMAL(10, 2)", 1.1, Decimal("1.10")),
    ("DECIMAL(10, 2)", Decimal("1.005"), BAD),
    ("DECIMAL(10, 2)", float("nan"), BAD),
    ("BOOLEAN", 1, BAD),
    ("STRING", 1, "1"),
    ("STRING", 1.0, "1.0"),
    ("STRING", True, "true"),
    ("STRING", [1, "a"], '[1, "a"]'),
    ("STRING", b"tea", "tea"),
    ("STRING", b"caf\xe9", BAD),
    ("STRING", "a\ud800b", BAD),
    ("STRING", NINE, "2024-01-01T09:00:00Z"),
    ("BINARY", b"caf\xe9", b"caf\xe9"),
    ("DATE", DAY, DAY),
    ("DATE", MIDNIGHT, DAY),
    ("DATE", NINE, BAD),
    ("DATE", 19723, BAD),
    ("DATE", [2024], BAD),
    ("TIMESTAMP", NINE, NINE),
    ("TIMESTAMP", NINE.astimezone(timezone(timedelta(hours=2))), NINE),
    ("TIMESTAMP", DAY, MIDNIGHT),
    ("TIMESTAMP", 1704099600, BAD),
]
ARROW: list[Cell] = [
    ("TINYINT", pa.array([300], pa.int64()), BAD),
    ("BIGINT", pa.array([7.0]), 7),
    ("BIGINT", pa.array([9.3e18]), BAD),
    ("BIGINT", pa.array([Decimal("7.00")]), 7),
    ("BIGINT", pa.array([True]), BAD),
    ("BIGINT", pa.array([{"a": 1}]), BAD),
    ("BIGINT", pa.array([NINE], TIMESTAMP), BAD),
    ("BIGINT", pa.array([7], pa.uint64()), 7),
    ("DOUBLE", pa.array([True]), BAD),
    ("FLOAT", pa.array([1e300]), BAD),
    ("FLOAT", pa.array([float("inf")]), float("inf")),
    ("DECIMAL(10, 2)", pa.array([1.1]), Decimal("1.10")),
    ("DECIMAL(10, 2)", pa.array([7]), Decimal("7.00")),
    ("DECIMAL(10, 2)", pa.array([Decimal("1.005")]), BAD),
    ("BOOLEAN", pa.array([1]), BAD),
    ("STRING", pa.array([1]), "1"),
    ("STRING", pa.array([True]), "true"),
    ("STRING", pa.array([["a"]]), '["a"]'),
    ("STRING", pa.array([b"tea"]), "tea"),
    ("STRING", pa.array([b"caf\xe9"]), BAD),
    ("STRING", pa.array(["tea"]).dictionary_encode(), "tea"),
    ("STRING", pa.array([NINE], TIMESTAMP), "2024-01-01T09:00:00Z"),
    ("BINARY", pa.array(["tea"]), b"tea"),
    ("BINARY", pa.array([1]), BAD),
    ("DATE", pa.array([19723], pa.int64()), BAD),
    ("DATE", pa.array([MIDNIGHT], pa.timestamp("ns")), DAY),
    ("DATE", pa.array([NINE], TIMESTAMP), BAD),
    ("DATE", pa.array([[1]]), BAD),
    ("TIMESTAMP", pa.array([DAY]), MIDNIGHT),
    ("TIMESTAMP", pa.array([NINE], pa.timestamp("s")), NINE),
    ("TIMESTAMP", pa.array([1704099600]), BAD),
    ("TIMESTAMP", pa.array([2**62], pa.timestamp("us")), BAD),
]


def column(type_: str) -> Column:
    found = type_of(type_)
    assert found is not None
    return Column("x", found)


def stream(type_: str, format_: str = "json") -> Stream:
    columns = (column(type_), Column("n", pa.int64()))
    return Stream("orders", columns, "x", options=(("format", format_),))


def value(found: Decoded, type_: str) -> Any:
    """Of the first row; every other row, which is good, is there too."""
    if len(found.errors):
        assert found.errors["reason"][0].startswith("malformed: ")
        assert len(found.errors) == 1
        return BAD
    taken = found.rows["x"]
    assert taken.dtype == pl.Series(values=pa.array([], column(type_).type)).dtype
    return taken[0]


@pytest.mark.parametrize(("type_", "text", "taken"), JSON)
def test_json(tmp_path: Path, type_: str, text: str, taken: Any) -> None:
    for rest in ("", '{"n": 1}\n', '{oops\n{"n": 1}\n'):  # alone, beside a good line, and a bad one
        (tmp_path / "a").write_text('{"x": ' + text + "}\n" + rest)
        found = read(str(tmp_path / "a"), 0, stream(type_))
        kept = Decoded(found.rows, found.errors.filter(pl.col("row") != "{oops"))
        assert value(kept, type_) == taken
        assert kept.rows["n"].drop_nulls().to_list() == [1] * ("n" in rest)


@pytest.mark.parametrize(("type_", "text", "taken"), CSV, ids=range(len(CSV)))
def test_csv(tmp_path: Path, type_: str, text: str, taken: Any) -> None:
    for rest in ("", ",1\n", "a,b,c\n,1\n"):
        (tmp_path / "a").write_text(f"x,n\n{text},0\n{rest}")
        found = read(str(tmp_path / "a"), 0, stream(type_, "csv"))
        kept = Decoded(found.rows, found.errors.filter(pl.col("row") != "a,b,c"))
        assert value(kept, type_) == taken
        assert kept.rows.filter(pl.col("n") == 1).height == (1 if rest else 0)


def pushed(rows: Any, type_: str) -> Decoded:
    made = stream(type_)
    return decoded(frame_of(rows, made.columns), 0, made, None)


@pytest.mark.parametrize(("type_", "given", "taken"), DICTS)
def test_dicts(type_: str, given: Any, taken: Any) -> None:
    good = {"BOOLEAN": True, "DATE": DAY, "TIMESTAMP": NINE}.get(type_, "1")
    for more in ([], [{"x": None, "n": 1}], [{"x": good, "n": 1}]):
        found = pushed([{"x": given, "n": 0}, *more], type_)
        assert value(found, type_) == taken
        assert found.rows["n"].to_list()[-len(more) :] == [1] * len(more) or not more


@pytest.mark.parametrize("type_", sorted({type_ for type_, *_ in DICTS}))
def test_a_value_of_a_dict_is_the_same_beside_all_others(type_: str) -> None:
    cells = [(given, taken) for of, given, taken in DICTS if of == type_]
    found = pushed([{"x": given, "n": at} for at, (given, _) in enumerate(cells)], type_)
    rows = dict(zip(found.rows["n"].to_list(), found.rows["x"].to_list(), strict=True))
    assert rows == {at: taken for at, (_, taken) in enumerate(cells) if taken != BAD}
    assert len(found.errors) == len(cells) - len(rows)


@pytest.mark.parametrize(("type_", "given", "taken"), ARROW)
def test_arrow_pandas_and_polars(type_: str, given: pa.Array, taken: Any) -> None:
    table = pa.table({"x": given, "n": pa.array([1])})
    assert value(pushed(table, type_), type_) == taken
    assert value(pushed(pl.from_arrow(table), type_), type_) == taken
    if not pa.types.is_timestamp(given.type):  # whose nanoseconds end with the year 2262
        assert value(pushed(table.to_pandas(), type_), type_) == taken


def test_arrow_texts_that_are_no_utf8_cost_their_rows() -> None:
    ends = pa.array([0, 3, 7], pa.int32()).buffers()[1]
    texts = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"teacaf\xe9")])
    found = pushed(pa.table({"x": texts, "n": pa.array([0, 1])}), "STRING")
    assert found.rows["x"].to_list() == ["tea"]
    assert json.loads(found.errors["row"][0]) == {"x": "Y2Fm6Q==", "n": 1}


def _no_utf8() -> pa.Array:
    ends = pa.array([0, 3, 7], pa.int32()).buffers()[1]
    return pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"teacaf\xe9")])


def test_arrow_texts_within_others_that_are_no_utf8_cost_their_rows() -> None:
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), _no_utf8())
    found = pushed(pa.table({"x": coded}), "STRING")
    assert (found.rows["x"].to_list(), len(found.errors)) == (["tea"], 1)
    nested = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), _no_utf8())
    for given in (nested, pa.StructArray.from_arrays([_no_utf8()], ["a"])):
        found = pushed(pa.table({"x": given, "n": pa.array([0, 1])}), "STRING")
        assert found.rows["x"].to_list() == [json.dumps(given[0].as_py())]
        assert "is <a text that is not UTF-8>, not a STRING" in found.errors["reason"][0]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_seconds_beyond_the_calendar_are_malformed(zone: str | None) -> None:
    seconds = pa.array([2**62, -(2**62), 2**63 - 1, None, 0], pa.timestamp("s", zone))
    for rows in (pa.table({"x": seconds}), pa.table({"x": seconds}).to_pandas()):
        for type_, zero in (
            ("TIMESTAMP", datetime(1970, 1, 1, tzinfo=timezone.utc)),
            ("DATE", date(1970, 1, 1)),
        ):
            found = pushed(rows, type_)
            assert found.rows["x"].to_list() == [None, zero]
            assert len(found.errors) == 3


def test_seconds_beyond_the_calendar_within_a_list() -> None:
    inner = pa.array([2**62, 0], pa.timestamp("s", "UTC"))
    given = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), inner)
    for type_ in (pa.list_(TIMESTAMP), pa.string()):
        columns = (Column("x", type_),)
        frame = frame_of(pa.table({"x": given}), columns)
        found = decoded(frame, 0, Stream("s", columns, None), None)
        assert (len(found.rows), len(found.errors)) == (1, 1)
        assert "an instant beyond the calendar" in found.errors["reason"][0]


def test_wide_decimals_of_arrow() -> None:
    given = pa.array([Decimal("1.005"), Decimal("1.5")], pa.decimal256(60, 5))
    found = pushed(pa.table({"x": given}), "DECIMAL(10, 2)")
    assert (found.rows["x"].to_list(), len(found.errors)) == ([Decimal("1.50")], 1)


@pytest.mark.parametrize("type_", ["BIGINT", "DOUBLE", "DECIMAL(38, 0)", "DATE", "TIMESTAMP"])
def test_an_int_of_thousands_of_digits_costs_its_row(type_: str) -> None:
    for others in ([], [object()]):
        found = pushed([{"x": value} for value in (10**5000, None, *others)], type_)
        assert found.rows["x"].to_list() == [None]
        assert len(found.errors) == 1 + len(others)


def test_an_int_of_thousands_of_digits_is_a_text() -> None:
    assert pushed([{"x": 10**5000}], "STRING").rows["x"].to_list() == ["1" + "0" * 5000]


@pytest.mark.parametrize("foreign", [{(1, 2): 3}, {b"a": 1}, {date(2024, 1, 1): 1}, [object()]])
def test_what_has_no_text_within_a_dict_or_list_is_malformed(foreign: object) -> None:
    rows = [{"x": {"a": [date(2024, 1, 1), 1.5]}}, {"x": foreign}, {"x": {1: None}}]
    found = pushed(rows, "STRING")
    assert found.rows["x"].to_list() == ['{"a": ["2024-01-01", 1.5]}', '{"1": null}']
    assert len(found.errors) == 1


def test_half_of_a_surrogate_pair_beside_an_object() -> None:
    found = pushed([{"x": "a\ud800"}, {"x": object()}, {"x": "tea"}], "STRING")
    assert found.rows["x"].to_list() == ["tea"]
    assert json.loads(found.errors["row"][0]) == {"x": '"a\\ud800"'}


def test_a_column_that_stands_twice_is_refused() -> None:
    twice = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    for rows in (twice, pd.DataFrame([[1, 2]], columns=["x", "x"])):
        with pytest.raises(InputError, match="the column x stands twice in the rows"):
            frame_of(rows, (Column("x", pa.int64()),))


def test_a_pandas_column_of_mixed_values_costs_the_bad_ones() -> None:
    frame = pd.DataFrame({"x": pd.Series([1, "two", 3.0, None, pd.NaT], dtype=object)})
    found = pushed(frame, "BIGINT")
    assert found.rows["x"].to_list() == [1, 3, None, None]
    assert found.errors["reason"].to_list() == ["malformed: x is 'two', not a BIGINT"]


def test_an_instant_beyond_the_calendar_stands_in_the_error_stream() -> None:
    found = pushed(pa.table({"x": pa.array([2**62], pa.timestamp("us"))}), "TIMESTAMP")
    assert found.errors["row"].to_list() == [f'{{"x": {2**62}}}']


def test_a_reason_repeats_the_beginning_of_a_long_value() -> None:
    (reason,) = pushed([{"x": "y" * 1000}], "BIGINT").errors["reason"]
    assert reason == f"malformed: x is '{'y' * 79}… (1,002 characters), not a BIGINT"
