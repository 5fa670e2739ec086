"""SEQUENCE: from a start to a stop, both included, of numbers, dates or instants.

By months each is counted from the start: 31 January, 29 February, 31 March.

>>> _dates(19753, 19813, 1)
[19753, 19782, 19813]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.nested_values import bounded, made, values
from sqlwin.functions.core.types import DATE
from sqlwin.functions.core.vectors import Vector, vector
from sqlwin.functions.instants.calendar import plus_months

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
    return _by_months(start, step, (stop - start) // (step * 28) if step else 0, stop)


def _instants(start: int, stop: int, step: int | None) -> list[int]:
    assert step is not None
    _checked(start, stop, step)
    day, rest = divmod(start, _DAY)
    last = (stop - rest) // _DAY if step > 0 else -((rest - stop) // _DAY)
    found = _by_months(day, step, (last - day) // (step * 28) if step else 0, last)
    return [at * _DAY + rest for at in found]


def _by_months(start: int, step: int, most: int, stop: int) -> list[int]:
    """most: how many there may be behind the first."""
    count = bounded(max(most, 0) + 1, "SEQUENCE")
    found = plus_months(np.full(count, start), step * np.arange(count))
    return found[found <= stop if step >= 0 else found >= stop].tolist()  # type: ignore[no-any-return]


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
    if len(call.args) == 2 or not call.type(2).is_months:
        return _typed(call, _DAYS if dates else _MICROS)
    return _typed(call, _DATE_MONTHS if dates else _INSTANT_MONTHS)


FUNCTIONS: tuple[Function, ...] = (
    function(
        "sequence",
        of("(I, I, I?) -> ARRAY<I>", _NUMBERS),
        *(
            of(f"({type_}, {type_}, {step}) -> ARRAY<{type_}>", _of_times, fails=True)
            for type_ in ("DATE", "TIMESTAMP_NTZ", "TIMESTAMP")
            for step in ("INTERVAL_DT?", "INTERVAL_YM")
        ),
        doc="The numbers, dates or instants from one to another, by a step: 1, or a day.",
    ),
)
