"""Values of a schema out of tokens of JSON, as Spark converts them.

What does not fit makes a field NULL, and the whole value a `Partly`; within an array or a map of
such values it makes the whole of it NULL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from sqlwin.functions.core.types import BIGINT, DATE, is_list, is_map, is_struct
from sqlwin.functions.json.atoms import _ODD, Convert, Unfit, atomic, integer
from sqlwin.functions.json.time_options import readers
from sqlwin.functions.json.tokens import INTEGER, NAME, Malformed, Tokens
from sqlwin.functions.json.tokens import STRING as TEXT
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

_ODD |= {"-INF": "-inf", "-Infinity": "-inf"}


class Partly(Unfit):
    """A nested value with some such fields, which are NULL."""

    def __init__(self, value: Any) -> None:
        super().__init__("some fields")
        self.value = value


class Converts:
    """options: names in lower case."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._times = readers(options)
        self._plain = "dateformat" not in options

    def rooted(self, type_: pa.DataType, corrupt: str) -> Convert:
        """Of the whole text. An object is taken for an array of structs, too. corrupt: the
        field that is not in the text."""
        if is_struct(type_):
            return _expecting("{", self._struct([f for f in type_ if f.name != corrupt]))
        if is_map(type_):
            return _expecting("{", self._map(type_))
        array = _expecting("[", self._array(type_))
        if not is_struct(type_.value_type):
            return array
        one = self._struct(list(type_.value_type))

        def converted(tokens: Tokens) -> Any:
            if tokens.token != "{":
                return array(tokens)
            try:
                return [one(tokens)]
            except Partly as part:
                raise Partly([part.value]) from None

        return converted

    def _struct(self, fields: list[pa.Field]) -> Convert:
        converts = {field.name: self._of(field.type) for field in fields}
        nulls = dict.fromkeys(converts)

        def converted(tokens: Tokens) -> dict[str, Any]:
            row, whole = dict(nulls), True
            while _until(tokens, "}"):
                name = tokens.name or ""
                convert = converts.get(name) if tokens.around[-1] == "{" else None
                if convert is None:
                    tokens.skip()
                    continue
                try:
                    row[name] = convert(tokens)
                except Partly as part:
                    row[name], whole = part.value, False
                except (Unfit, Malformed, ArithmeticError):
                    whole = False
                    tokens.skip()
            if not whole:
                raise Partly(row)
            return row

        return converted

    def _array(self, type_: pa.DataType) -> Convert:
        convert = self._of(type_.value_type)

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

    def _map(self, type_: pa.DataType) -> Convert:
        convert = self._of(type_.item_type)

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

    def _of(self, type_: pa.DataType) -> Convert:
        """Of a value, or of the value behind a name. A null is NULL."""
        inner = self._inner(type_)

        def converted(tokens: Tokens) -> Any:
            if tokens.token == NAME:
                tokens.next()
            return None if tokens.token == "null" else inner(tokens)

        return converted

    def _inner(self, type_: pa.DataType) -> Convert:
        if is_struct(type_):
            return _expecting("{", self._struct(list(type_)))
        if is_list(type_):
            return _expecting("[", self._array(type_))
        if is_map(type_):
            return _expecting("{", self._map(type_))
        if type_ == DATE:
            return self._date
        if type_ == TIMESTAMP:
            return self._instant
        if type_ == TIMESTAMP_NTZ:
            return self._clock
        return atomic(type_)

    def _date(self, tokens: Tokens) -> int:
        found = self._times[DATE](tokens.text) if tokens.token == TEXT else None
        days = self._plain and tokens.token == TEXT and re.fullmatch(_DAYS, tokens.text, re.ASCII)
        if found is None and days:
            found = int(tokens.text)  # since 1970, as in texts of Spark 1.5
        if found is None:
            raise Unfit("no date")
        return found

    def _instant(self, tokens: Tokens) -> int:
        if tokens.token == INTEGER:
            return _wrapped(integer(tokens, BIGINT) * 1_000_000)
        found = self._times[TIMESTAMP](tokens.text) if tokens.token == TEXT else None
        if found is None:
            raise Unfit("no timestamp")
        return found

    def _clock(self, tokens: Tokens) -> int:
        found = self._times[TIMESTAMP_NTZ](tokens.text) if tokens.token == TEXT else None
        if found is None:
            raise Unfit("no timestamp without a zone")
        return found


def _wrapped(micros: int) -> int:
    """Past the ends of time it begins anew, as Java's long does."""
    return (micros + 2**63) % 2**64 - 2**63


_DAYS = r"[+-]?\d{1,9}"


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
