"""Constants as text of DuckDB, and constants of one type as constants of another.

>>> literal(Decimal("1.50"), pa.decimal128(3, 2)).sql
"CAST('1.50' AS DECIMAL(3, 2))"
>>> converted(literal(2, INT), DOUBLE).sql
"CAST('2.0' AS DOUBLE)"
>>> converted(literal(300, INT), TINYINT) is None
True
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa

from sqlwin.functions.typed import Typed
from sqlwin.functions.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    STRING,
    engine_name,
    is_decimal,
    is_integral,
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
