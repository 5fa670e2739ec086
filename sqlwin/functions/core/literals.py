"""Constants as text of DuckDB, and constants of one type as constants of another.

>>> literal(Decimal("1.50"), pa.decimal128(3, 2)).sql
"CAST('1.50' AS DECIMAL(3, 2))"
>>> converted(literal(2, pa.int32()), pa.float64()).sql
"CAST('2.0' AS DOUBLE)"
>>> converted(literal(300, pa.int32()), pa.int8()) is None
True
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    MOST_DIGITS,
    SMALLINT,
    STRING,
    TINYINT,
    engine_name,
    is_decimal,
    is_integral,
    name,
)

_EXACT = Context(prec=400)


def literal(value: Any, type_: pa.DataType) -> Typed:
    """A constant of an atomic type that is no instant: its value as Python has it, or None."""
    return Typed(_text(value, type_), type_, value)


def _text(value: Any, type_: pa.DataType) -> str:
    engine = engine_name(type_)
    if value is None:
        return f"CAST(NULL AS {engine})"
    if type_ == STRING:
        return _quoted(value)
    if type_ == BINARY:
        return f"unhex('{value.hex()}')"
    if type_ == BOOLEAN:
        return "true" if value else "false"
    if is_decimal(type_):
        return f"CAST('{value:f}' AS {engine})"
    plain = is_integral(type_) and value >= 0
    return f"CAST({value} AS {engine})" if plain else f"CAST('{value!r}' AS {engine})"


def _quoted(value: str) -> str:
    plain = value.replace("'", "''")
    if "\0" in plain:
        pieces = [f"'{piece}'" for piece in plain.split("\0")]
        return f"({' || chr(0) || '.join(pieces)})"
    return f"'{plain}'"


_WRITTEN = re.compile(r"([\d.]+(?:[eE][+-]?\d+)?)(|[LSYDF]|BD)")
_SUFFIXES = {"L": BIGINT, "S": SMALLINT, "Y": TINYINT, "D": DOUBLE, "F": FLOAT}


def written_number(text: str, negative: bool = False) -> Typed:
    """A number as it stands in a query, with its suffix. Its sign counts: -128Y is a TINYINT.

    >>> [str(written_number(text).type) for text in ("5", "3000000000", "5L", "1.50", "1e3", "2BD")]
    ['int32', 'int64', 'int64', 'decimal128(3, 2)', 'double', 'decimal128(1, 0)']
    """
    found = _WRITTEN.fullmatch(text.upper())
    if found is None:
        raise Refused(f"{text} is no number", legal="12, 1.5, 1e3, 5L, 2S, 1Y, 1.5F, 1.5D, 1.5BD")
    digits, suffix = found.groups()
    number = -Decimal(digits) if negative else Decimal(digits)
    if suffix in ("D", "F") or ("E" in digits and suffix != "BD"):
        return _floating(number, _SUFFIXES.get(suffix, DOUBLE), negative)
    if "." in digits or suffix == "BD":
        return _exact(number)
    type_ = _SUFFIXES.get(suffix)
    known = (type_,) if type_ is not None else (INT, BIGINT)
    for type_ in known:
        limit = 2 ** (type_.bit_width - 1)
        if -limit <= number < limit:
            return replace(literal(int(number), type_), written=True)
    if suffix:
        raise Refused(f"{text} is no {name(known[0]).upper()}")
    return _exact(number)


def _floating(number: Decimal, type_: pa.DataType, negative: bool) -> Typed:
    value = float(number)
    if type_ == FLOAT:
        with np.errstate(over="ignore"):
            value = float(np.float32(str(number)))
    if math.isinf(value):
        raise Refused(f"{number} is too large for a {name(type_).upper()}")
    return literal(math.copysign(value, -1.0 if negative else 1.0), type_)


def _exact(number: Decimal) -> Typed:
    _, digits, exponent = number.as_tuple()
    scale = max(0, -int(exponent))
    precision = max(len(digits) + max(0, int(exponent)), scale)
    if number == 0:
        precision = max(1, scale)
    if precision > MOST_DIGITS:
        raise Refused("a number has at most 38 digits")
    return literal(number, pa.decimal128(precision, scale))


def converted(given: Typed, to: pa.DataType) -> Typed | None:
    """A constant number as one of another type, None where that is for the engine to do or to
    refuse. NULLs are of any type."""
    if given.value is None:
        return literal(None, to) if not pa.types.is_nested(to) else None
    if is_integral(given.type) or is_decimal(given.type):
        made = _number(given.value, to)
        return None if made is None else literal(made, to)
    return None


def _number(value: int | Decimal, to: pa.DataType) -> Any:
    if to == STRING and isinstance(value, int):
        return str(value)
    if is_integral(to):
        whole, limit = int(value), 2 ** (to.bit_width - 1)
        return whole if -limit <= whole < limit else None
    if is_decimal(to):
        return decimal_of(Decimal(value), to)
    if to == DOUBLE:
        return float(value)
    return None


def decimal_of(value: Decimal, to: pa.DataType) -> Decimal | None:
    """Rounded half up to the scale; None where it has too many digits."""
    made = value.quantize(Decimal(1).scaleb(-to.scale), ROUND_HALF_UP, _EXACT)
    return made if len(made.as_tuple().digits) <= to.precision or made == 0 else None
