"""The specification, row by row: aggregates, windows and frames in plain Python.

Nothing here is fast, and nothing is shared with the folds: a value is computed
from the list of rows that take part, from scratch, in the arithmetic of
`fractions` and `math.fsum`. The fast kernels are tested against it, and expected
results are written by it.

Rows are dicts of Python values, sorted by (__ts, __part, __seq).

>>> rows = [{"x": 1, "y": 5}, {"x": None, "y": 9}, {"x": 3, "y": 9}]
>>> [aggregate(f, ("x",), pa.int64(), rows) for f in ("count", "sum", "max", "last")]
[2, 4, 3, 3]
>>> aggregate("arg_max", ("x", "y"), pa.int64(), rows) is None  # the first of the tie has no x
True
>>> windows_holding(70, Hop(60, 30))
[30, 60]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from sqlwin.schema import TS
from sqlwin.windows import Frame, Hop, Unit

Row = Mapping[str, Any]
Rows = Sequence[Row]
Values = list[Any]


class OutOfRange(Exception):
    """An exact value that its type cannot hold."""


def aggregate(
    function: str,
    args: tuple[str, ...],
    type_: pa.DataType,
    rows: Rows,
    where: str | None = None,
) -> Any:
    """The value of a function over rows; `where` names a column that must be true."""
    taking = [row for row in rows if where is None or row[where] is True]
    if function in _OF_ROWS:
        return _OF_ROWS[function](args, taking)
    values = [row[args[0]] for row in taking if row[args[0]] is not None]
    return _OF_VALUES[function](values, type_) if values else None


# Of whole rows: NULLs count, or are the answer.


def _count(args: tuple[str, ...], rows: Rows) -> int:
    return sum(1 for row in rows if not args or row[args[0]] is not None)


def _first(args: tuple[str, ...], rows: Rows) -> Any:
    return rows[0][args[0]] if rows else None


def _last(args: tuple[str, ...], rows: Rows) -> Any:
    return rows[-1][args[0]] if rows else None


def _arg_min(args: tuple[str, ...], rows: Rows) -> Any:
    known = [row for row in rows if row[args[1]] is not None]
    return min(known, key=lambda row: ascending(row[args[1]]))[args[0]] if known else None


def _arg_max(args: tuple[str, ...], rows: Rows) -> Any:
    known = [row for row in rows if row[args[1]] is not None]
    return max(known, key=lambda row: ascending(row[args[1]]))[args[0]] if known else None


_OF_ROWS: dict[str, Callable[[tuple[str, ...], Rows], Any]] = {
    "count": _count,
    "first": _first,
    "last": _last,
    "arg_min": _arg_min,
    "arg_max": _arg_max,
}


# Of the values that are not NULL; there is at least one.


def _sum(values: Values, type_: pa.DataType) -> Any:
    return plain_sum(values) if pa.types.is_floating(type_) else fitted(exact_sum(values), type_)


def _avg(values: Values, type_: pa.DataType) -> Any:
    if pa.types.is_decimal(type_):
        return fitted(exact_sum(values) / len(values), type_)
    if isinstance(values[0], float):
        return plain_sum(values) / len(values)
    return float(exact_sum(values) / len(values))


def _moment(lost: int, root: bool) -> Callable[[Values, pa.DataType], float | None]:
    def moment(values: Values, type_: pa.DataType) -> float | None:
        if len(values) <= lost:
            return None
        floats = [float(value) for value in values]
        mean = plain_sum(floats) / len(floats)
        variance = plain_sum([(x - mean) * (x - mean) for x in floats]) / (len(floats) - lost)
        return math.sqrt(variance) if root else variance

    return moment


_OF_VALUES: dict[str, Callable[[Values, pa.DataType], Any]] = {
    "sum": _sum,
    "avg": _avg,
    "min": lambda values, type_: min(values, key=ascending),
    "max": lambda values, type_: max(values, key=ascending),
    "bool_and": lambda values, type_: all(values),
    "bool_or": lambda values, type_: any(values),
    "stddev_samp": _moment(lost=1, root=True),
    "stddev_pop": _moment(lost=0, root=True),
    "var_samp": _moment(lost=1, root=False),
    "var_pop": _moment(lost=0, root=False),
}


def ascending(value: Any) -> tuple[bool, Any]:
    """A key to order values by: NaN is greater than every number, and equal to itself."""
    nan = isinstance(value, float) and math.isnan(value)
    return nan, 0 if nan else value


def plain_sum(values: Values) -> float:
    """Floats added with one rounding at the end; what is not finite adds as in IEEE 754."""
    if all(math.isfinite(value) for value in values):
        return math.fsum(values)
    return sum(value for value in values if not math.isfinite(value))  # type: ignore[no-any-return]


def exact_sum(values: Values) -> Fraction:
    return sum((Fraction(value) for value in values), Fraction(0))


def fitted(value: Fraction, type_: pa.DataType) -> int | Decimal:
    """`value` in an integer or decimal type, ties away from zero; OutOfRange beyond it."""
    scale = type_.scale if pa.types.is_decimal(type_) else 0
    units = _half_up(value * 10**scale)
    if pa.types.is_decimal(type_):
        if abs(units) >= 10**type_.precision:
            raise OutOfRange
        return Decimal((int(units < 0), tuple(int(d) for d in str(abs(units))), -scale))
    if not -(2 ** (type_.bit_width - 1)) <= units < 2 ** (type_.bit_width - 1):
        raise OutOfRange
    return units


def _half_up(value: Fraction) -> int:
    away = math.floor(abs(value) + Fraction(1, 2))
    return away if value >= 0 else -away


# Windows and frames.


def windows_holding(at: int, hop: Hop) -> list[int]:
    """Starts of the windows that hold an instant, or a message of that number from 1."""
    counted = hop.unit is Unit.ROWS
    aligned = hop.offset + (1 if counted else 0)
    starts = range(at - hop.size + 1, at + 1)
    if counted:
        return [s for s in starts if s >= aligned and (s - aligned) % hop.advance == 0]
    first = starts[0] + (aligned - starts[0]) % hop.advance
    return list(range(first, at + 1, hop.advance))


def frame_of(rows: Rows, at: int, frame: Frame) -> list[Row]:
    """The rows in the frame of `rows[at]`; `rows`: one partition, sorted by position."""
    if frame.unit is Unit.ROWS:
        return list(rows[max(0, at - frame.preceding) : at + 1])
    now = rows[at][TS]
    return [row for row in rows if now - frame.preceding <= row[TS] <= now]
