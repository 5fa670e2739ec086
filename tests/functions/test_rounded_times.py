"""FLOOR and CEIL to a unit of time, and AT TIME ZONE, beside what Python's calendar says."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlwin
from sqlwin.errors import QueryError
from tests.functions.zoned import answers

UNITS = ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
TIMES = st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1))
ZONES = st.sampled_from(("Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"))
FIRST = datetime(1970, 1, 1)


def floor(time: datetime, unit: str) -> datetime:
    day = time.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "YEAR":
            return day.replace(month=1, day=1)
        case "QUARTER":
            return day.replace(month=(time.month - 1) // 3 * 3 + 1, day=1)
        case "MONTH":
            return day.replace(day=1)
        case "DAY":
            return day
        case "HOUR":
            return time.replace(minute=0, second=0, microsecond=0)
        case "MINUTE":
            return time.replace(second=0, microsecond=0)
        case "SECOND":
            return time.replace(microsecond=0)
        case _:
            return time.replace(microsecond=time.microsecond // 1000 * 1000)


def ceiling(time: datetime, unit: str) -> datetime:
    """The beginning of the unit behind it, unless it is a beginning."""
    begun, longest = floor(time, unit), {"YEAR": 366, "QUARTER": 92, "MONTH": 31, "DAY": 1}
    if begun == time:
        return time
    if unit in longest:
        return floor(begun + timedelta(days=longest[unit]), unit)
    lengths = {"HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1000, "MILLISECOND": 1}
    return begun + timedelta(milliseconds=lengths[unit])


def literal(time: datetime) -> str:
    return f"TIMESTAMP_NTZ '{time.isoformat(' ')}'"


def micros(time: datetime) -> str:
    return str((time - FIRST) // timedelta(microseconds=1))


@given(TIMES, st.booleans())
def test_to_a_unit(time: datetime, begins: bool) -> None:
    time = floor(time, "MONTH") if begins else time
    texts, expected = [], []
    for unit in UNITS:
        for name, found in (("FLOOR", floor), ("CEIL", ceiling)):
            texts.append(f"UNIX_MICROS({name}({literal(time)} TO {unit}))")
            texts.append(f"UNIX_MICROS({name}(CAST({literal(time)} AS TIMESTAMP) TO {unit}))")
            expected += [("bigint", micros(found(time, unit)))] * 2
    assert list(answers(texts)) == expected


@given(TIMES.filter(lambda time: time.year > 1900), ZONES)
def test_at_time_zone(time: datetime, zone: str) -> None:
    there = time.replace(tzinfo=timezone.utc).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    clock = f"CAST({literal(time)} AS TIMESTAMP) AT TIME ZONE '{zone}'"
    back = f"UNIX_MICROS({clock} AT TIME ZONE '{zone}')"
    found = list(answers([f"UNIX_MICROS({clock})", back]))
    assert found[0] == ("bigint", micros(there))
    first = there.replace(tzinfo=ZoneInfo(zone), fold=0).astimezone(timezone.utc)
    assert found[1] == ("bigint", micros(first.replace(tzinfo=None)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FLOOR(ts TO WEEK)", "weeks begin on Sunday for Flink's FLOOR and CEIL"),
        ("FLOOR(ts TO CENTURY)", "CENTURY is no unit of this"),
        ("CEIL(CAST(ts AS DATE) TO HOUR)", "HOUR is no unit of this"),
        ("FLOOR(ts TO)", "cannot be read"),
        ("FLOOR(ts, 1 TO HOUR)", "a comma or an operator is missing"),
        ("FLOOR(1 TO HOUR)", "does not take"),
        ("CAST(ts AS DATE) AT TIME ZONE 'UTC'", "AT TIME ZONE of a DATE may mean either of two"),
        ("1 AT TIME ZONE 'UTC'", "does not take"),
    ],
)
def test_refused(text: str, message: str) -> None:
    orders = "CREATE STREAM orders (ts TIMESTAMP, WATERMARK FOR ts AS ts); "
    with pytest.raises(QueryError, match=message):
        sqlwin.sql.script(f"{orders}SELECT {text} AS x FROM orders")
