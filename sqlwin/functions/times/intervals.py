"""Intervals, and arithmetic with them: sums with dates and instants, products, quotients.

An interval is a number of months or of microseconds (see `types.Interval`), so that sums and
comparisons are DuckDB's own. A DATE stays one with months, with days and with a number; with
hours or less it is an instant.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.casts.clocks import at_clock
from sqlwin.functions.casts.time_texts import UTC
from sqlwin.functions.casts.times import MIDNIGHT
from sqlwin.functions.core.entry import Call, Function, Overload, of
from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.functions.core.types import DATE, STRING, Interval
from sqlwin.functions.core.widening import widest
from sqlwin.functions.instants.interval_texts import parsed, with_units
from sqlwin.functions.times.gaps import GAPS
from sqlwin.functions.times.interval_products import div, in_order, product, quotient, scaled
from sqlwin.functions.times.made_intervals import MADE_INTERVALS
from sqlwin.functions.times.sums.date_sums import plus_days
from sqlwin.functions.times.sums.units import back
from sqlwin.schema import TIMESTAMP

_DAY = Interval("DAY")


def literal(text: str, fields: Interval | None, sign: int = 1) -> Typed:
    """INTERVAL '…' with the fields behind it, or with units within the text. sign: -1 for what
    stands behind a minus."""
    try:
        if fields is None:
            value, type_ = with_units(text, sign)
        else:
            value, type_ = parsed(text, fields, sign), fields
    except ValueError as error:
        legal = (
            "INTERVAL '2' DAY, INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 02:03:04' DAY TO SECOND"
        )
        raise Refused(str(error), legal) from None
    engine = "INTEGER" if type_.is_months else "BIGINT"
    return Typed(f"CAST('{value}' AS {engine})", type_, value)


def _type(args: tuple[Typed | Body, ...], at: int) -> pa.DataType:
    arg = args[at]
    assert isinstance(arg, Typed)
    return arg.type


def _joined(args: tuple[Typed | Body, ...]) -> pa.DataType:
    return widest(_type(args, 0), _type(args, 1))


def _of_family(family: str, sign: str) -> Overload:
    return of(f"({family}, {family})", f"({{0}} {sign} {{1}})", typing=_joined, fails=True)


def _months_added(sign: str, date: int) -> str:
    """To a DATE or a TIMESTAMP, the other argument than the months."""
    return f"{{{date}}} {sign} to_months({{{1 - date}}})"


def _date_and_time(args: tuple[Typed | Body, ...]) -> pa.DataType:
    given = next(arg.type for arg in args if isinstance(arg, Typed) and arg.type != DATE)
    return DATE if given == _DAY else TIMESTAMP


def _date_plus(sign: str, date: int) -> Overload:
    """date: which argument is one; the other is days or less."""

    def how(call: Call) -> str:
        if call.result == DATE:
            days = f"CAST({{{1 - date}}} // 86400000000 AS INTEGER)"
            return call.filled(f"({{{date}}} {sign} {days})")
        midnight = at_clock(MIDNIGHT.replace("{0}", f"{{{date}}}"))
        return call.filled(f"make_timestamptz(epoch_us({midnight}) {sign} {{{1 - date}}})")

    takes = "(DATE, INTERVAL_DT)" if date == 0 else "(INTERVAL_DT, DATE)"
    return of(takes, how, typing=_date_and_time, fails=True, strict=True)


def _instant_plus(sign: str, instant: int) -> tuple[Overload, Overload]:
    utc = UTC.replace("{0}", f"{{{instant}}}")
    micros = f"make_timestamptz(epoch_us({{{instant}}}) {sign} {{{1 - instant}}})"
    months = back(f"{utc} {sign} to_months({{{1 - instant}}})")
    kinds = ["INTERVAL_DT", "INTERVAL_YM"]
    takes = [f"({', '.join(in_order('TIMESTAMP', kind, instant))}) -> TIMESTAMP" for kind in kinds]
    return (
        of(takes[0], micros, fails=True, strict=True),
        of(takes[1], months, fails=True, strict=True),
    )


def _text_plus(sign: str, text: int) -> Overload:
    """A text is read as an instant, and is one again."""

    def how(call: Call) -> str:
        given, interval = call.args[text], call.args[1 - text]
        assert isinstance(given, Typed) and isinstance(interval, Typed)
        moment = cast(given, TIMESTAMP)
        sql = f"make_timestamptz(epoch_us({moment.sql}) {sign} {interval.sql})"
        return cast(Typed(sql, TIMESTAMP), STRING).sql

    takes = ", ".join(in_order("STRING", "INTERVAL_DT", text))
    return of(f"({takes}) -> STRING", how, fails=True, strict=True)


def _days_first(sign: str) -> Overload:
    """`1 + DATE '2024-02-29'`."""
    inner = plus_days(sign)

    def how(call: Call) -> str:
        return inner.text(Call((call.args[1], call.args[0]), call.result))

    return of("(INT, DATE) -> DATE", how, strict=True)


def _months(sign: str, date: int) -> Overload:
    takes = ", ".join(in_order("DATE", "INTERVAL_YM", date))
    text = f"CAST({_months_added(sign, date)} AS DATE)"
    return of(f"({takes}) -> DATE", text, fails=True, strict=True)


def _strict(overload: Overload) -> Overload:
    return of(overload.signature.text, overload.how, fails=overload.fails, strict=True)


def _as_day(*_: pa.DataType) -> pa.DataType:
    return _DAY


_DATES = of("(DATE, DATE)", "(CAST({0} - {1} AS BIGINT) * 86400000000)", result=_as_day, fails=True)
_INSTANTS = of(
    "(TIMESTAMP, TIMESTAMP) -> INTERVAL_DT", "(epoch_us({0}) - epoch_us({1}))", fails=True
)
_NONE = "CAST(NULL AS {result})"
_PLUS = (
    of("(DATE, VOID) -> TIMESTAMP", _NONE, strict=True),
    of("(VOID, DATE) -> TIMESTAMP", _NONE, strict=True),
    *(_of_family("INTERVAL_DT", "+"), _of_family("INTERVAL_YM", "+")),
    *(_strict(plus_days("+")), _days_first("+"), _months("+", 0), _months("+", 1)),
    *(_date_plus("+", 0), _date_plus("+", 1), *_instant_plus("+", 0), *_instant_plus("+", 1)),
    *(_text_plus("+", 0), _text_plus("+", 1)),
)
_MINUS = (
    *(_of_family("INTERVAL_DT", "-"), _of_family("INTERVAL_YM", "-")),
    *(_strict(plus_days("-")), _months("-", 0), _date_plus("-", 0), *_instant_plus("-", 0)),
    *(_text_plus("-", 0), _DATES, _INSTANTS),
)


def _both(text: str, result: str = "", fails: bool = False) -> tuple[Overload, Overload]:
    families = ("INTERVAL_DT", "INTERVAL_YM")
    made = [of(f"({f}) -> {result or f}", text, fails=fails) for f in families]
    return made[0], made[1]


def _tried(overload: Overload) -> Overload:
    """NULL where it fails."""
    text = overload.text

    def how(call: Call) -> str:
        return f"TRY({text(call)})"

    return replace(overload, how=how, fails=False)


_OPERATORS: dict[str, tuple[Overload, ...]] = {
    "+": _PLUS,
    "-": _MINUS,
    "*": (*scaled(product), *scaled(product, swapped=True)),
    "/": scaled(quotient),
    "div": (div("INTERVAL_DT"), div("INTERVAL_YM")),
}
MORE: dict[str, tuple[Overload, ...]] = {
    **_OPERATORS,
    "try_add": tuple(map(_tried, _PLUS)),
    "try_subtract": tuple(map(_tried, _MINUS)),
    "try_multiply": tuple(map(_tried, _OPERATORS["*"])),
    "try_divide": tuple(map(_tried, _OPERATORS["/"])),
    "negative": _both("(-{0})", fails=True),
    "positive": _both("{0}"),
    "abs": _both("abs({0})", fails=True),
    "sign": _both("CAST(sign({0}) AS DOUBLE)", "DOUBLE"),
}
FUNCTIONS: tuple[Function, ...] = (*GAPS, *MADE_INTERVALS)
