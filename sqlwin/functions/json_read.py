"""FROM_JSON: a text of JSON as a value of a schema.

A field that is not of its type is NULL, and so is each of a text that is no JSON; a column named
`_corrupt_record` has the text then. With `mode` FAILFAST such a text raises.

>>> reader = Reader(pa.struct([("a", pa.int32()), ("b", pa.string())]), {})
>>> reader.read('{"a": "one", "b": [1, 2.50]}'), reader.read('{"a": 1')
({'a': None, 'b': '[1,2.5]'}, {'a': None, 'b': None})
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa

from sqlwin.functions.instants import days_of, micros_of
from sqlwin.functions.json_tokens import FLOAT as REAL
from sqlwin.functions.json_tokens import INTEGER, NAME, Malformed, Syntax, Tokens
from sqlwin.functions.json_tokens import STRING as TEXT
from sqlwin.functions.json_write import Out
from sqlwin.functions.literals import decimal_of
from sqlwin.functions.nested import made
from sqlwin.functions.types import (
    BINARY,
    BOOLEAN,
    DATE,
    STRING,
    TINYINT,
    is_decimal,
    is_float,
    is_integral,
    is_list,
    is_map,
    is_struct,
)
from sqlwin.functions.vectors import vector
from sqlwin.schema import TIMESTAMP

Convert = Callable[[Tokens], Any]
_ODD = {"NaN": "nan", "INF": "inf", "Infinity": "inf", "+INF": "inf", "+Infinity": "inf"}
_ODD |= {"-INF": "-inf", "-Infinity": "-inf"}


class Unfit(ValueError):
    """A value that is not of its type."""


class Partly(Unfit):
    """A nested value with some such fields, which are NULL."""

    def __init__(self, value: Any) -> None:
        super().__init__("some fields")
        self.value = value


class Reader:
    """options: names in lower case."""

    def __init__(self, type_: pa.DataType, options: Mapping[str, str]) -> None:
        self._fails = options.get("mode", "PERMISSIVE").upper() == "FAILFAST"
        self._syntax = _syntax(options)
        self._corrupt = options.get("columnnameofcorruptrecord", "_corrupt_record")
        names = [field.name for field in type_] if is_struct(type_) else []
        self._nulls = dict.fromkeys(names) if names else None
        self._keeps = self._corrupt in names
        self._converted = _rooted(type_, self._corrupt)

    def read(self, text: str) -> Any:
        if not text.strip():
            return None
        tokens = Tokens(text, self._syntax)
        try:
            tokens.next()
            found = self._converted(tokens)
        except (Unfit, Malformed, ArithmeticError) as failure:
            return self._bad(text, failure)
        return {**(self._nulls or {}), **found} if isinstance(found, dict) else found

    def _bad(self, text: str, failure: Exception) -> Any:
        if self._fails:
            told = f"Malformed records are detected in record parsing: {text}"
            raise ValueError(f"[MALFORMED_RECORD_IN_PARSING] {told}") from None
        part = failure.value if isinstance(failure, Partly) else None
        if self._nulls is None:
            return part
        return {**self._nulls, **(part or {}), **({self._corrupt: text} if self._keeps else {})}


def _syntax(options: Mapping[str, str]) -> Syntax:
    def on(name: str, default: str = "false") -> bool:
        return options.get(name, default).lower() == "true"

    return Syntax(
        single_quotes=on("allowsinglequotes", "true"),
        control=on("allowunquotedcontrolchars"),
        odd_numbers=on("allownonnumericnumbers", "true"),
        unquoted_names=on("allowunquotedfieldnames"),
        leading_zeros=on("allownumericleadingzeros"),
        any_escape=on("allowbackslashescapinganycharacter"),
        comments=on("allowcomments"),
    )


def _rooted(type_: pa.DataType, corrupt: str) -> Convert:
    """Of the whole text. An object is taken for an array of structs, too."""
    if is_struct(type_):
        kept = [field for field in type_ if field.name != corrupt]
        return _expecting("{", _struct(kept))
    if is_map(type_):
        return _expecting("{", _map(type_))
    item = type_.value_type
    array = _expecting("[", _array(type_))
    if not is_struct(item):
        return array
    one = _struct(list(item))

    def converted(tokens: Tokens) -> Any:
        if tokens.token != "{":
            return array(tokens)
        try:
            return [one(tokens)]
        except Partly as part:
            raise Partly([part.value]) from None

    return converted


def _expecting(token: str, convert: Convert) -> Convert:
    def converted(tokens: Tokens) -> Any:
        if tokens.token != token:
            raise Unfit("another kind of value")
        return convert(tokens)

    return converted


def _until(tokens: Tokens, end: str) -> bool:
    token = tokens.next()
    if token is None:
        raise Malformed("no JSON")
    return token != end


def _struct(fields: list[pa.Field]) -> Convert:
    converts = {field.name: _convert(field.type) for field in fields}
    nulls = dict.fromkeys(converts)

    def converted(tokens: Tokens) -> dict[str, Any]:
        row, whole = dict(nulls), True
        while _until(tokens, "}"):
            convert = converts.get(tokens.name or "") if tokens.around[-1] == "{" else None
            if convert is None:
                tokens.skip()
                continue
            try:
                row[tokens.text if tokens.token == NAME else tokens.name or ""] = convert(tokens)
            except Partly as part:
                row[tokens.name or ""], whole = part.value, False
            except (Unfit, Malformed, ArithmeticError):
                whole = False
                tokens.skip()
        if not whole:
            raise Partly(row)
        return row

    return converted


def _array(type_: pa.DataType) -> Convert:
    convert = _convert(type_.value_type)

    def converted(tokens: Tokens) -> list[Any]:
        found, whole = list[Any](), True
        while _until(tokens, "]"):
            try:
                found.append(convert(tokens))
            except Partly as part:
                found.append(part.value)
                whole = False
        if not whole:
            raise Partly(found)
        return found

    return converted


def _map(type_: pa.DataType) -> Convert:
    convert = _convert(type_.item_type)

    def converted(tokens: Tokens) -> list[tuple[str, Any]]:
        found, whole = dict[str, Any](), True
        while _until(tokens, "}"):
            key = tokens.text
            if key in found:
                raise ValueError(f"[DUPLICATED_MAP_KEY] Duplicate map key {key} was found")
            try:
                found[key] = convert(tokens)
            except Partly as part:
                found[key], whole = part.value, False
        if not whole:
            raise Partly(list(found.items()))
        return list(found.items())

    return converted


def _convert(type_: pa.DataType) -> Convert:
    """Of a value, or of the value behind a name. A null is NULL."""
    inner = _nested(type_)

    def converted(tokens: Tokens) -> Any:
        if tokens.token == NAME:
            tokens.next()
        return None if tokens.token == "null" else inner(tokens)

    return converted


def _nested(type_: pa.DataType) -> Convert:
    if is_struct(type_):
        return _expecting("{", _struct(list(type_)))
    if is_list(type_):
        return _expecting("[", _array(type_))
    if is_map(type_):
        return _expecting("{", _map(type_))
    if is_integral(type_):
        return lambda tokens: _integer(tokens, type_)
    if is_float(type_):
        return _float
    if is_decimal(type_):
        return lambda tokens: _decimal(tokens, type_)
    return _ATOMS[type_]


def _integer(tokens: Tokens, type_: pa.DataType) -> int:
    if tokens.token != INTEGER:
        raise Unfit("no integer")
    value, limit = int(tokens.text), 2 ** (type_.bit_width - 1)
    if type_ == TINYINT and 128 <= value < 256:  # a byte of Jackson's
        return value - 256
    if not -limit <= value < limit:
        raise Unfit("too large")
    return value


def _float(tokens: Tokens) -> float:
    if tokens.token in (INTEGER, REAL):
        return float(_ODD.get(tokens.text, tokens.text))
    if tokens.token == TEXT and tokens.text in _ODD:
        return float(_ODD[tokens.text])
    raise Unfit("no number")


def _decimal(tokens: Tokens, type_: pa.DataType) -> Decimal:
    if tokens.token not in (INTEGER, REAL, TEXT):
        raise Unfit("no number")
    plain = tokens.text.replace(",", "") if tokens.token == TEXT else tokens.text
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", plain, re.ASCII):
        raise Unfit("no number")
    value = decimal_of(Decimal(plain), type_)
    if value is None:
        raise Unfit("too large")
    return value


def _string(tokens: Tokens) -> str:
    if tokens.token == TEXT:
        return tokens.text
    out = Out(pairs=True)
    out.copy(tokens)
    return out.text


def _boolean(tokens: Tokens) -> bool:
    if tokens.token not in ("true", "false"):
        raise Unfit("no truth")
    return tokens.token == "true"


def _binary(tokens: Tokens) -> bytes:
    if tokens.token != TEXT:
        raise Unfit("no text")
    try:
        return base64.b64decode(tokens.text, validate=True)
    except ValueError:
        # Spark's parser does not go on behind a text that ends too early
        tokens.failed = re.fullmatch(r"[A-Za-z0-9+/]*=*", tokens.text) is not None
        raise Unfit("no base 64") from None


def _date(tokens: Tokens) -> int:
    found = days_of(tokens.text) if tokens.token == TEXT else None
    if (
        found is None
        and tokens.token == TEXT
        and re.fullmatch(r"[+-]?\d{1,9}", tokens.text, re.ASCII)
    ):
        found = int(tokens.text)  # days, as in texts of Spark 1.5
    if found is None:
        raise Unfit("no date")
    return found


def _instant(tokens: Tokens) -> int:
    if tokens.token == INTEGER:
        return int(tokens.text) * 1_000_000
    found = micros_of(tokens.text) if tokens.token == TEXT else None
    if found is None:
        raise Unfit("no timestamp")
    return found


_ATOMS: Mapping[pa.DataType, Convert] = {
    STRING: _string,
    BOOLEAN: _boolean,
    BINARY: _binary,
    DATE: _date,
    TIMESTAMP: _instant,
}


@lru_cache(maxsize=256)
def _reader(type_: pa.DataType, options: str) -> Reader:
    return Reader(type_, json.loads(options))


@vector("fromjson", typed=True)
def FROM_JSON(result: pa.DataType, texts: pa.Array, options: pa.Array) -> pa.Array:  # noqa: N802
    if not len(texts):
        return pa.nulls(0, result)
    read = _reader(result, options[0].as_py()).read
    return made([None if text is None else read(text) for text in texts.to_pylist()], result)
