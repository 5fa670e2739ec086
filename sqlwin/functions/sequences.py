"""SEQUENCE: from a start to a stop, both included, of numbers, dates or instants.

By months each is counted from the start: 31 January, 29 February, 31 March.

>>> _dates(19753, 19813, 1)
[19753, 19782, 19813]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile

import pyarrow as pa

from sqlwin.functions.entry import Call, Function, function, of
from sqlwin.functions.limits import ELEMENTS
from sqlwin.functions.nested import bounded, made, values
from sqlwin.functions.types import DATE, DAY_TIME
from sqlwin.functions.vectors import Vector, vector

_DAY = 86_400_000_000
Steps = Callable[[int, int, int | None], list[int]]


def _checked(start: int, stop: int, step: int) -> None:
    if (step == 0 and start != stop) or (step > 0 and start > stop) or (step < 0 and start < stop):
        raise ValueError(f"Illegal sequence boundaries: {start} to {stop} by {step}")


def _numbers(start: int, stop: int, step: int | None) -> list[int]:
    by = (1 if start <= stop else -1) if step is None else step
    _checked(start, stop, by)
    if by == 0:
        return [start]
    bounded((stop - start) // by + 1, "SEQUENCE")
    return list(range(start, stop + (1 if by > 0 else -1), by))


def _by_micros(start: int, stop: int, step: int | None) -> list[int]:
    return _numbers(start, stop, (_DAY if start <= stop else -_DAY) if step is None else step)


def _days(start: int, stop: int, step: int | None) -> list[int]:
    """Of dates, by a time that need not be whole days, but one at least."""
    if step is None:
        return _numbers(start, stop, None)
    if abs(step) < _DAY:
        raise ValueError("a SEQUENCE of dates goes by a day at least")
    return [micros // _DAY for micros in _numbers(start * _DAY, stop * _DAY, step)]


def _dates(start: int, stop: int, step: int | None) -> list[int]:
    assert step is not None
    _checked(start, stop, step)
    bounded((stop - start) // (step * 28) + 1 if step else 1, "SEQUENCE")
    return _within((months_later(start, step * at) for at in range(ELEMENTS)), stop, step)


def _instants(start: int, stop: int, step: int | None) -> list[int]:
    assert step is not None
    _checked(start, stop, step)
    bounded((stop - start) // (step * 28 * _DAY) + 1 if step else 1, "SEQUENCE")
    day, rest = divmod(start, _DAY)
    made = (months_later(day, step * at) * _DAY + rest for at in range(ELEMENTS))
    return _within(made, stop, step)


def _within(found: Iterable[int], stop: int, step: int) -> list[int]:
    if step == 0:
        return [stop]
    return list(takewhile(lambda at: at <= stop if step > 0 else at >= stop, found))


def months_later(day: int, months: int) -> int:
    """A day since 1970, so many months later, in the same or the last day of its month."""
    year, month, of_month = _civil(day)
    years, month0 = divmod(year * 12 + month - 1 + months, 12)
    first = _day_of(years, month0 + 1)
    last = _day_of(years + (month0 == 11), (month0 + 1) % 12 + 1) - first
    return first + min(of_month, last) - 1


def _civil(day: int) -> tuple[int, int, int]:
    """Year, month and day of the proleptic Gregorian calendar (H. Hinnant's civil_from_days)."""
    era, of_era = divmod(day + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    of_month = of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year + era * 400 + (month <= 2), month, of_month


def _day_of(year: int, month: int) -> int:
    """Of the first of a month, since 1970."""
    era, of_era = divmod(year - (month <= 2), 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _sequence(name: str, steps: Steps) -> Vector:
    def sequence(result: pa.DataType, *bounds: pa.Array) -> pa.Array:
        columns = [values(array) for array in bounds]
        rows = zip(*columns, strict=True)
        found = [
            None if None in row else steps(row[0], row[1], *(row[2:] or [None])) for row in rows
        ]
        return made(found, result)

    return vector(name, typed=True)(sequence)


_NUMBERS = _sequence("sequence", _numbers)
_DAYS = _sequence("sequencedays", _days)
_MICROS = _sequence("sequencemicros", _by_micros)
_DATE_MONTHS = _sequence("sequencedates", _dates)
_INSTANT_MONTHS = _sequence("sequenceinstants", _instants)


def _typed(call: Call, chosen: Vector) -> str:
    types = [call.type(at) for at in range(len(call.args))]
    return f"{chosen.named(types, call.result)}({', '.join(call.texts)})"


def _of_times(call: Call) -> str:
    dates = call.type(0) == DATE
    if len(call.args) == 2 or call.type(2) == DAY_TIME:
        return _typed(call, _DAYS if dates else _MICROS)
    return _typed(call, _DATE_MONTHS if dates else _INSTANT_MONTHS)


FUNCTIONS: tuple[Function, ...] = (
    function(
        "sequence",
        of("(I, I, I?) -> ARRAY<I>", _NUMBERS),
        *(
            of(f"({type_}, {type_}, {step}) -> ARRAY<{type_}>", _of_times, fails=True)
            for type_ in ("DATE", "TIMESTAMP")
            for step in ("INTERVAL_DT?", "INTERVAL_YM")
        ),
        doc="The numbers, dates or instants from one to another, by a step: 1, or a day.",
    ),
)
