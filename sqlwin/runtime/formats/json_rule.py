"""The rule by which one line of JSON becomes a record; `json_lines` decodes most lines faster.

Invariant: the rule alone decides: what a faster way makes of a line is what the rule makes of it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.runtime.formats.lines import NO_TEXT, Lines, Numbers
from sqlwin.runtime.formats.nested import DEEPEST
from sqlwin.runtime.formats.texts import is_whole
from sqlwin.schema import Schema


def by_rule(lines: Sequence[bytes], numbers: Numbers, columns: Schema) -> Lines:
    """Each line by itself, as texts."""
    decoder = _decoder(tuple(column.name for column in columns))
    found = [_record(line, decoder) for line in lines]
    good = np.array([not isinstance(each, str) for each in found], dtype=bool)
    records = [msgspec.structs.astuple(each) for each in found if not isinstance(each, str)]
    frame = pl.DataFrame(
        {
            column.name: _texts([record[at] for record in records], column.type)
            for at, column in enumerate(columns)
        }
    )
    why = [each for each in found if isinstance(each, str)]
    broken = dict(zip(numbers[~good].tolist(), why, strict=True))
    taken = Lines.of(frame, columns, numbers[good])
    return replace(taken, bad=taken.bad | broken)


@cache
def _decoder(names: tuple[str, ...]) -> msgspec.json.Decoder[Any]:
    """Of a line, the source text of each name's value; None where it is missing."""
    fields: list[Any] = [(f"c{at}", msgspec.Raw, None) for at in range(len(names))]
    own = {f"c{at}": name for at, name in enumerate(names)}
    return msgspec.json.Decoder(msgspec.defstruct("Line", fields, rename=own))


def _record(line: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """The values of a line, or why it has none."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return f"the line is {NO_TEXT}"
    if line.count(b"{") + line.count(b"[") > DEEPEST and _depth(line) > DEEPEST:
        return f"the line is nested deeper than {DEEPEST} levels"
    try:
        return _parsed(line, decoder)
    except msgspec.ValidationError:
        return "the line is no JSON object"
    except msgspec.DecodeError:
        return "the line cannot be parsed"


def _parsed(line: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """A caller deep in its stack leaves too little of it; a thread begins with a new one."""
    try:
        return decoder.decode(line)
    except RecursionError:
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(decoder.decode(line)))
        thread.start()
        thread.join()
        return found[0]


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def _depth(line: bytes) -> int:
    """
    >>> _depth(b'{"a": [1, "[[["]}')
    2
    """
    deepest = depth = 0
    for letter in _STRING.sub(b"", line):
        depth += (letter in b"{[") - (letter in b"}]")
        deepest = max(deepest, depth)
    return deepest


def _texts(values: Sequence[Any], type_: pa.DataType) -> pl.Series:
    whole = pa.types.is_integer(type_)
    return pl.Series(values=[_text(value, whole) for value in values], dtype=pl.String)


def _text(value: Any, whole: bool) -> str | None:
    raw = b"null" if value is None else bytes(value)
    if raw == b"null":
        return None
    if raw.startswith(b'"'):
        return str(msgspec.json.decode(raw))
    text = raw.decode()
    return _integer(text) if whole else text


def _integer(text: str) -> str:
    """1.0 and 1e2 are whole numbers, which a text of digits alone can say.

    >>> _integer("-1.20e2"), _integer("1.5"), _integer("1e99"), _integer("true")
    ('-120', '1.5', '1e99', 'true')
    """
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return str(int(number)) if is_whole(number) else text
