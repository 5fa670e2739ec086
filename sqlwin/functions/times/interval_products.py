"""Products and quotients of intervals, and of an interval by another.

Invariant: a product is computed exactly and rounded once, half up, and one that a month or a
microsecond count cannot hold is an error of its row.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa

from sqlwin.functions.core.entry import Call, Overload, failing, of
from sqlwin.functions.core.typed import Body, Typed
from sqlwin.functions.core.types import INT, Interval, is_integral
from sqlwin.functions.core.vectors import Vector, by_value, vector


def in_order(one: str, other: str, at: int) -> tuple[str, str]:
    return (one, other) if at == 0 else (other, one)


_EXACT = Context(prec=80)
_LIMITS = {True: 2**31, False: 2**63}


def rounded(value: Decimal, is_months: bool) -> int:
    made = int(value.to_integral_value(ROUND_HALF_UP))
    if not -_LIMITS[is_months] <= made < _LIMITS[is_months]:
        raise ValueError("[INTERVAL_ARITHMETIC_OVERFLOW] an interval is too long")
    return made


def _number(value: Any) -> Decimal:
    made = Decimal(value) if isinstance(value, int | float) else value
    if not made.is_finite():
        raise ValueError("[INVALID_INPUT] an interval times what is infinite or NaN")
    return Decimal(made)


def _times(value: int, number: Any, is_months: bool) -> int:
    return rounded(_EXACT.multiply(Decimal(value), _number(number)), is_months)


def _over(value: int, number: Any, is_months: bool) -> int:
    if number == 0:
        raise ValueError("[INTERVAL_DIVIDED_BY_ZERO] Division by zero. Use try_divide")
    if isinstance(number, float) and number in (float("inf"), float("-inf")):
        return 0
    return rounded(_EXACT.divide(Decimal(value), _number(number)), is_months)


@vector("interval_times", typed=True)
def product(type_: pa.DataType, intervals: pa.Array, numbers: pa.Array) -> pa.Array:
    is_months = type_ == INT
    return by_value(lambda v, n: _times(v, n, is_months), intervals, numbers, type=type_)


@vector("interval_over", typed=True)
def quotient(type_: pa.DataType, intervals: pa.Array, numbers: pa.Array) -> pa.Array:
    is_months = type_ == INT
    return by_value(lambda v, n: _over(v, n, is_months), intervals, numbers, type=type_)


def _whole(args: tuple[Typed | Body, ...]) -> pa.DataType:
    found = next(a.type for a in args if isinstance(a, Typed) and isinstance(a.type, Interval))
    return found.whole


def scaled(vector_: Vector, swapped: bool = False) -> tuple[Overload, ...]:
    def how(call: Call) -> str:
        interval, number = reversed(call.args) if swapped else call.args
        assert isinstance(interval, Typed) and isinstance(number, Typed)
        if vector_ is product and is_integral(number.type):
            return f"CAST({interval.sql} * {number.sql} AS {call.engine_type})"
        named = vector_.named([interval.type, number.type], call.result)
        return f"{named}({interval.sql}, {number.sql})"

    kinds = ("INTERVAL_DT", "INTERVAL_YM")
    takes = (f"({', '.join(in_order(kind, 'N', int(swapped)))})" for kind in kinds)
    return tuple(of(signature, how, typing=_whole, fails=True) for signature in takes)


def div(family: str) -> Overload:
    zero = failing("DIVIDE_BY_ZERO", "Division by zero. Use try_divide")
    text = f"CASE WHEN {{1}} = 0 THEN {zero} ELSE CAST({{0}} // {{1}} AS BIGINT) END"
    return of(f"({family}, {family}) -> BIGINT", text, fails=True)
