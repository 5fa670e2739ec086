"""FROM_JSON: a text of JSON as a value of a schema.

A field that is not of its type is NULL, and so is each of a text that is no JSON; a column named
`_corrupt_record` has the text then. With `mode` FAILFAST such a text raises.

>>> reader = Reader(pa.struct([("a", pa.int32()), ("b", pa.string())]), {})
>>> reader.read('{"a": "one", "b": [1, 2.50]}'), reader.read('{"a": 1')
({'a': None, 'b': '[1,2.5]'}, {'a': None, 'b': None})
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.nested_values import made
from sqlwin.functions.core.types import is_struct
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.json.atoms import Unfit
from sqlwin.functions.json.decoding import UNUSUAL, Decoding
from sqlwin.functions.json.tokens import Malformed, Syntax, Tokens
from sqlwin.functions.json.values import Converts, Partly


class Reader:
    """options: names in lower case."""

    def __init__(self, type_: pa.DataType, options: Mapping[str, str]) -> None:
        self._fails = options.get("mode", "PERMISSIVE").upper() == "FAILFAST"
        self._syntax = syntax(options)
        self._corrupt = options.get("columnnameofcorruptrecord", "_corrupt_record")
        names = [field.name for field in type_] if is_struct(type_) else []
        self._nulls = dict.fromkeys(names) if names else None
        self._keeps = self._corrupt in names
        self._converted = Converts(options).rooted(type_, self._corrupt)
        self.decoding = Decoding.of(type_, options, self._corrupt)

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
            message = f"Malformed records are detected in record parsing: {text}"
            raise ValueError(f"[MALFORMED_RECORD_IN_PARSING] {message}") from None
        part = failure.value if isinstance(failure, Partly) else None
        if self._nulls is None:
            return part
        return {**self._nulls, **(part or {}), **({self._corrupt: text} if self._keeps else {})}


def syntax(options: Mapping[str, str]) -> Syntax:
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


@lru_cache(maxsize=256)
def _reader(type_: pa.DataType, options: str) -> Reader:
    return Reader(type_, json.loads(options))


@vector("fromjson", typed=True)
def FROM_JSON(result: pa.DataType, texts: pa.Array, options: pa.Array) -> pa.Array:  # noqa: N802
    if not len(texts):
        return pa.nulls(0, result)
    reader = _reader(result, options[0].as_py())
    values = texts.to_pylist()
    if reader.decoding is None:
        return made([None if text is None else reader.read(text) for text in values], result)
    return _decoded(reader, reader.decoding, values, result)


def _decoded(
    reader: Reader, decoding: Decoding, texts: list[str | None], type_: pa.DataType
) -> pa.Array:
    """By the decoder, and those that it refuses by the reader."""
    rows = [None if text is None else decoding.read(text) for text in texts]
    odd = [at for at, row in enumerate(rows) if row is UNUSUAL]
    if len(odd) == len(rows):
        return made([reader.read(text or "") for text in texts], type_)
    usual = decoding.column([None if row is UNUSUAL else row for row in rows])
    if not odd:
        return usual
    others = made([reader.read(texts[at] or "") for at in odd], type_)
    places = np.arange(len(rows))
    places[odd] = len(rows) + np.arange(len(odd))
    return pa.concat_arrays([usual, others]).take(pa.array(places))
