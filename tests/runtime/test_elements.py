"""An element of a list, struct or map is taken where a column of its type takes it."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import polars as pl
import pyarrow as pa
import pytest

import sqlwin
from sqlwin.runtime.rows.conform import conform, frame_of
from sqlwin.schema import Column


class Point:
    def __repr__(self) -> str:
        return "7"


class Grave:
    def __repr__(self) -> str:
        raise RuntimeError


INSTANT = pa.timestamp("us", "UTC")
ID = UUID(int=7)
TYPES = (
    *(pa.int8(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(10, 2), pa.bool_()),
    *(pa.string(), pa.binary(), pa.date32(), pa.timestamp("us", "UTC")),
)
VALUES: tuple[Any, ...] = (
    *(0, 7, 300, 2**70, True, 1.1, 7.0, 1e300, math.inf, math.nan, "7", "1e300", "x", "", "NaN"),
    *(Decimal("1.005"), Decimal("1.50"), Decimal("NaN"), b"caf\xc3\xa9", b"caf\xe9", "\ud800"),
    *(date(2024, 1, 31), datetime(2024, 1, 31, 9), datetime(2024, 1, 31, tzinfo=timezone.utc)),
    *(
        "2024-01-31",
        "2024-01-31T09:00:00+02",
        time(9),
        ID,
        Point(),
        Grave(),
        1j,
        {1},
        [1],
        {"a": 1},
    ),
)


def taken(values: list[Any], type_: pa.DataType) -> tuple[list[Any], list[int]]:
    """What becomes of each value of a column, and which rows are malformed."""
    columns = (Column("v", type_),)
    made = conform(frame_of([{"v": value} for value in values], columns), columns)
    return made.rows["v"].to_arrow().to_pylist(), [at for at, _ in made.malformed]


def alike(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)


@pytest.mark.parametrize("type_", TYPES, ids=str)
@pytest.mark.parametrize("beside", [(), (Point(),)], ids=["alone", "beside a misfit"])
def test_elements_go_by_the_rule_of_columns(type_: pa.DataType, beside: tuple[Any, ...]) -> None:
    alone = [taken([value], type_) for value in VALUES]
    struct = pa.struct([("f", type_), ("g", pa.int64())])
    shapes: list[tuple[pa.DataType, Any, Any]] = [
        (pa.list_(type_), lambda v: [v], lambda t: t[0]),
        (struct, lambda v: {"f": v}, lambda t: t["f"]),
        (pa.map_(pa.string(), type_), lambda v: {"k": v}, lambda t: t[0][1]),
        (pa.list_(pa.list_(type_)), lambda v: [[], [v]], lambda t: t[1][0]),
    ]
    for nested, wrapped, inner in shapes:
        found, bad = taken([*(wrapped(value) for value in VALUES), *beside], nested)
        for at, ((value,), malformed) in enumerate(alone):
            assert (at in bad) == bool(malformed), (nested, VALUES[at : at + 1])
            assert malformed or alike(inner(found[at]), value), (nested, VALUES[at])


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_a_value_is_the_same_whatever_stands_beside_it(type_: pa.DataType) -> None:
    found, bad = taken(list(VALUES), type_)
    for at, value in enumerate(VALUES):
        (alone,), malformed = taken([value], type_)
        assert (at in bad) == bool(malformed), VALUES[at : at + 1]
        assert alike(found[at], alone)


@pytest.mark.parametrize("type_", [pa.string(), pa.int64(), pa.binary()])
@pytest.mark.parametrize("value", [Point(), Grave(), 1j, {1}])
def test_what_has_no_text_is_malformed(type_: pa.DataType, value: Any) -> None:
    query = sqlwin.query("SELECT v FROM s", {"s": pa.schema([("v", type_)])})
    query.push("s", [{"v": value}, {"v": None}])
    assert query.table()["v"].to_pylist() == [None]
    assert query.refused() == {"malformed": 1}
    (row,) = query.expired().to_pylist()
    assert row["reason"].startswith("malformed: v is ")


@pytest.mark.parametrize("key", [None, math.nan, [1], Point()])
def test_a_map_has_no_key_but_a_value_of_its_type(key: Any) -> None:
    type_ = pa.map_(pa.string(), pa.int64())
    given = [[(key, 1)], {"a": 1}] if isinstance(key, list) else [{key: 1}, {"a": 1}]
    _, bad = taken(given, type_)
    assert bad == ([0] if key is None or isinstance(key, Point) else [])


ARROWS: list[tuple[pa.Array, pa.DataType, list[int]]] = [
    (pa.array([[1.5, 1e300], [1.5], None, []]), pa.list_(pa.float32()), [0]),
    (pa.array([[Decimal("1.005")], [Decimal("1.500")]]), pa.list_(pa.decimal128(10, 2)), [0]),
    (pa.array([[datetime(2024, 1, 31, 9)], [datetime(2024, 1, 31)]]), pa.list_(pa.date32()), [0]),
    (pa.array([[2**62], [1]], pa.list_(pa.timestamp("us"))), pa.list_(INSTANT), [0]),
    (pa.array([[2**62], [1]], pa.list_(INSTANT)), pa.list_(INSTANT), [0]),
    (pa.array([{"f": 1e300}, {"f": 1.0}, None]), pa.struct([("f", pa.float32())]), [0]),
    (pa.array([[True], [False]]), pa.list_(pa.int64()), [0, 1]),
    (pa.array([[math.nan, math.inf], [1.0]]), pa.list_(pa.float32()), []),
    (pa.array([[b"caf\xe9"], [b"tea"]]), pa.list_(pa.string()), [0]),
    (pa.array([[("a", 1e300)], [("a", 1)]], pa.map_(pa.string(), pa.float64())),
     pa.map_(pa.string(), pa.float32()), [0]),
    (pa.array([[[1]], [[300]]]), pa.list_(pa.list_(pa.int8())), [1]),
]  # fmt: skip


@pytest.mark.parametrize(("array", "type_", "bad"), ARROWS, ids=lambda each: str(each)[:30])
def test_arrow(array: pa.Array, type_: pa.DataType, bad: list[int]) -> None:
    columns = (Column("v", type_),)
    made = conform(frame_of(pa.table({"v": array}), columns), columns)
    assert [at for at, _ in made.malformed] == bad
    assert (made.rows["v"].is_null() ^ pl.Series(array.is_null())).arg_true().to_list() == bad


def test_numbers_in_a_json_text_keep_their_digits() -> None:
    type_ = pa.list_(pa.decimal128(20, 2))
    found, bad = taken(["[1234567890123456.78]", "[1.005]", "[NaN]"], type_)
    assert (found[0], bad) == ([Decimal("1234567890123456.78")], [1, 2])
