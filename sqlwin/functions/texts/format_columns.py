"""FORMAT_STRING of one format over columns: each part of it is a column of texts; these are joined.

Texts as they are, and whole numbers with or without zeros in front, are made by Arrow; all else of
a format is as `java_format` has it, a value at a time.

>>> numbers = pa.array([7, None, -12], pa.int32())
>>> columns("%s is %04d", [numbers, numbers], ["int", "int"]).to_pylist()
['7 is 0007', 'null is null', '-12 is -012']
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.limits import check_all
from sqlwin.functions.core.types import STRING
from sqlwin.functions.texts.format_parts import Part
from sqlwin.functions.texts.java_format import numbered, written

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_MOST = 100
"""Zeros in front that Arrow puts there."""


def columns(format_: str, values: Sequence[pa.Array], types: Sequence[str]) -> pa.Array:
    """Of every row. types: names of Spark's. ValueError as Java's Formatter raises."""
    parts: list[pa.Array | pa.Scalar] = [pa.repeat(pa.scalar("", STRING), len(values[0]))]
    for part, at in numbered(format_, len(values)):
        if isinstance(part, str):
            parts.append(pa.scalar(part, STRING))
        else:
            parts.append(_column(part, values[at], types[at]))
    check_all(_sizes(parts))
    return pc.binary_join_element_wise(*parts, pa.scalar("", STRING))


def _sizes(parts: list[pa.Array | pa.Scalar]) -> pa.Array:
    sizes = [pc.binary_length(part).cast(pa.int64()) for part in parts]
    return reduce(pc.add, sizes)


def _column(part: Part, values: pa.Array, type_: str) -> pa.Array:
    plain = not (part.flags or part.width) and part.precision is None
    if plain and (part.conversion, type_) == ("s", "string"):
        return pc.fill_null(values.cast(STRING), "null")
    if plain and part.conversion in "sd" and type_ in _WHOLE:
        return pc.fill_null(values.cast(STRING), "null")
    zeros = part.conversion == "d" and part.flags == "0" and part.precision is None
    if zeros and type_ in _WHOLE and part.width <= _MOST and not values.null_count:
        return _with_zeros(values.cast(STRING), part.width)
    made = [written(part, value, type_) for value in values.to_pylist()]
    return pa.array(made, STRING)


def _with_zeros(texts: pa.Array, width: int) -> pa.Array:
    negative = pc.starts_with(texts, "-")
    positive = pc.utf8_lpad(texts, width, "0")
    if not pc.any(negative, min_count=0).as_py():
        return positive
    digits = pc.utf8_lpad(pc.utf8_ltrim(texts, "-"), width - 1, "0")
    return pc.if_else(negative, pc.binary_join_element_wise("-", digits, ""), positive)
