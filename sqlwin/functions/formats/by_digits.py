"""Numbers printed by one format, a column of digits at a time: what `NumberFormat.printed` gives.

All rows have as many bytes: a matrix with a row for each number, and the bytes of it are those of
the texts. A number that does not fit is `#`, its digits and its sign stand as for any other.

>>> numbers = pa.array([Decimal("-1.50"), None, Decimal("1234.00")], pa.decimal128(10, 2))
>>> printed(numbers, number_format("S999.9")).to_pylist()
['  -1.5', None, '+###.#']
>>> printed(numbers, number_format("999PR")) is None
True
"""

from __future__ import annotations

from decimal import Decimal  # noqa: F401  of the example
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.types import STRING
from sqlwin.functions.formats.number_formats import NumberFormat, number_format  # noqa: F401

Ints = npt.NDArray[Any]
_ZERO, _SPACE, _COMMA, _HASH = b"0 ,#"
_DIGITS = 18
"""That fit 64 bits."""


def printed(numbers: pa.Array, form: NumberFormat) -> pa.Array | None:
    """Of DECIMALs; None where the format or the numbers are not of this kind."""
    precision = form.digits[0]
    if form.end == "PR" or precision > _DIGITS or numbers.type.scale > _DIGITS:
        return None
    low, high = _halves(numbers)
    if not np.array_equal(high, low >> 63) or (low == np.iinfo(np.int64).min).any():
        return None
    rows = _rows(np.abs(low), low < 0, numbers.type.scale, form)
    return _texts(rows, numbers)


def _halves(numbers: pa.Array) -> tuple[Ints, Ints]:
    """Of the 128 bits; those of a NULL are 0."""
    data = np.frombuffer(numbers.buffers()[1], np.int64)[2 * numbers.offset :][: 2 * len(numbers)]
    known = np.asarray(numbers.is_valid())
    return np.where(known, data[::2], 0), np.where(known, data[1::2], 0)


def _texts(rows: Ints, numbers: pa.Array) -> pa.Array:
    count, width = rows.shape
    offsets = np.arange(count + 1, dtype=np.int32) * width
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(rows))]
    texts = pa.Array.from_buffers(STRING, count, buffers)
    return pc.if_else(numbers.is_valid(), texts, pa.scalar(None, STRING))


def _rows(values: Ints, negative: Ints, given: int, form: NumberFormat) -> Ints:
    """given: the scale of the values, which are whole."""
    precision, scale = form.digits
    whole, fraction = np.divmod(values, 10**given)
    too_long = whole >= 10 ** (precision - scale)
    if given > scale:
        fraction, rest = np.divmod(fraction, 10 ** (given - scale))
        too_long |= rest > 0
    else:
        fraction = fraction * 10 ** (scale - given)
    parts = [_whole(whole, too_long, negative, form)]
    if form.point:
        parts.append(_all("." if scale else " ", len(values)))
    parts.append(_digits(fraction, scale, too_long))
    if form.end:
        parts.append(_signs(form.end, negative)[:, None])
    return np.hstack(parts)


def _all(text: str, count: int) -> Ints:
    return np.full((count, 1), ord(text), np.uint8)


def _digits(values: Ints, count: int, too_long: Ints) -> Ints:
    made = np.empty((len(values), count), np.uint8)
    for at in reversed(range(count)):
        values, digit = np.divmod(values, 10)
        made[:, at] = digit + _ZERO
    made[too_long] = _HASH
    return made


def _whole(values: Ints, too_long: Ints, negative: Ints, form: NumberFormat) -> Ints:
    """Digits and what is between them, with the sign and `$` in front."""
    count = len(form.whole.replace(",", ""))
    digits = _digits(values, count, too_long)
    missing = count - np.where(too_long, count, _lengths(values, count))
    columns, at = list[Ints](), 0
    behind_digit = np.zeros(len(values), bool)
    for group in form.whole.split(","):
        if at:
            columns.append(np.where(behind_digit, _COMMA, _SPACE))
            behind_digit = np.zeros(len(values), bool)
        for _ in group:
            own = missing <= at
            shown = own | behind_digit | (group[0] == "0")
            columns.append(np.where(shown, digits[:, at], _SPACE))
            behind_digit = shown & ~(own & too_long)
            at += 1
    made = np.array(columns, np.uint8).reshape(len(columns), len(values)).T
    made = _with_sign(made, negative, form)
    if form.point and made.shape[1]:
        made[:, -1] = np.where(made[:, -1] == _SPACE, _ZERO, made[:, -1])
    return made


def _lengths(values: Ints, most: int) -> Ints:
    """How many digits, of 0 none."""
    powers = 10 ** np.arange(most, dtype=np.int64)
    return np.searchsorted(powers, values, side="right")


def _with_sign(body: Ints, negative: Ints, form: NumberFormat) -> Ints:
    sign = _signs(form.sign, negative) if form.sign else None
    if form.currency:
        dollar = _all("$", len(body))
        return np.hstack([dollar, body] if sign is None else [sign[:, None], dollar, body])
    if sign is None:
        return body
    made = np.hstack([_all(" ", len(body)), body])
    before = (made == _SPACE).cumprod(axis=1).sum(axis=1) - 1
    made[np.arange(len(made)), before] = sign
    return made


def _signs(sign: str, negative: Ints) -> Ints:
    return np.where(negative, ord("-"), ord("+" if sign == "S" else " ")).astype(np.uint8)
