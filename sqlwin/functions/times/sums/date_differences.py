"""Differences of dates and instants, in whole days, months, or units of a clock."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sqlwin.functions.core.entry import Call, failing
from sqlwin.functions.core.typed import Argument, Refused, Typed
from sqlwin.functions.core.types import BIGINT, INT, is_numeric, name
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.core.widening import implicit
from sqlwin.functions.instants.calendar import whole_months
from sqlwin.functions.instants.iso import masked, micros
from sqlwin.functions.times.sums.units import MICROS, MONTHS, no_unit, unit_of
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


def whole_days(arguments: Sequence[Argument]) -> list[Argument]:
    """Days are an INT: other numbers are not taken for one."""
    days = arguments[1] if len(arguments) == 2 else None
    if isinstance(days, Typed) and is_numeric(days.type) and not implicit(days.type, INT):
        message = f"days are an INT, not {name(days.type).upper()}"
        raise Refused(message, legal="CAST(n AS INT)", at=1)
    return list(arguments)
