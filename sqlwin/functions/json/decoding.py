"""FROM_JSON by a compiled decoder, where a text is JSON as the standard has it and fits the schema.

What msgspec takes is a part of what `values` takes, and means the same: it refuses a text
with anything odd, and a value that is not of its type. Such a text is left to the exact reader, and
so is a schema with maps (whose keys may come twice) or BINARY. Values leave it field by field,
since Arrow takes columns much quicker than dicts.

>>> decode = Decoding.of(pa.struct([("a", pa.int32()), ("b", pa.list_(pa.date32()))]))
>>> rows = [decode.read(text) for text in ('{"a": 1}', '{"a": 2, "b": ["1970-01-03"]}')]
>>> decode.column(rows).to_pylist()[1]
{'a': 2, 'b': [datetime.date(1970, 1, 3)]}
>>> decode.read("{'a': 1}") is UNUSUAL, decode.read('{"a": "one"}') is UNUSUAL
(True, True)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final, Optional

import msgspec
import numpy as np
import pyarrow as pa

from sqlwin.functions.core.literals import decimal_of
from sqlwin.functions.core.nested_values import counted, made
from sqlwin.functions.core.types import (
    BOOLEAN,
    DATE,
    STRING,
    is_decimal,
    is_float,
    is_integral,
    is_list,
    is_struct,
)
from sqlwin.functions.json.time_options import readers
from sqlwin.functions.json.tokens import DEPTH, DIGITS
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

UNUSUAL: Final = object()
"""Read by the exact reader."""
_MINUS_ZERO = re.compile(r"-0(?!\.)")
_MANY_DIGITS = re.compile(rf"[0-9.]{{{DIGITS - 10}}}")
_NUMBER = re.compile(rb"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_REFUSED = (msgspec.DecodeError, RecursionError, ArithmeticError)

Finish = Callable[[Any], Any]
Column = Callable[[Sequence[Any]], pa.Array]


class _Unfit(msgspec.DecodeError):
    pass


@dataclass(frozen=True)
class _Part:
    """kind: as msgspec decodes it. finish: what is made of a value that is there; None: itself.
    column: of such values and None."""

    kind: Any
    finish: Finish | None
    column: Column
    floats: bool = False


@dataclass(frozen=True)
class Decoding:
    """Of one schema."""

    part: _Part
    decode: Callable[[str], Any]

    @classmethod
    def of(
        cls, type_: pa.DataType, options: Mapping[str, str] | None = None, without: str = ""
    ) -> Decoding | None:
        """None where the schema has what is always read exactly. options: names in lower case.
        without: a field that is in no text."""
        part = _nested(type_, readers(options or {}), without)
        return None if part is None else cls(part, msgspec.json.Decoder(part.kind).decode)

    def read(self, text: str) -> Any:
        """What `column` takes, or UNUSUAL."""
        if len(text) > DIGITS and _is_extreme(text):
            return UNUSUAL
        if self.part.floats and "-0" in text and _MINUS_ZERO.search(text):
            return UNUSUAL  # msgspec has a 0 without the sign
        try:
            found = self.decode(text)
            return found if self.part.finish is None else self.part.finish(found)
        except _REFUSED:
            return UNUSUAL

    def column(self, rows: Sequence[Any]) -> pa.Array:
        return self.part.column(rows)


def _is_extreme(text: str) -> bool:
    """Whether it may be beyond a limit of Jackson's."""
    deep = text.count("{") + text.count("[") > DEPTH // 2
    return deep or _MANY_DIGITS.search(text) is not None


def _nested(type_: pa.DataType, times: Mapping[Any, Any], without: str = "") -> _Part | None:
    if is_struct(type_):
        return _struct(type_, times, without)
    if is_list(type_):
        inner = _nested(type_.value_type, times)
        return None if inner is None else _list(type_, inner)
    return _leaf(type_, times)


def _struct(type_: pa.StructType, times: Mapping[Any, Any], without: str) -> _Part | None:
    parts = {field.name: _nested(field.type, times) for field in type_ if field.name != without}
    known = {name: part for name, part in parts.items() if part is not None}
    if not known or len(known) < len(parts) or len({f.name for f in type_}) < len(type_):
        return None
    own = {f"f{at}": name for at, name in enumerate(known)}
    fields = [(f"f{at}", _or_null(part), None) for at, part in enumerate(known.values())]
    kind = msgspec.defstruct("Row", fields, rename=own, gc=False)
    attributes = {name: (attribute, known[name]) for attribute, name in own.items()}
    steps = [(attribute, part.finish) for attribute, part in attributes.values() if part.finish]

    def finish(row: Any) -> Any:
        for attribute, step in steps:
            value = getattr(row, attribute)
            if value is not None:
                setattr(row, attribute, step(value))
        return row

    def column(rows: Sequence[Any]) -> pa.Array:
        arrays = [
            _field(rows, *attributes[field.name])
            if field.name in attributes
            else pa.nulls(len(rows), field.type)
            for field in type_
        ]
        missing = pa.array([row is None for row in rows], pa.bool_())
        return pa.StructArray.from_arrays(arrays, fields=list(type_), mask=missing)

    floats = any(part.floats for part in known.values())
    return _Part(kind, finish if steps else None, column, floats)


def _or_null(part: _Part) -> Any:
    return part.kind if part.kind is msgspec.Raw else Optional[part.kind]  # noqa: UP045


def _field(rows: Sequence[Any], attribute: str, part: _Part) -> pa.Array:
    return part.column([None if row is None else getattr(row, attribute) for row in rows])


def _list(type_: pa.ListType, inner: _Part) -> _Part:
    step = inner.finish

    def finish(items: list[Any]) -> list[Any]:
        assert step is not None
        return [None if item is None else step(item) for item in items]

    def column(rows: Sequence[Any]) -> pa.Array:
        counts = np.array([0 if row is None else len(row) for row in rows], np.int32)
        items = inner.column([item for row in rows if row is not None for item in row])
        there = np.array([row is not None for row in rows], bool)
        return counted(counts, items, there, type_)

    return _Part(list[_or_null(inner)], finish if step else None, column, inner.floats)  # type: ignore[misc]


def _leaf(type_: pa.DataType, times: Mapping[Any, Any]) -> _Part | None:
    def column(rows: Sequence[Any]) -> pa.Array:
        return made(rows, type_)

    if is_integral(type_):
        limit = 2 ** (type_.bit_width - 1)
        return _Part(Annotated[int, msgspec.Meta(ge=-limit, le=limit - 1)], None, column)
    if is_float(type_):
        return _Part(float, None, column, floats=True)
    if type_ in (STRING, BOOLEAN):
        return _Part(str if type_ == STRING else bool, None, column)
    if type_ in (DATE, TIMESTAMP, TIMESTAMP_NTZ):
        return _Part(str, _known(times[type_]), column)
    if is_decimal(type_):
        return _Part(msgspec.Raw, lambda raw: _decimal(bytes(raw), type_), column)
    return None


def _known(read: Callable[[str], int | None]) -> Finish:
    def finish(text: str) -> int:
        found = read(text)
        if found is None:
            raise _Unfit
        return found

    return finish


def _decimal(raw: bytes, type_: pa.DataType) -> Decimal | None:
    """Of the text of a value, which has all of its digits."""
    if raw == b"null":
        return None
    found = decimal_of(Decimal(raw.decode()), type_) if _NUMBER.fullmatch(raw) else None
    if found is None:
        raise _Unfit
    return found
