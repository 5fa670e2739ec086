"""SCHEMA_OF_JSON: the type that fits a text of JSON.

>>> inferred('{"b": [1, 2.5], "a": null}', "{}")
'STRUCT<a: STRING, b: ARRAY<DOUBLE>>'
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal

import pyarrow as pa

from sqlwin.functions.core.typed import Refused
from sqlwin.functions.core.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    NULL,
    STRING,
    as_decimal,
    is_decimal,
    is_list,
    is_struct,
    name,
)
from sqlwin.functions.json.read import syntax
from sqlwin.functions.json.tokens import FLOAT as REAL
from sqlwin.functions.json.tokens import INTEGER, Malformed, Tokens
from sqlwin.functions.json.tokens import STRING as TEXT
from sqlwin.lazy_dataclass import dataclass


def inferred(text: object, options: str) -> str:
    """Refused for what is no JSON."""
    if not isinstance(text, str):
        raise Refused("a schema is that of a constant text", legal="'{\"a\": 1}'", at=0)
    chosen = json.loads(options)
    on = {name_ for name_, value in chosen.items() if value.lower() == "true"}
    tokens = Tokens(text, syntax(chosen))
    try:
        tokens.next()
        return written(_Inferring("primitivesasstring" in on, "prefersdecimal" in on).of(tokens))
    except (Malformed, RecursionError):
        raise Refused("the text is no JSON", legal="'{\"a\": 1}'", at=0) from None


def written(type_: pa.DataType) -> str:
    """As Spark writes a type; what was a null alone is a STRING."""
    if is_struct(type_):
        fields = (f"{_field(field.name)}: {written(field.type)}" for field in type_)
        return f"STRUCT<{', '.join(fields)}>"
    if is_list(type_):
        return f"ARRAY<{written(type_.value_type)}>"
    return "STRING" if type_ == NULL else name(type_).upper()


def _field(name_: str) -> str:
    plain = re.fullmatch(r"[a-zA-Z_]\w*", name_, re.ASCII)
    return name_ if plain else f"`{name_.replace('`', '``')}`"


@dataclass(frozen=True)
class _Inferring:
    texts: bool
    decimals: bool

    def of(self, tokens: Tokens) -> pa.DataType:
        token = tokens.token
        if token == "{":
            return self._struct(tokens)
        if token == "[":
            return self._array(tokens)
        if token is None:
            raise Malformed("no JSON")
        if token == TEXT or (self.texts and token != "null"):
            return STRING
        return self._number(tokens) if token in (INTEGER, REAL) else _WORDS[token]

    def _number(self, tokens: Tokens) -> pa.DataType:
        text = tokens.text
        if tokens.token == INTEGER:
            value = int(text)
            digits = len(str(abs(value)))
            if -(2**63) <= value < 2**63:
                return BIGINT
            return pa.decimal128(digits, 0) if digits <= 38 else DOUBLE
        if self.decimals and text[-1].isdigit():
            number = Decimal(text).as_tuple()
            scale = max(-int(number.exponent), 0)
            precision = max(len(number.digits), scale)
            return pa.decimal128(precision, scale) if precision <= 38 else DOUBLE
        return DOUBLE

    def _struct(self, tokens: Tokens) -> pa.DataType:
        """Fields are in the order of their names."""
        fields: dict[str, pa.DataType] = {}
        while _until(tokens, "}"):
            field = tokens.text
            tokens.next()
            fields[field] = self.of(tokens)
        return pa.struct(sorted(fields.items()))

    def _array(self, tokens: Tokens) -> pa.DataType:
        item = NULL
        while _until(tokens, "]"):
            item = joined(item, self.of(tokens))
        return pa.list_(item)


_WORDS: Mapping[str, pa.DataType] = {"true": BOOLEAN, "false": BOOLEAN, "null": NULL}


def _until(tokens: Tokens, end: str) -> bool:
    token = tokens.next()
    if token is None:
        raise Malformed("no JSON")
    return token != end


def joined(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The type of both; STRING where there is none."""
    if one == other or other == NULL:
        return one
    if one == NULL:
        return other
    if {one, other} == {BIGINT, DOUBLE}:
        return DOUBLE
    if is_struct(one) and is_struct(other):
        fields = {field.name: field.type for field in one}
        for field in other:
            fields[field.name] = joined(fields.get(field.name, NULL), field.type)
        return pa.struct(sorted(fields.items()))
    if is_list(one) and is_list(other):
        return pa.list_(joined(one.value_type, other.value_type))
    return _joined_numbers(one, other)


def _joined_numbers(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    both = (one, other)
    if not any(map(is_decimal, both)) or not all(
        is_decimal(t) or t in (BIGINT, DOUBLE) for t in both
    ):
        return STRING
    if DOUBLE in both:
        return DOUBLE
    mine, yours = map(as_decimal, both)
    scale = max(mine.scale, yours.scale)
    whole = max(mine.precision - mine.scale, yours.precision - yours.scale)
    return pa.decimal128(whole + scale, scale) if whole + scale <= 38 else DOUBLE
