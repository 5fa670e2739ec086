"""Bitwise operators and functions, as Java's: shifts go by the lowest 5 bits of an INT's distance,
6 of a BIGINT's, and what is shifted out is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.operands import beside
from sqlwin.functions.core.by_numbers import Numbers, by_numbers
from sqlwin.functions.core.entry import Call, Function, How, Overload, function, of
from sqlwin.functions.core.types import BIGINT, INT
from sqlwin.functions.core.vectors import by_value, vector

BUCKET = 32_768
"""Bits of one bitmap."""
POSITION = "bitmap position"
"""A function that aggregates call, and no page lists: a bit of a bitmap, or an error of its row."""


@vector("shiftleft")
def _shift_left(of: pa.Array, by: pa.Array) -> pa.Array:
    bits = of.type.bit_width

    def compute(value: Numbers, distance: Numbers) -> Any:
        return np.left_shift(value, (distance & (bits - 1)).astype(value.dtype))

    return by_numbers(compute, of, by, type=of.type)


@vector("shiftrightunsigned")
def _shift_right_unsigned(of: pa.Array, by: pa.Array) -> pa.Array:
    bits = of.type.bit_width

    def compute(value: Numbers, distance: Numbers) -> Any:
        plain = value.view(np.dtype(f"u{value.dtype.itemsize}"))
        return np.right_shift(plain, (distance & (bits - 1)).astype(plain.dtype)).view(value.dtype)

    return by_numbers(compute, of, by, type=of.type)


@vector("bitget")
def _bit_get(of: pa.Array, at: pa.Array) -> pa.Array:
    bits = of.type.bit_width
    wrong = pc.or_(pc.less(at, 0), pc.greater_equal(at, bits))
    if pc.any(pc.and_(wrong, of.is_valid())).as_py():
        place = pc.filter(at, pc.and_(wrong, of.is_valid()))[0]
        raise ValueError(
            "[INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE] "
            f"The value of parameter(s) `pos` in `bit_get` is not 0 to {bits - 1}: {place}."
        )

    def compute(value: Numbers, place: Numbers) -> Any:
        return (value >> (place & (bits - 1)).astype(value.dtype)) & 1

    return by_numbers(compute, of, at, type=pa.int8())


@vector("bitmapcount")
def _bitmap_count(of: pa.Array) -> pa.Array:
    return by_value(lambda blob: bin(int.from_bytes(blob, "big")).count("1"), of, type=BIGINT)


def _bit_count(call: Call) -> str:
    return f"CAST(bit_count(CAST({call.texts[0]} AS BIGINT)) AS INTEGER)"


def _shifts(how: How) -> tuple[Overload, Overload]:
    return (
        of("(INT, INT) -> INT", how),
        of("(BIGINT, INT) -> BIGINT", how),
    )


def _shift_right(call: Call) -> str:
    bits = 31 if call.result == INT else 63
    value, distance = call.texts
    return f"({value} >> CAST(({distance} & {bits}) AS {call.engine_type}))"


def _both(symbol: str, how: str, doc: str) -> Function:
    return function(symbol, of("(I, I) -> I", how), doc=doc, before=beside)


_OUTSIDE = (
    "error('[INVALID_BITMAP_POSITION] The 0-indexed bitmap position ' || {0} || "
    f"' is out of bounds. The bitmap has {BUCKET} bits ({BUCKET // 8} bytes).')"
)
_POSITION = (
    f"CASE WHEN {{0}} BETWEEN 0 AND {BUCKET - 1} THEN {{0}} WHEN {{0}} IS NOT NULL "
    f"THEN CAST({_OUTSIDE} AS BIGINT) END"
)

FUNCTIONS: tuple[Function, ...] = (
    function("&", of("(I, I) -> I", "({0} & {1})"), doc="Bits set in both.", before=beside),
    function("|", of("(I, I) -> I", "({0} | {1})"), doc="Bits set in either.", before=beside),
    function("^", of("(I, I) -> I", "xor({0}, {1})"), doc="Bits set in one.", before=beside),
    function("~", of("(I) -> I", "(~{0})"), doc="Every bit turned."),
    function("<< shiftleft", *_shifts(_shift_left), doc="Bits moved to the left."),
    function(
        ">> shiftright", *_shifts(_shift_right), doc="Bits moved to the right, with the sign."
    ),
    function(
        ">>> shiftrightunsigned",
        *_shifts(_shift_right_unsigned),
        doc="Bits moved to the right, with zeros.",
    ),
    function(
        "bit_count",
        of("(BOOLEAN) -> INT", "CAST({0} AS INTEGER)"),
        of("(I) -> INT", _bit_count),
        doc="How many bits are set, of 64.",
    ),
    function(
        "bit_get getbit",
        of("(I, INT) -> TINYINT", _bit_get),
        doc="One bit, counted from the right from 0.",
    ),
    function(
        "bitmap_bit_position",
        of(
            "(BIGINT) -> BIGINT",
            f"CASE WHEN {{0}} > 0 THEN ({{0}} - 1) % {BUCKET} ELSE -({{0}} % {BUCKET}) END",
        ),
        doc="The bit of a bitmap that stands for a number.",
    ),
    function(
        "bitmap_bucket_number",
        of(
            "(BIGINT) -> BIGINT",
            f"CASE WHEN {{0}} > 0 THEN 1 + ({{0}} - 1) // {BUCKET} ELSE {{0}} // {BUCKET} END",
        ),
        doc="The bitmap that holds the bit of a number.",
    ),
    function(
        "bitmap_count",
        of("(BINARY) -> BIGINT", _bitmap_count, fails=False),
        doc="How many bits of a bitmap are set.",
    ),
    Function((POSITION,), (of("(BIGINT) -> BIGINT", _POSITION, fails=True),)),
)
