"""Dates and instants with something added, their differences, and both truncated.

A difference in units is of whole ones, toward zero: from 10:59 to 11:01 there is no HOUR. Months
keep the day, or take the last of a shorter month.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.time_texts import UTC
from sqlwin.functions.core.entry import Call, Function, Overload, function, of
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BIGINT, DATE, INT
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.instants.iso import day_numbers, masked
from sqlwin.functions.times.made import narrowed
from sqlwin.functions.times.sums.date_differences import at_most, difference, whole_days
from sqlwin.functions.times.sums.months_between import MONTHS_BETWEEN
from sqlwin.functions.times.sums.truncation import ceiling, date_trunc, floor, trunc
from sqlwin.functions.times.sums.units import MICROS, MONTHS, back, instant, no_unit, unit_of

_FEW = 1_000_000
"""Days that may be added without a thought of the ends of time."""


@vector("date_plus_days")
def _plus_days(dates: pa.Array, numbers: pa.Array) -> pa.Array:
    """Past the end of 32 bits it begins anew, as in Spark."""
    total = day_numbers(dates) + np.asarray(numbers.cast(BIGINT).fill_null(0))
    wrapped = (total + 2**31) % 2**32 - 2**31
    return masked(wrapped, DATE, dates, numbers)


def plus_days(sign: str) -> Overload:
    def how(call: Call) -> str:
        number = call.args[1]
        if isinstance(number, Typed) and number.is_constant and abs(number.value or 0) <= _FEW:
            return call.filled(f"({{0}} {sign} {{1}})")
        n = "{1}" if sign == "+" else "-CAST({1} AS BIGINT)"
        slow = _plus_days.named([DATE, BIGINT], DATE)
        quick = f"({{0}} {sign} {{1}})"
        inside = f"{{1}} BETWEEN -{_FEW} AND {_FEW}"
        return call.filled(f"CASE WHEN {inside} THEN {quick} ELSE {slow}({{0}}, {n}) END")

    return of("(DATE, INT) -> DATE", how)


def _on_date(overload: Overload) -> tuple[Overload, Overload]:
    """Also of the date of a TIMESTAMP."""

    def how(call: Call) -> str:
        given = call.args[0]
        assert isinstance(given, Typed)
        date = Typed(UTC.replace("{0}", given.sql), DATE)
        date = Typed(f"CAST({date.sql} AS DATE)", DATE)
        return overload.text(Call((date, *call.args[1:]), call.result))

    signature = overload.signature.text.replace("(DATE", "(TIMESTAMP", 1)
    return overload, of(signature, how, fails=overload.fails)


def _add(call: Call) -> str:
    unit = unit_of(call)
    if unit in MONTHS:
        months = f"to_months(CAST({{1}} * {MONTHS[unit]} AS INTEGER))"
        return at_most(call, _ALL_MONTHS // MONTHS[unit], back(f"{instant(2)} + {months}"))
    if unit not in MICROS:
        raise no_unit(unit, MICROS)
    most = (2**63 - 1) // MICROS[unit]
    return at_most(call, most, f"make_timestamptz(epoch_us({{2}}) + {{1}} * {MICROS[unit]})")


_ALL_MONTHS = 8_000_000
"""More than there are from the first TIMESTAMP to the last."""


_WEEKDAYS = {
    word: at
    for at, words in enumerate(
        (
            *("MO MON MONDAY", "TU TUE TUESDAY", "WE WED WEDNESDAY", "TH THU THURSDAY"),
            *("FR FRI FRIDAY", "SA SAT SATURDAY", "SU SUN SUNDAY"),
        )
    )
    for word in words.split()
}


@vector("next_day")
def _next_day(dates: pa.Array, names: pa.Array) -> pa.Array:
    of_days = pc.if_else(pc.is_valid(dates), names, pa.scalar(None, names.type))
    wanted = np.asarray(by_value(_weekday, of_days, type=BIGINT).fill_null(0))
    given = day_numbers(dates)
    return masked(given + 1 + (wanted - (given + 4)) % 7, DATE, dates, names)


def _weekday(name: str) -> int:
    found = _WEEKDAYS.get(name.upper())
    if found is None:
        raise ValueError(f"[ILLEGAL_DAY_OF_WEEK] Illegal input for day of week: {name[:100]}")
    return found


_MONTH_SUM = "CAST({0} + to_months({1}) AS DATE)"
_ADD_MONTHS = of("(DATE, INT) -> DATE", _MONTH_SUM, fails=True)


DATE_SUMS: tuple[Function, ...] = (
    function(
        "date_add dateadd",
        *_on_date(plus_days("+")),
        of("(STRING!, BIGINT, TIMESTAMP) -> TIMESTAMP", _add, fails=True),
        doc="The date some days later; with a unit, as TIMESTAMPADD.",
        before=whole_days,
    ),
    function(
        "date_sub",
        *_on_date(plus_days("-")),
        doc="The date some days earlier.",
        before=whole_days,
    ),
    function(
        "timestampadd",
        of("(STRING!, BIGINT, TIMESTAMP) -> TIMESTAMP", _add, fails=True),
        doc="The instant some units later: TIMESTAMPADD(HOUR, 2, ts).",
    ),
    function(
        "datediff date_diff",
        of("(DATE, DATE) -> INT", "CAST({0} - {1} AS INTEGER)"),
        of(
            "(TIMESTAMP, TIMESTAMP) -> INT",
            f"CAST(CAST({instant(0)} AS DATE) - CAST({instant(1)} AS DATE) AS INTEGER)",
            strict=True,
        ),
        of("(STRING!, TIMESTAMP, TIMESTAMP) -> BIGINT", difference, fails=True),
        doc="Days from the second date to the first; with a unit, as TIMESTAMPDIFF.",
    ),
    function(
        "timestampdiff timediff",
        of("(STRING!, TIMESTAMP, TIMESTAMP) -> BIGINT", difference, fails=True),
        doc="Whole units from one instant to another: TIMESTAMPDIFF(HOUR, a, b).",
    ),
    function(
        "add_months",
        *_on_date(_ADD_MONTHS),
        narrowed("(DATE, N) -> DATE", _ADD_MONTHS, None, INT),
        doc="The same day some months later, or the last of that month.",
    ),
    MONTHS_BETWEEN,
    function(
        "next_day",
        *_on_date(of("(DATE, STRING) -> DATE", _next_day)),
        doc="The first such day of the week behind a date.",
    ),
    function(
        "trunc",
        *_on_date(of("(DATE, STRING) -> DATE", trunc)),
        doc="The first day of the year, quarter, month or week; NULL for another unit.",
    ),
    function(
        "date_trunc",
        of("(STRING, TIMESTAMP) -> TIMESTAMP", date_trunc),
        doc="The beginning of the year, …, microsecond; NULL for another unit.",
    ),
    Function(
        ("floor to",),
        (
            of("(STRING!, DATE) -> DATE", floor),
            of("(STRING!, TIMESTAMP) -> TIMESTAMP", floor),
        ),
        doc="FLOOR(ts TO HOUR): the beginning of the unit that ts is in.",
    ),
    Function(
        ("ceil to",),
        (
            of("(STRING!, DATE) -> DATE", ceiling, fails=True),
            of("(STRING!, TIMESTAMP) -> TIMESTAMP", ceiling, fails=True),
        ),
        doc="CEIL(ts TO HOUR): the first beginning of a unit not before ts.",
    ),
)
