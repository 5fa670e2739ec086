"""Units of dates and instants: how many months, or microseconds, each is; and instants to numbers.

Invariant: a unit is of months or of microseconds, never both; what is neither is refused by name.
"""

from __future__ import annotations

from sqlwin.functions.casts.time_texts import UTC
from sqlwin.functions.core.entry import Call
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.instants.calendar import DAY

MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
MICROS = {
    "WEEK": 7 * DAY,
    "DAY": DAY,
    "DAYOFYEAR": DAY,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}


def instant(at: int) -> str:
    return UTC.replace("{0}", f"{{{at}}}")


def back(text: str) -> str:
    return f"make_timestamptz(epoch_us({text}))"


def unit_of(call: Call) -> str:
    given = call.args[0]
    assert isinstance(given, Typed)
    return str(given.value).upper()


def no_unit(unit: str, units: dict[str, int]) -> Refused:
    legal = ", ".join((*MONTHS, *units))
    return Refused(f"[INVALID_PARAMETER_VALUE] {unit} is no unit of this", legal, at=0)
