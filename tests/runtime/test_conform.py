"""Rows of any form become the declared columns, or are named with what is wrong."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sqlwin.errors import InputError
from sqlwin.runtime.formats import python_values
from sqlwin.runtime.rows.conform import conform, frame_of, unknown_columns
from sqlwin.schema import TIMESTAMP, Column


def one(type_: pa.DataType, value: Any) -> tuple[Any, list[str]]:
    """The value of one column of one dict, and the reasons it was refused for."""
    columns = (Column("x", type_),)
    found = conform(frame_of([{"x": value}], columns), columns)
    return found.rows["x"][0], [reason for _, reason in found.malformed]


@pytest.mark.parametrize(
    ("type_", "value", "taken"),
    [
        (pa.int64(), 7, 7),
        (pa.int64(), "7", 7),
        (pa.int64(), 7.0, 7),
        (pa.int8(), 7, 7),
        (pa.float64(), 7, 7.0),
        (pa.float64(), "NaN", float("nan")),
        (pa.string(), "tea", "tea"),
        (pa.bool_(), True, True),
        (pa.bool_(), "FALSE", False),
        (pa.decimal128(10, 2), Decimal("1.25"), Decimal("1.25")),
        (pa.decimal128(10, 2), "1.25", Decimal("1.25")),
        (pa.decimal128(10, 2), 3, Decimal("3.00")),
        (pa.date32(), date(2024, 1, 2), date(2024, 1, 2)),
        (pa.date32(), "2024-01-02", date(2024, 1, 2)),
        (pa.int64(), None, None),
    ],
)
def test_values_that_fit(type_: pa.DataType, value: Any, taken: Any) -> None:
    found, reasons = one(type_, value)
    assert reasons == []
    assert found == taken or (found != found and taken != taken)


@pytest.mark.parametrize(
    "value",
    [
        "2024-01-01T09:00:00Z",
        "2024-01-01 09:00:00",
        "2024-01-01T10:00:00+01:00",
        "2024-01-01T09:00:00.000",
        datetime(2024, 1, 1, 9, tzinfo=timezone.utc),
        datetime(2024, 1, 1, 9),
        datetime(2024, 1, 1, 10, tzinfo=timezone(timedelta(hours=1))),
    ],
)
def test_instants_in_every_form(value: Any) -> None:
    found, reasons = one(TIMESTAMP, value)
    assert reasons == []
    assert found == datetime(2024, 1, 1, 9, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (pa.int64(), "seven"),
        (pa.int64(), 7.5),
        (pa.int64(), 2**63),
        (pa.int8(), 300),
        (pa.int64(), True),
        (pa.bool_(), 1),
        (pa.decimal128(4, 2), "1000"),
        (TIMESTAMP, "now"),
        (TIMESTAMP, "2024-13-01T00:00:00Z"),
        (pa.date32(), "tomorrow"),
    ],
)
def test_values_that_do_not_fit_are_malformed(type_: pa.DataType, value: Any) -> None:
    found, reasons = one(type_, value)
    assert found is None
    assert len(reasons) == 1


def test_one_bad_value_costs_its_own_row() -> None:
    columns = (Column("a", pa.int64()), Column("b", pa.string()))
    found = conform(frame_of([{"a": 1}, {"a": "x", "b": "y"}, {"a": 3}], columns), columns)
    assert found.malformed == [(1, "a is 'x', not a BIGINT")]
    assert found.rows["a"].to_list() == [1, None, 3]


def test_every_form_of_rows() -> None:
    columns = (Column("a", pa.int64()),)
    table = pa.table({"a": [1, 2]})
    forms = [table, table.to_batches()[0], pl.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]})]
    for rows in [*forms, [{"a": 1}, {"a": 2}]]:
        assert conform(frame_of(rows, columns), columns).rows["a"].to_list() == [1, 2]
    assert len(frame_of([], columns)) == 0


def test_what_is_no_rows_at_all() -> None:
    with pytest.raises(InputError, match="list of dicts"):
        frame_of("tea", ())
    with pytest.raises(InputError, match="row 1 is not a dict but int"):
        frame_of([{"a": 1}, 2], ())


def test_a_column_the_stream_has_not() -> None:
    with pytest.raises(InputError, match="orders has no column colour; it has a"):
        unknown_columns(pl.DataFrame({"colour": [1]}), (Column("a", pa.int64()),), "orders")


def test_an_instant_is_taken_or_not_whatever_stands_beside_it() -> None:
    texts = [
        "2024-01-01T09:00:00Z",
        "2024-01-01 09:00:00",
        "2024-01-01T09:00:00.123456+01:00",
        "2024-01-01T09:00:00.123456789Z",
        "2024-01-01",
        "2024-01-01T09",
        "2024-01-01T09:00",
        "2024-02-30T09:00:00Z",
        "2024-01-01T09:00:00ZZ",
        "2024-01-01T09:00:00 ",
        "1960-01-01T00:00:00.000001Z",
        "20240101T090000000000Z",
    ]
    columns = (Column("x", TIMESTAMP),)
    alone = [one(TIMESTAMP, text)[0] for text in texts]
    together = conform(pl.DataFrame({"x": texts}), columns).rows["x"].to_list()
    assert alone == together
    assert [value is None for value in alone] == [
        *[False] * 4,
        *[True] * 5,
        False,
        False,
        True,
    ]


def test_a_decimal_that_is_no_number() -> None:
    value, reasons = one(pa.decimal128(10, 2), Decimal("NaN"))
    assert (value, reasons) == (None, ["x is 'NaN', not a DECIMAL(10, 2)"])


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    value, reasons = one(pa.string(), "a\ud800b")
    assert value is None
    assert reasons == ["x is b'a\\xed\\xa0\\x80b', not a STRING"]


def test_names_of_columns_are_text() -> None:
    with pytest.raises(InputError, match="a column's name is a str, not 1"):
        frame_of([{1: "a"}], (Column("x", pa.int64()),))


ALL_KINDS: list[Any] = [
    *(None, True, 7, -(2**63), 2**63, 10**5000, 7.0, 7.5, float("nan"), "7", "tea", "a\ud800b"),
    *(b"tea", Decimal("1.25"), date(2024, 1, 2), {"a": 1}, [1], {1}, pd.NaT),
    datetime(2024, 1, 1, 9),
    datetime(2024, 1, 1, 9, 0, 0, 7, tzinfo=timezone.utc),
    datetime(2024, 1, 1, 9, tzinfo=timezone(timedelta(hours=5, seconds=1))),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=5))),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))),
    pd.Timestamp("2024-01-01T09:00:00.000000007Z"),
    "2024-01-01T09:00:00Z",
]


@pytest.mark.parametrize(
    "type_",
    [
        *(pa.int64(), pa.float64(), pa.string(), pa.bool_()),
        *(TIMESTAMP, pa.date32(), pa.decimal128(10, 2)),
    ],
)
def test_a_value_is_taken_or_not_whatever_stands_beside_it(type_: pa.DataType) -> None:
    """Columns of one kind of values are made all at once, others value by value."""
    columns = (Column("x", type_),)

    def taken(*values: Any) -> list[tuple[str, bool]]:
        found = conform(frame_of([{"x": value} for value in values], columns), columns)
        malformed = dict(found.malformed)
        shown = found.rows["x"].to_physical()
        return [(repr(shown[at]), at in malformed) for at in range(len(values))]

    alone = [taken(value)[0] for value in ALL_KINDS]
    for value, expected in zip(ALL_KINDS, alone, strict=True):
        for other, beside in zip(ALL_KINDS, alone, strict=True):
            assert taken(value, other) == [expected, beside], (value, other)


def test_dicts_of_one_kind_are_not_read_value_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def used(*given: Any) -> None:
        raise AssertionError("a value was read by itself")

    monkeypatch.setattr(python_values, "_text", used)
    at = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
    rows = [{"k": "tea", "v": n, "ts": at, "text": "2024-01-01T09:00:00Z"} for n in range(3)]
    columns = (
        *(Column("k", pa.string()), Column("v", pa.int64())),
        *(Column("ts", TIMESTAMP), Column("text", TIMESTAMP)),
    )
    found = conform(frame_of(rows, columns), columns)
    assert found.rows.rows() == [("tea", n, at, at) for n in range(3)]


@pytest.mark.parametrize("rows", [[{"a": 1}, {"b": 2}], [{"a": 1, "b": None}, {"b": 2}]])
def test_dicts_of_different_names(rows: list[dict[str, int]]) -> None:
    columns = (Column("a", pa.int64()), Column("b", pa.int64()))
    assert conform(frame_of(rows, columns), columns).rows.rows() == [(1, None), (None, 2)]


@pytest.mark.parametrize("zone", ["UTC", "Etc/GMT+5", "Europe/Paris", "Africa/Monrovia", None])
def test_times_of_one_zone_are_instants(zone: str | None) -> None:
    """Whether or not the zone changes its clocks; None: an offset of microseconds."""
    known = timezone(timedelta(hours=-9, microseconds=7)) if zone is None else ZoneInfo(zone)
    clocks = [
        datetime(year, month, 28, 1, 30, 59, 7) for year in (1, 1971, 9999) for month in (3, 10)
    ]
    times = [at.replace(tzinfo=known, fold=fold) for at in clocks for fold in (0, 1)]
    epoch, one = datetime(1970, 1, 1, tzinfo=timezone.utc), timedelta(microseconds=1)
    found = (
        python_values.column_of([*times, None], pa.timestamp("us", "UTC")).cast(pl.Int64).to_list()
    )
    assert found == [*((at - epoch) // one for at in times), None]
