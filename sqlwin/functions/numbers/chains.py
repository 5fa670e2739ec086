"""Sums and products of integral numbers, in the order in which Spark's optimizer computes them.

It takes all operands of a chain of one sign, makes one number of the constants, and puts it last:
`(n + 1) + m` is `(n + m) + 1`, which overflows for other rows. The form at the root, plain or
TRY_, is that of all: `try_add(n, 1) + 1` is `n + 2`, which raises.

>>> from sqlwin.functions.core.types import INT
>>> n, m, one = Typed("n", INT), Typed("m", INT), Typed("1", INT, 1)
>>> plus = lambda x, y: Typed(f"{x.sql} + {y.sql}", INT)
>>> inner = chained("+", (n, one), INT, plus)
>>> inner.sql, chained("+", (inner, m), INT, plus).sql
('n + 1', 'n + m + CAST(1 AS INTEGER)')

Where the constants overflow among themselves, so does the chain for every row, even one with a
NULL: `1 + n + 2147483647` raises, and `try_add(n + 2147483647, 1)` is NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

import pyarrow as pa

from sqlwin.functions.core.entry import failing
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import engine_name

SIGNS = {"+": "+", "try_add": "+", "*": "*", "try_multiply": "*"}
_OF_CONSTANTS: dict[str, Callable[[Sequence[int]], int]] = {"+": sum, "*": math.prod}
Two = Callable[[Typed, Typed], Typed]


def chained(function: str, args: Sequence[Typed], type_: pa.DataType, two: Two) -> Typed:
    """two: the function of two operands."""
    sign = SIGNS[function]
    operands = tuple(part for arg in args for part in _flat(arg, sign, type_))
    constants = [part for part in operands if part.is_constant]
    others = [part for part in operands if not part.is_constant]
    values = [part.value for part in constants]
    as_it_is = not values or (len(operands) == 2 and others)
    if as_it_is or None in values:
        return replace(two(*args), chain=(sign, operands))
    whole = _of_constants(sign, values, type_)
    if whole is None:
        return _overflowing(function, type_) if others else two(*args)
    made = reduce(two, [*others, whole])
    return replace(made, chain=(sign, (*others, whole)))


def _flat(arg: Typed, sign: str, type_: pa.DataType) -> tuple[Typed, ...]:
    """Its operands if it is a chain of this sign and type, or else itself."""
    of, operands = arg.chain
    return operands if of == sign and arg.type == type_ else (arg,)


def _of_constants(sign: str, values: Sequence[int], type_: pa.DataType) -> Typed | None:
    """None where it overflows."""
    made = _OF_CONSTANTS[sign](values)
    limit = 2 ** (type_.bit_width - 1)
    return literal(made, type_) if -limit <= made < limit else None


def _overflowing(function: str, type_: pa.DataType) -> Typed:
    if function.startswith("try_"):
        return literal(None, type_)
    message = failing("ARITHMETIC_OVERFLOW", f"constants of {function} overflow")
    return Typed(f"CAST({message} AS {engine_name(type_)})", type_, fails=True)
