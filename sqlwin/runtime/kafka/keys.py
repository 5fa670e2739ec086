"""The columns of PRIMARY KEY that are in the key of a record, of one that has no value.

A key is a JSON object that has them, or whose `payload`, beside a schema, has; and where it is one
column, also its text. A text that begins with `{` or `"` is JSON and nothing else, and one that
begins with a zero is Avro's wire format, which is not read here: a deletion that is read by a wrong
key is lost in silence, one that is malformed is in the error stream.

    PRIMARY KEY (id)             tea   "tea"   {"id": "tea"}   {"schema": …, "payload": "tea"}
    PRIMARY KEY (id, product)          {"id": 1, "product": "tea"}, or as the payload

One column of BINARY has the bytes, whatever they are. Values are read by the rule of `json_lines`,
so they have every digit.

>>> from sqlwin.schema import Column
>>> columns = (Column("id", pa.int64()),)
>>> found = keys([b'{"id": 7}', b"8", b"x", None, b'{"n": 9}'], [0, 1, 2, 3, 4], columns)
>>> found.rows.rows(), found.numbers.tolist(), found.bad
([(7,), (8,)], [0, 1], {2: "id is 'x', not a BIGINT", 3: 'the record has no value and no key', \
4: 'the record has no value, and its key no id: {"n": 9}'})
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.runtime.formats.lines import NO_TEXT, Lines
from sqlwin.runtime.formats.nested import DEEPEST
from sqlwin.runtime.kafka.records import decoded
from sqlwin.schema import Column, Schema

NO_KEY = "the record has no value and no key"
_WITHOUT = "the record has no value, and its key"
_AVRO = b"\0"
_PAYLOAD = "payload"
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)


def is_text(key: str) -> bool:
    """Whether a text is read as what it is, in the key of a record.

    >>> is_text("tea"), is_text('"tea"'), is_text("{tea}")
    (True, False, False)
    """
    return not key.lstrip().startswith(("{", '"')) and not key.startswith(_AVRO.decode())


def keys(given: Sequence[bytes | None], numbers: Sequence[int], columns: Schema) -> Lines:
    """The columns of the keys of records, under the records' numbers."""
    if not columns:
        return Lines(pl.DataFrame(height=len(numbers)), np.array(numbers, dtype=np.int64))
    if len(columns) == 1 and pa.types.is_binary(columns[0].type):
        return _bytes(given, numbers, columns[0])
    bad: dict[int, str] = {}
    lines: dict[int, bytes] = {}
    for number, key in zip(numbers, given, strict=True):
        try:
            lines[number] = _line(key, [column.name for column in columns])
        except ValueError as why:
            bad[number] = str(why)
    found, wrong = decoded(list(lines.values()), columns, "json", "")
    at = np.array(list(lines), dtype=np.int64)
    bad |= {int(at[number]): why for number, why in wrong.items()}
    return replace(found, numbers=at[found.numbers], bad=dict(sorted(bad.items())))


def _bytes(given: Sequence[bytes | None], numbers: Sequence[int], column: Column) -> Lines:
    found = {number: key for number, key in zip(numbers, given, strict=True) if key is not None}
    bad = {number: NO_KEY for number in numbers if number not in found}
    values = pl.Series(column.name, list(found.values()), pl.Binary)
    return Lines(values.to_frame(), np.array(list(found), dtype=np.int64), bad)


def _line(key: bytes | None, names: Sequence[str]) -> bytes:
    """A JSON object of the columns. ValueError where the key does not say them."""
    if key is None:
        raise ValueError(NO_KEY)
    if key.startswith(_AVRO):
        raise ValueError(f"{_WITHOUT} is in Avro's wire format, and neither text nor JSON")
    try:
        text = key.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{_WITHOUT} is {NO_TEXT}") from None
    is_object = text.lstrip().startswith("{")
    if len(names) == 1 and not is_object:
        return msgspec.json.encode({names[0]: text if is_text(text) else _parsed(_TEXT, key)})
    fields = _fields(key, names) if is_object else {}
    if not set(names) <= fields.keys():
        raise ValueError(f"{_WITHOUT} no {' and '.join(names)}: {text}")
    return msgspec.json.encode({name: fields[name] for name in names})


def _fields(key: bytes, names: Sequence[str]) -> dict[str, msgspec.Raw]:
    """Of an object, or of its payload where it has not the columns itself."""
    fields: dict[str, msgspec.Raw] = _parsed(_OBJECT, key)
    if set(names) <= fields.keys() or _PAYLOAD not in fields or _PAYLOAD in names:
        return fields
    payload = fields[_PAYLOAD]
    if bytes(payload).startswith(b"{"):
        inner: dict[str, msgspec.Raw] = _parsed(_OBJECT, bytes(payload))
        return inner
    return {names[0]: payload} if len(names) == 1 else fields


def _parsed(decoder: msgspec.json.Decoder[Any], key: bytes) -> Any:
    try:
        return decoder.decode(key)
    except RecursionError:
        raise ValueError(f"{_WITHOUT} is nested deeper than {DEEPEST} levels") from None
    except msgspec.DecodeError:
        what = "JSON object" if decoder is _OBJECT else "JSON"
        raise ValueError(f"{_WITHOUT} is no {what}: {key.decode()}") from None
