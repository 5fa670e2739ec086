"""Dates and instants with something added, their differences, and both truncated.

A difference in units is of whole ones, toward zero: from 10:59 to 11:01 there is no HOUR. Months
keep the day, or take the last of a shorter month.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlwin.functions.casts.times import UTC
from sqlwin.functions.core.entry import Call, Function, Overload, failing, function, of
from sqlwin.functions.core.typed import Argument, Refused, Typed
from sqlwin.functions.core.types import BIGINT, DATE, INT, is_numeric, name
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.core.widening import implicit
from sqlwin.functions.instants.calendar import DAY, whole_months
from sqlwin.functions.instants.iso import day_numbers, masked, micros
from sqlwin.functions.times.made import narrowed
from sqlwin.functions.times.months_between import MONTHS_BETWEEN
from sqlwin.schema import TIMESTAMP

_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_MICROS = {
    "WEEK": 7 * DAY,
    "DAY": DAY,
    "DAYOFYEAR": DAY,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}
_FEW = 1_000_000
"""Days that may be added without a thought of the ends of time."""


def instant(at: int) -> str:
    return UTC.replace("{0}", f"{{{at}}}")


def back(text: str) -> str:
    return f"make_timestamptz(epoch_us({text}))"


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


def _unit(call: Call) -> str:
    given = call.args[0]
    assert isinstance(given, Typed)
    return str(given.value).upper()


def _no_unit(unit: str, units: dict[str, int]) -> Refused:
    legal = ", ".join((*_MONTHS, *units))
    return Refused(f"[INVALID_PARAMETER_VALUE] {unit} is no unit of this", legal, at=0)


def _add(call: Call) -> str:
    unit = _unit(call)
    if unit in _MONTHS:
        months = f"to_months(CAST({{1}} * {_MONTHS[unit]} AS INTEGER))"
        return _at_most(call, _ALL_MONTHS // _MONTHS[unit], back(f"{instant(2)} + {months}"))
    if unit not in _MICROS:
        raise _no_unit(unit, _MICROS)
    most = (2**63 - 1) // _MICROS[unit]
    return _at_most(call, most, f"make_timestamptz(epoch_us({{2}}) + {{1}} * {_MICROS[unit]})")


_ALL_MONTHS = 8_000_000
"""More than there are from the first TIMESTAMP to the last."""


def _at_most(call: Call, most: int, sum_: str) -> str:
    """Of more units than that there is no sum."""
    late = failing("DATETIME_OVERFLOW", "Past the first or last TIMESTAMP")
    both = "{1} IS NOT NULL AND {2} IS NOT NULL"
    inside = f"{{1}} BETWEEN -{most} AND {most}"
    return call.filled(f"CASE WHEN {inside} THEN {sum_} WHEN {both} THEN {late} END")


@vector("whole_months")
def _whole_months(start: pa.Array, end: pa.Array) -> pa.Array:
    return masked(whole_months(micros(start), micros(end)), BIGINT, start, end)


def _difference(call: Call) -> str:
    unit = _unit(call)
    if unit in _MONTHS:
        months = f"{_whole_months.named([TIMESTAMP, TIMESTAMP], BIGINT)}({{1}}, {{2}})"
        return call.filled(f"({months} // {_MONTHS[unit]})")
    if unit not in _MICROS or unit == "DAYOFYEAR":
        raise _no_unit(unit, {u: m for u, m in _MICROS.items() if u != "DAYOFYEAR"})
    return call.filled(f"((epoch_us({{2}}) - epoch_us({{1}})) // {_MICROS[unit]})")


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


_TRUNCATED = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    "QUARTER": "quarter",
    **dict.fromkeys(("MONTH", "MM", "MON"), "month"),
    "WEEK": "week",
}
_TRUNCATED_INSTANTS = {
    **_TRUNCATED,
    **dict.fromkeys(("DAY", "DD"), "day"),
    **{u: u.lower() for u in ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")},
}


def _truncate(call: Call, unit: int, units: dict[str, str], made: str) -> str:
    """unit: which argument. made: of DuckDB's unit."""
    arg = call.args[unit]
    assert isinstance(arg, Typed)
    if arg.is_constant:
        found = units.get(str(arg.value).upper())
        if found is None:
            return f"CAST(NULL AS {call.engine_type})"
        return call.filled(made.format(unit=f"'{found}'"))
    whens = " ".join(
        f"WHEN '{word}' THEN {made.format(unit=repr(found))}" for word, found in units.items()
    )
    return call.filled(f"CASE upper({{{unit}}}) {whens} END")


def _trunc(call: Call) -> str:
    made = "CAST(date_trunc({unit}, {{0}}) AS DATE)"
    return _truncate(call, 1, _TRUNCATED, made)


def _date_trunc(call: Call) -> str:
    made = back("date_trunc({unit}, " + instant(1).replace("{1}", "{{1}}") + ")")
    return _truncate(call, 0, _TRUNCATED_INSTANTS, made)


_MONTH_SUM = "CAST({0} + to_months({1}) AS DATE)"
_ADD_MONTHS = of("(DATE, INT) -> DATE", _MONTH_SUM, fails=True)


def _whole_days(arguments: Sequence[Argument]) -> list[Argument]:
    """Days are an INT: other numbers are not taken for one."""
    days = arguments[1] if len(arguments) == 2 else None
    if isinstance(days, Typed) and is_numeric(days.type) and not implicit(days.type, INT):
        message = f"days are an INT, not {name(days.type).upper()}"
        raise Refused(message, legal="CAST(n AS INT)", at=1)
    return list(arguments)


DATE_SUMS: tuple[Function, ...] = (
    function(
        "date_add dateadd",
        *_on_date(plus_days("+")),
        of("(STRING!, BIGINT, TIMESTAMP) -> TIMESTAMP", _add, fails=True),
        doc="The date some days later; with a unit, as TIMESTAMPADD.",
        before=_whole_days,
    ),
    function(
        "date_sub",
        *_on_date(plus_days("-")),
        doc="The date some days earlier.",
        before=_whole_days,
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
        of("(STRING!, TIMESTAMP, TIMESTAMP) -> BIGINT", _difference, fails=True),
        doc="Days from the second date to the first; with a unit, as TIMESTAMPDIFF.",
    ),
    function(
        "timestampdiff timediff",
        of("(STRING!, TIMESTAMP, TIMESTAMP) -> BIGINT", _difference, fails=True),
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
        *_on_date(of("(DATE, STRING) -> DATE", _trunc)),
        doc="The first day of the year, quarter, month or week; NULL for another unit.",
    ),
    function(
        "date_trunc",
        of("(STRING, TIMESTAMP) -> TIMESTAMP", _date_trunc),
        doc="The beginning of the year, …, microsecond; NULL for another unit.",
    ),
)
