"""Which numbers may silently become which: only where none is lost, or in floats.

>>> widens(pa.int32(), pa.float64()), widens(pa.int64(), pa.int32())
(True, False)
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin.aggregates import is_numeric


def widens(have: pa.DataType, want: pa.DataType) -> bool:
    """Whether every number of the one type is one of the other, or near it in floats."""
    if not (is_numeric(have) and is_numeric(want)):
        return False
    if pa.types.is_floating(want):
        return not pa.types.is_floating(have) or want.bit_width >= have.bit_width
    if pa.types.is_integer(want):
        return bool(pa.types.is_integer(have) and want.bit_width >= have.bit_width)
    digits = _digits(have)
    return (
        digits is not None and digits[0] <= want.precision - want.scale and digits[1] <= want.scale
    )


def _digits(type_: pa.DataType) -> tuple[int, int] | None:
    """Digits before and after the point."""
    if pa.types.is_decimal(type_):
        return type_.precision - type_.scale, type_.scale
    sizes = {8: 3, 16: 5, 32: 10, 64: 19}
    return (sizes[type_.bit_width], 0) if pa.types.is_integer(type_) else None
