"""Dates and instants truncated: to the first of a unit that they are in; and rounded up to one.

trunc('2024-05-17', 'QUARTER')    2024-04-01
ceil('2024-05-17' TO QUARTER)     2024-07-01
"""

from __future__ import annotations

from collections.abc import Callable

from sqlwin.functions.casts.clocks import near, shown_text
from sqlwin.functions.casts.time_texts import UTC
from sqlwin.functions.core.entry import Call
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import DATE
from sqlwin.functions.times.sums.units import MICROS, back, instant, unit_of

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


def trunc(call: Call) -> str:
    made = "CAST(date_trunc({unit}, {{0}}) AS DATE)"
    return _truncate(call, 1, _TRUNCATED, made)


def date_trunc(call: Call) -> str:
    made = back("date_trunc({unit}, " + instant(1).replace("{1}", "{{1}}") + ")")
    return _truncate(call, 0, _TRUNCATED_INSTANTS, made)


_UNITS = ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
"""Of FLOOR and CEIL. Weeks are not among them: Flink's begin on Sundays, all others here do not."""
_OF_DATES = _UNITS[:4]
_LONGER = {"QUARTER": "3 MONTHS"}


def floor(call: Call) -> str:
    unit, typed, given = _rounded(call)
    return typed(call.filled(f"date_trunc('{unit}', {given})"))


def ceiling(call: Call) -> str:
    unit, typed, given = _rounded(call)
    if unit not in _OF_DATES:
        return _next_instant(call, unit)
    begun = f"date_trunc('{unit}', {given})"
    longer = _LONGER.get(unit, f"1 {unit}")
    next_one = f"CASE WHEN {begun} = {given} THEN {begun} ELSE {begun} + INTERVAL '{longer}' END"
    return typed(call.filled(next_one))


def _next_instant(call: Call, unit: str) -> str:
    """Of the beginning that clocks show, and so long behind it."""
    given = call.args[1]
    assert isinstance(given, Typed)
    clock = back(f"date_trunc('{unit}', {UTC.replace('{0}', shown_text(given.sql))})")
    begun = near(clock, given.sql)
    behind = f"make_timestamptz(epoch_us({begun}) + {MICROS[unit]})"
    return f"CASE WHEN {begun} = {given.sql} THEN {given.sql} ELSE {behind} END"


def _rounded(call: Call) -> tuple[str, Callable[[str], str], str]:
    """The unit, what makes the result of what DuckDB gives, and what is rounded."""
    unit, of_date = unit_of(call), call.result == DATE
    units = _OF_DATES if of_date else (*_UNITS, "MICROSECOND")
    if unit == "WEEK":
        of = "TRUNC(day, 'WEEK')" if of_date else "DATE_TRUNC('WEEK', ts)"
        raise Refused("weeks begin on Sunday for Flink's FLOOR and CEIL", f"{of}, from Monday")
    if unit not in units:
        raise Refused(f"{unit} is no unit of this", ", ".join(units))
    if of_date:
        return unit, "CAST({} AS DATE)".format, "CAST({1} AS TIMESTAMP)"
    return unit, back, instant(1)
