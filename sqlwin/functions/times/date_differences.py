"""Differences of dates and instants, in days, months, or units of a clock.

months_between('2024-03-31', '2024-02-29')    1, whole: both are the last day of their month
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlwin.functions.core.entry import Call, failing
from sqlwin.functions.core.typed import Argument, Refused, Typed
from sqlwin.functions.core.types import BIGINT, DOUBLE, INT, is_numeric, name
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.core.widening import implicit
from sqlwin.functions.instants.calendar import DAY, Ints, civil, month_length, whole_months
from sqlwin.functions.instants.iso import masked, micros
from sqlwin.functions.times.units import MICROS, MONTHS, no_unit, unit_of
from sqlwin.schema import TIMESTAMP


def at_most(call: Call, most: int, sum_: str) -> str:
    """Of more units than that there is no sum."""
    late = failing("DATETIME_OVERFLOW", "Past the first or last TIMESTAMP")
    both = "{1} IS NOT NULL AND {2} IS NOT NULL"
    inside = f"{{1}} BETWEEN -{most} AND {most}"
    return call.filled(f"CASE WHEN {inside} THEN {sum_} WHEN {both} THEN {late} END")


@vector("whole_months")
def _whole_months(start: pa.Array, end: pa.Array) -> pa.Array:
    return masked(whole_months(micros(start), micros(end)), BIGINT, start, end)


def difference(call: Call) -> str:
    unit = unit_of(call)
    if unit in MONTHS:
        months = f"{_whole_months.named([TIMESTAMP, TIMESTAMP], BIGINT)}({{1}}, {{2}})"
        return call.filled(f"({months} // {MONTHS[unit]})")
    if unit not in MICROS or unit == "DAYOFYEAR":
        raise no_unit(unit, {u: m for u, m in MICROS.items() if u != "DAYOFYEAR"})
    return call.filled(f"((epoch_us({{2}}) - epoch_us({{1}})) // {MICROS[unit]})")


@vector("months_between")
def months_between(one: pa.Array, other: pa.Array, rounded: pa.Array) -> pa.Array:
    left, right = micros(one), micros(other)
    (y1, m1, d1), rest1 = _day_and_seconds(left)
    (y2, m2, d2), rest2 = _day_and_seconds(right)
    months = (y1 * 12 + m1 - y2 * 12 - m2).astype(float)
    last = (d1 == month_length(y1, m1)) & (d2 == month_length(y2, m2))
    seconds = (d1 - d2) * 86_400 + rest1 - rest2
    found = np.where((d1 == d2) | last, months, months + seconds / (31 * 86_400))
    exact = np.asarray(rounded.fill_null(False)) == 0
    found = np.where(exact, found, np.floor(np.abs(found) * 1e8 + 0.5) / 1e8 * np.sign(found))
    missing = np.zeros(len(found), bool)
    for array in (one, other, rounded):
        missing |= np.asarray(pc.is_null(array))
    return pa.array(found, DOUBLE, mask=missing)


def _day_and_seconds(values: Ints) -> tuple[tuple[Ints, Ints, Ints], Ints]:
    days_, time = np.divmod(values, DAY)
    return civil(days_), time // 1_000_000


def rounded(call: Call) -> str:
    named = months_between.named([TIMESTAMP, TIMESTAMP, pa.bool_()], DOUBLE)
    return call.filled(f"{named}({{0}}, {{1}}, true)")


def whole_days(arguments: Sequence[Argument]) -> list[Argument]:
    """Days are an INT: other numbers are not taken for one."""
    days = arguments[1] if len(arguments) == 2 else None
    if isinstance(days, Typed) and is_numeric(days.type) and not implicit(days.type, INT):
        message = f"days are an INT, not {name(days.type).upper()}"
        raise Refused(message, legal="CAST(n AS INT)", at=1)
    return list(arguments)
