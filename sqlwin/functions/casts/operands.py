"""What operands of an operator become beside each other, before its overloads are tried.

A STRING beside a number is one: a BIGINT beside an integral number, else a DOUBLE. A written
number without a fraction has, beside a decimal, as many digits as it is written with.

>>> from dataclasses import replace
>>> two = replace(literal(2, pa.int32()), written=True)
>>> str(beside([Typed("d", pa.decimal128(10, 2)), two])[1].type)
'decimal128(1, 0)'
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Argument, Typed
from sqlwin.functions.core.types import (
    DOUBLE,
    NULL,
    STRING,
    is_decimal,
    is_integral,
    is_numeric,
    is_struct,
)
from sqlwin.functions.core.widening import widest


def beside(arguments: Sequence[Argument], safe: bool = False) -> list[Argument]:
    """Two operands, each as it is beside the other. safe: a text that is no number is NULL."""
    if len(arguments) != 2 or not all(isinstance(arg, Typed) for arg in arguments):
        return list(arguments)
    one, other = arguments
    assert isinstance(one, Typed) and isinstance(other, Typed)
    return [_beside(one, other.type, safe), _beside(other, one.type, safe)]


def remaining(arguments: Sequence[Argument]) -> list[Argument]:
    """As `beside`; where both are NULL, DOUBLEs."""
    made = beside(arguments)
    nulls = [arg for arg in made if isinstance(arg, Typed) and arg.type == NULL]
    return [cast(arg, DOUBLE) for arg in nulls] if len(nulls) == len(made) else made


def _beside(given: Typed, other: pa.DataType, safe: bool) -> Typed:
    if given.type == STRING and (is_numeric(other) or other == NULL):
        wanted = widest(STRING, other) if is_numeric(other) else DOUBLE
        assert wanted is not None
        return cast(given, wanted, safe=safe, implicitly=True)
    if is_decimal(other) and given.written and is_integral(given.type):
        return literal(Decimal(given.value), pa.decimal128(len(str(abs(given.value))), 0))
    return given


def compared(arguments: Sequence[Argument]) -> list[Argument]:
    """As `beside`, but a STRING beside a STRING or NULL stays one. Structs go by position."""
    types = [arg.type for arg in arguments if isinstance(arg, Typed)]
    if set(types) <= {STRING, NULL}:
        return list(arguments)
    made = beside(arguments)
    return [renamed(arg, types[0]) if isinstance(arg, Typed) else arg for arg in made]


def renamed(given: Typed, like: pa.DataType) -> Typed:
    """A struct with the names of another of as many fields: they are compared by position."""
    if not (is_struct(like) and is_struct(given.type)):
        return given
    if like.num_fields != given.type.num_fields:
        return given
    fields = zip(like, given.type, strict=True)
    return cast(given, pa.struct([(mine.name, yours.type) for mine, yours in fields]))


def divided(arguments: Sequence[Argument], safe: bool = False) -> list[Argument]:
    """As `beside`; numbers of which none is a decimal are DOUBLEs."""
    made = beside(arguments, safe)
    types = [arg.type for arg in made if isinstance(arg, Typed)]
    if len(types) != 2 or any(map(is_decimal, types)):
        return made
    if not all(is_numeric(type_) or type_ == NULL for type_ in types):
        return made
    return [cast(arg, DOUBLE, implicitly=True) for arg in made if isinstance(arg, Typed)]


def beside_safely(arguments: Sequence[Argument]) -> list[Argument]:
    return beside(arguments, safe=True)


def divided_safely(arguments: Sequence[Argument]) -> list[Argument]:
    return divided(arguments, safe=True)
