"""TO_JSON column by column: texts of all leaves, put together by Arrow.

How a value is printed is the business of `text`: its function of one value is called where there
is no quick way here, which is texts with what is escaped, DOUBLEs that Java writes with an
exponent, and instants whose year has not four digits.

>>> rows = pa.array([{"a": 1, "b": ["x"]}, {"a": None, "b": [None]}])
>>> Columns({pa.string(): quoted}).texts(rows).to_pylist()
['{"a":1,"b":["x"]}', '{"b":[null]}']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.nested_values import values
from sqlwin.functions.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    is_decimal,
    is_integral,
    is_list,
    is_map,
    is_struct,
)
from sqlwin.functions.core.usually import usually
from sqlwin.functions.json.write import quoted
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import TIMESTAMP

Print = Callable[[Any], str]
_SPECIAL = r'["\\\x00-\x1f]'
_PLAIN_SCALE = 6
"""A DECIMAL with more places may be printed with an exponent."""
_FIRST, _LAST = -719162, 2932896
"""Days since 1970 on which the years 1 to 9999 begin and end."""
_MILLIS = 86_400_000


@dataclass(frozen=True)
class Columns:
    """print: of types whose values are not printed as `str` does. key: of a map's key, by type.
    iso: of DATE, TIMESTAMP and TIMESTAMP_NTZ, those that are printed in ISO's form."""

    print: Mapping[pa.DataType, Print]
    key: Callable[[pa.DataType], Print] = lambda _: str
    without_nulls: bool = True
    iso: frozenset[pa.DataType] = field(default_factory=frozenset)

    def texts(self, array: pa.Array) -> pa.Array:
        """One for each value; NULL where it is NULL."""
        type_ = array.type
        if is_struct(type_):
            return self._structs(array)
        if is_map(type_):
            return self._maps(array)
        if is_list(type_):
            items = pc.fill_null(self.texts(_within(array, array.values)), "null")
            return _joined(array, items, "[", "]")
        return self._leaf(array)

    def _structs(self, array: pa.StructArray) -> pa.Array:
        parts = []
        for named, column in zip(array.type, array.flatten(), strict=True):
            texts = self.texts(column)
            known = texts if self.without_nulls else pc.fill_null(texts, "null")
            parts.append(pc.binary_join_element_wise(f"{quoted(named.name)}:", known, ""))
        if not parts:
            return pc.if_else(array.is_valid(), "{}", pa.scalar(None, STRING))
        return _enclosed(array, _side_by_side(parts), "{", "}")

    def _maps(self, array: pa.MapArray) -> pa.Array:
        keys = values(_within(array, array.keys))
        names = _strings(pa.array(map(self.key(array.type.key_type), keys), STRING))
        texts = pc.fill_null(self.texts(_within(array, array.items)), "null")
        return _joined(array, pc.binary_join_element_wise(names, texts, ":"), "{", "}")

    def _leaf(self, array: pa.Array) -> pa.Array:
        type_ = array.type
        plain = is_decimal(type_) and type_.scale <= _PLAIN_SCALE
        if plain or is_integral(type_) or type_ == BOOLEAN:
            return array.cast(STRING)
        if type_ == STRING:
            return _strings(array)
        one = partial(_one_by_one, self.print.get(type_, str))
        if type_ == DOUBLE:
            return usually(array, _is_plain(array), _doubles, one)
        if type_ in self.iso:
            return usually(array, _has_four_digits(array), _times, one)
        return one(array)


def _side_by_side(parts: Sequence[pa.Array]) -> pa.Array:
    """Arrow would leave out the rows in which all are NULL: there is an empty text in those."""
    there = pa.array(np.any([np.asarray(part.is_valid()) for part in parts], axis=0))
    first = pc.if_else(there, parts[0], "")
    return pc.binary_join_element_wise(first, *parts[1:], ",", null_handling="skip")


def _within(lists: pa.ListArray, items: pa.Array) -> pa.Array:
    """Those of the array, which may be a slice."""
    return items[lists.offsets[0].as_py() : lists.offsets[-1].as_py()]


def _joined(lists: pa.ListArray, items: pa.Array, opening: str, closing: str) -> pa.Array:
    """items: texts of all that is within."""
    offsets = pc.subtract(lists.offsets, lists.offsets[0])
    texts = pc.binary_join(pa.ListArray.from_arrays(offsets, items), ",")
    return _enclosed(lists, texts, opening, closing)


def _enclosed(array: pa.Array, texts: pa.Array, opening: str, closing: str) -> pa.Array:
    made = pc.binary_join_element_wise(opening, texts, closing, "")
    return pc.if_else(array.is_valid(), made, pa.scalar(None, STRING))


def _one_by_one(one: Print, array: pa.Array) -> pa.Array:
    return pa.array([None if value is None else one(value) for value in values(array)], STRING)


def _strings(array: pa.Array) -> pa.Array:
    usual = pc.invert(pc.match_substring_regex(array, _SPECIAL))
    return usually(array, usual, _quoted, partial(_one_by_one, quoted))


def _quoted(array: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise('"', array, '"', "")


def _is_plain(array: pa.Array) -> pa.Array:
    size = pc.abs(array)
    between = pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7))
    return pc.or_(between, pc.equal(array, 0.0))


def _doubles(array: pa.Array) -> pa.Array:
    """Arrow leaves out the point of a whole number."""
    texts = array.cast(STRING)
    whole = pc.invert(pc.match_substring(texts, "."))
    return pc.if_else(whole, pc.binary_join_element_wise(texts, ".0", ""), texts)


def _has_four_digits(array: pa.Array) -> pa.Array:
    day = 1 if array.type == DATE else _MILLIS
    passed = array.cast(INT) if array.type == DATE else _millis(array)
    return pc.and_(pc.greater_equal(passed, _FIRST * day), pc.less(passed, (_LAST + 1) * day))


def _times(array: pa.Array) -> pa.Array:
    if array.type == DATE:
        return _quoted(array.cast(STRING))
    texts = _millis(array).cast(pa.timestamp("ms")).cast(STRING)
    parts = pc.utf8_slice_codeunits(texts, 0, 10), pc.utf8_slice_codeunits(texts, 11, 23)
    end = 'Z"' if array.type == TIMESTAMP else '"'
    return pc.binary_join_element_wise('"', parts[0], "T", parts[1], end, "")


def _millis(array: pa.Array) -> pa.Array:
    """Rounded down."""
    micros = array.cast(BIGINT)
    down = np.asarray(pc.fill_null(micros, 0)) // 1000
    return pa.array(down, BIGINT, mask=np.asarray(array.is_null()))
