"""Parts of dates and instants, and the calendar: EXTRACT, TRUNC, DATE_ADD, MONTHS_BETWEEN and such.

A TIMESTAMP is worked on as DuckDB's without a zone, in UTC (`cast_times.UTC`), since functions
of those with a zone are ten times as slow.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.cast import cast
from sqlwin.functions.casts.clocks import shown
from sqlwin.functions.casts.time_texts import UTC
from sqlwin.functions.core.entry import Call, Function, Overload, function, of
from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.functions.core.types import DATE, DOUBLE, INT, STRING, TINYINT, UNITS, is_interval
from sqlwin.functions.core.vectors import Vector, vector
from sqlwin.functions.instants.calendar import MONTHS, WEEKDAYS
from sqlwin.functions.times.buckets import BUCKETS
from sqlwin.functions.times.epochs import EPOCHS
from sqlwin.functions.times.made import MADE
from sqlwin.functions.times.sums.date_sums import DATE_SUMS
from sqlwin.functions.times.zoned import ZONED
from sqlwin.schema import TIMESTAMP

_PARTS = {
    "year": ("year({0})", "The year."),
    "quarter": ("quarter({0})", "The quarter of the year, from 1."),
    "month": ("month({0})", "The month, from 1."),
    "day dayofmonth": ("day({0})", "The day of the month."),
    "dayofyear": ("dayofyear({0})", "The day of the year, from 1."),
    "dayofweek": ("(dayofweek({0}) + 1)", "The day of the week, from 1 for Sunday."),
    "weekday": ("(isodow({0}) - 1)", "The day of the week, from 0 for Monday."),
    "weekofyear": ("week({0})", "The ISO week of the year."),
}
_CLOCK = {"hour": "The hour.", "minute": "The minute.", "second": "The second, without a fraction."}
DECIMAL_SECONDS = pa.decimal128(8, 6)
_MICRO = "CAST('0.000001' AS DECIMAL(7, 6))"
_SECONDS = f"CAST(microsecond({UTC}) * {_MICRO} AS DECIMAL(8, 6))"
_FIELDS: dict[str, str] = {
    **dict.fromkeys(("YEAR", "Y", "YEARS", "YR", "YRS"), "year({0})"),
    "YEAROFWEEK": "isoyear({0})",
    **dict.fromkeys(("QUARTER", "QTR"), "quarter({0})"),
    **dict.fromkeys(("MONTH", "MON", "MONS", "MONTHS"), "month({0})"),
    **dict.fromkeys(("WEEK", "W", "WEEKS"), "week({0})"),
    **dict.fromkeys(("DAY", "D", "DAYS"), "day({0})"),
    **dict.fromkeys(("DAYOFWEEK", "DOW"), "(dayofweek({0}) + 1)"),
    **dict.fromkeys(("DAYOFWEEK_ISO", "DOW_ISO"), "isodow({0})"),
    "DOY": "dayofyear({0})",
    **dict.fromkeys(("HOUR", "H", "HOURS", "HR", "HRS"), "hour({0})"),
    **dict.fromkeys(("MINUTE", "M", "MIN", "MINS", "MINUTES"), "minute({0})"),
}
_SECOND = ("SECOND", "S", "SEC", "SECONDS", "SECS")
_OF_INTERVALS: dict[str, tuple[str, str, pa.DataType]] = {
    "year({0})": ("YEAR", "CAST({0} // 12 AS INTEGER)", INT),
    "month({0})": ("MONTH", "CAST({0} % 12 AS TINYINT)", TINYINT),
    "day({0})": ("DAY", "CAST({0} // 86400000000 AS INTEGER)", INT),
    "hour({0})": ("HOUR", "CAST({0} // 3600000000 % 24 AS TINYINT)", TINYINT),
    "minute({0})": ("MINUTE", "CAST({0} // 60000000 % 60 AS TINYINT)", TINYINT),
    "second": (
        "SECOND",
        f"CAST(CAST({{0}} % 60000000 AS INTEGER) * {_MICRO} AS DECIMAL(8, 6))",
        DECIMAL_SECONDS,
    ),
}
"""Of a field's text for instants: the field, and the text and type for intervals."""


def _int(template: str) -> str:
    return f"CAST({template} AS INTEGER)"


def of_dates(result: str, template: str) -> tuple[Overload, Overload]:
    """Of a DATE, and of the date of a TIMESTAMP."""
    instants = template.replace("{0}", f"CAST({UTC} AS DATE)")
    return of(f"(DATE) -> {result}", template), of(f"(TIMESTAMP) -> {result}", instants)


