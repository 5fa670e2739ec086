"""Intervals made of numbers: MAKE_DT_INTERVAL and MAKE_YM_INTERVAL, and what they give in SQL."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BIGINT, DAY_TIME, INT, YEAR_MONTH
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.times.interval_products import rounded


@vector("dt_interval")
def _of_parts(*parts: pa.Array) -> pa.Array:
    return by_value(_parts, *parts, type=BIGINT)


def _parts(days: int, hours: int, minutes: int, seconds: Decimal) -> int:
    whole = (days * 24 + hours) * 60 + minutes
    return rounded(Decimal(whole * 60_000_000 + int(seconds.scaleb(6))), False)


_SECONDS = pa.decimal128(18, 6)
_TYPES = (INT, INT, INT, _SECONDS)


def _make_dt(call: Call) -> str:
    given = [
        cast(arg, t) for arg, t in zip(call.args, _TYPES, strict=False) if isinstance(arg, Typed)
    ]
    missing = [
        Typed(f"CAST(0 AS {'DECIMAL(18, 6)' if t is _SECONDS else 'INTEGER'})", t) for t in _TYPES
    ]
    parts = [*given, *missing[len(given) :]]
    made = f"{_of_parts.named(list(_TYPES), BIGINT)}({', '.join(part.sql for part in parts)})"
    if not parts[-1].fails:
        return made
    known = " AND ".join(f"{part.sql} IS NOT NULL" for part in parts[:-1])
    return f"CASE WHEN {known} THEN {made} END"


def _make_ym(call: Call) -> str:
    years = "{0}" if call.args else "0"
    months = "{1}" if len(call.args) > 1 else "0"
    return call.filled(f"CAST(CAST({years} AS BIGINT) * 12 + {months} AS INTEGER)")


def _month_result(*_: pa.DataType) -> pa.DataType:
    return YEAR_MONTH


def _time_result(*_: pa.DataType) -> pa.DataType:
    return DAY_TIME


MADE_INTERVALS: tuple[Function, ...] = (
    function(
        "make_ym_interval",
        of("(INT?, INT?)", _make_ym, result=_month_result, fails=True),
        doc="An interval of years and months.",
    ),
    function(
        "make_dt_interval",
        of("(INT?, INT?, INT?, N?)", _make_dt, result=_time_result, fails=True),
        doc="An interval of days, hours, minutes and seconds.",
    ),
)