def _field(call: Call | tuple[Typed | Body, ...]) -> tuple[str, pa.DataType]:
    """The template for a constant field, and its type; of an instant or an interval."""
    args = call.args if isinstance(call, Call) else call
    field, given = args[0], args[1]
    assert isinstance(field, Typed) and isinstance(given, Typed)
    if field.value is None:
        return "CAST(NULL AS DOUBLE)", DOUBLE
    upper = str(field.value).upper()
    template = "second" if upper in _SECOND else _FIELDS.get(upper)
    if is_interval(given.type):
        unit, text, type_ = _OF_INTERVALS.get(template or "", ("", "", INT))
        known = UNITS[UNITS.index(given.type.first) : UNITS.index(given.type.last) + 1]
        if unit in known:
            return text.replace("{0}", "{1}"), type_
        raise _no_field(str(field.value), ", ".join(known))
    if template is None:
        raise _no_field(str(field.value), "YEAR, QUARTER, MONTH, WEEK, DAY, DOW, DOY, HOUR, SECOND")
    if template == "second":
        return _SECONDS.replace("{0}", "{1}"), DECIMAL_SECONDS
    return _int(template.replace("{0}", _of_type(given.type))), INT


def _of_type(type_: pa.DataType) -> str:
    return "{1}" if type_ == DATE else UTC.replace("{0}", "{1}")


def _no_field(field: str, legal: str) -> Refused:
    return Refused(f"[INVALID_EXTRACT_FIELD] there is no field {field} here", legal, at=0)


def _extract(call: Call) -> str:
    template, type_ = _field(call)
    if call.type(1) == DATE and type_ == DECIMAL_SECONDS:
        return call.filled("CASE WHEN {1} IS NOT NULL THEN CAST(0 AS DECIMAL(8, 6)) END")
    return call.filled(template)


def _extract_text(call: Call) -> str:
    """A text is a date for the fields of one, and an instant for those of a time of day."""
    upper = str(call.args[0].value).upper() if isinstance(call.args[0], Typed) else ""
    is_time = upper in _SECOND or _FIELDS.get(upper, "").startswith(("hour", "minute"))
    given = call.args[1]
    assert isinstance(given, Typed)
    made = shown(cast(given, TIMESTAMP)) if is_time else cast(given, DATE)
    return _extract(Call((call.args[0], made), call.result))


def _extracted(signature: str, strict: bool = False) -> Overload:
    return of(signature, _extract, typing=lambda args: _field(args)[1], strict=strict)


def _names(words: tuple[str, ...]) -> Callable[[pa.Array], pa.Array]:
    short = pa.array([word[:3] for word in words], STRING)
    return lambda numbers: short.take(pc.subtract(numbers, 1))


_day_name = vector("dayname")(_names(WEEKDAYS))
_month_name = vector("monthname")(_names(MONTHS))


def _named(names: Vector, part: str) -> tuple[Overload, Overload]:
    called = names.named([INT], STRING)
    return of_dates("STRING", f"{called}({_int(part)})")


FUNCTIONS: tuple[Function, ...] = (
    *(function(n, *of_dates("INT", _int(t)), doc=doc) for n, (t, doc) in _PARTS.items()),
    *(
        function(n, of("(TIMESTAMP) -> INT", _int(f"{n}({UTC})")), doc=doc)
        for n, doc in _CLOCK.items()
    ),
    function(
        "extract date_part datepart",
        _extracted("(STRING!, DATE)", strict=True),
        _extracted("(STRING!, TIMESTAMP)", strict=True),
        of("(STRING!, STRING)", _extract_text, typing=lambda args: _field(args)[1], fails=True),
        _extracted("(STRING!, INTERVAL_YM)"),
        _extracted("(STRING!, INTERVAL_DT)"),
        doc="A field of a date, an instant or an interval: EXTRACT(HOUR FROM ts).",
    ),
    function("dayname", *_named(_day_name, "isodow({0})"), doc="`Mon` and such."),
    function("monthname", *_named(_month_name, "month({0})"), doc="`Jan` and such."),
    function("last_day", *of_dates("DATE", "last_day({0})"), doc="The last day of the month."),
    *DATE_SUMS,
    *BUCKETS,
    *MADE,
    *EPOCHS,
    *ZONED,
)
