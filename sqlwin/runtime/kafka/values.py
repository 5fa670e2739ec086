"""What the records of a topic become: rows of the stream, and errors.

A record has a row or an error, at its place among those that came. Of a topic that is the changelog
of a table, a record without a value says that a key is gone, as a topic that is compacted needs it:

| changelog | a record without a value |
|---|---|
| `upsert`, `retract` with PRIMARY KEY | deletes the row of its key |
| `debezium` | nothing: the envelope before it has deleted the row |
| none, or `retract` without PRIMARY KEY | is malformed |

The columns of PRIMARY KEY are those that `metadata` takes from the record; of the others the
record's key is a JSON object, which may be the `payload` beside a schema, or of one column its
text.

>>> from sqlwin.schema import Column
>>> columns = (Column("id", pa.int64()),)
>>> found = keys([b'{"id": 7}', b"8", b"x", None], [0, 1, 2, 3], columns)
>>> found.rows.rows(), found.numbers.tolist(), found.bad
([(7,), (8,)], [0, 1], {2: "id is 'x', not a BIGINT", 3: 'the record has no value and no key'})
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.connectors import DEBEZIUM
from sqlwin.runtime.formats.lines import NO_TEXT, Lines, joined
from sqlwin.runtime.kafka.avro import Avro
from sqlwin.runtime.kafka.records import Found, decoded, parts
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.schema import Schema, polars_type

NO_KEY = "the record has no value and no key"
DELETION = "-D"


@dataclass(frozen=True)
class Values:
    """metadata: parts of a record by column."""

    stream: Stream
    format: str
    avro: Avro | None
    delimiter: str
    metadata: Mapping[str, str]

    def counted(self, came: Sequence[Any]) -> list[Any]:
        """The records that are rows or errors."""
        return [each for each in came if not self.debezium or each.value() is not None]

    def rows(self, came: Sequence[Any]) -> tuple[pl.DataFrame, list[int], dict[int, str]]:
        """Rows of the stream's columns, the place of each, and why others are none."""
        gone = [at for at, each in enumerate(came) if each.value() is None and self.keyed]
        lines, bad = self._of_values(came, gone)
        columns, wrong = parts(came, self._more, self.metadata)
        keep = [at for at in lines.numbers.tolist() if at not in wrong]
        good = lines.rows.filter(pl.Series(lines.numbers).is_in(keep)) if wrong else lines.rows
        rows = good.with_columns(series[keep].alias(name) for name, series in columns.items())
        rows = self._deleting(rows, pl.Series(keep, dtype=pl.Int64).is_in(gone)) if gone else rows
        return rows.select(each.name for each in self.stream.columns), keep, {**wrong, **bad}

    def _deleting(self, rows: pl.DataFrame, gone: pl.Series) -> pl.DataFrame:
        """gone: whether a row is the deletion of its key."""
        assert self.stream.changelog is not None
        op = self.stream.changelog.op
        deletes = pl.when(gone).then(pl.lit(DELETION)).otherwise(pl.col(op))
        return rows.with_columns(deletes.alias(op))

    def _of_values(self, came: Sequence[Any], gone: list[int]) -> Found:
        lines, bad = self._decoded([each.value() for each in came])
        if gone:
            without = set(gone)
            bad = {at: why for at, why in bad.items() if at not in without}
            deleted = keys([came[at].key() for at in gone], gone, self._own_key)
            lines = joined([lines, _padded(deleted, self._own)], self._own)
            bad |= lines.bad
        return lines, bad

    def _decoded(self, values: list[bytes | None]) -> Found:
        if self.avro is not None:
            op = self.stream.changelog.op if self.stream.changelog and self.debezium else None
            return self.avro.decoded(values, self._own, op)
        format_ = DEBEZIUM if self.debezium else self.format
        found, bad = decoded(values, self._in_value, format_, self.delimiter)
        return _padded(found, self._own), bad

    @cached_property
    def debezium(self) -> bool:
        return is_debezium(self.stream)

    @property
    def keyed(self) -> bool:
        """Whether a record without a value is the deletion of a key."""
        return bool(self.stream.changelog and self.stream.changelog.key) and not self.debezium

    @cached_property
    def _own(self) -> Schema:
        """Of the values, and the column of the changes."""
        return tuple(each for each in self.stream.columns if each.name not in self.metadata)

    @cached_property
    def _in_value(self) -> Schema:
        return in_value(self.stream, self.metadata, self.format)

    @cached_property
    def _more(self) -> Schema:
        return tuple(each for each in self.stream.columns if each.name in self.metadata)

    @cached_property
    def _own_key(self) -> Schema:
        """Of PRIMARY KEY those that the record's key has."""
        return tuple(each for each in self._own if each.name in self.stream.key)


def is_debezium(stream: Stream) -> bool:
    return dict(stream.options).get("changelog") == DEBEZIUM


def in_value(stream: Stream, metadata: Mapping[str, str], format_: str) -> Schema:
    """The columns of a value. A raw one has no room for what a change is."""
    op = stream.changelog.op if stream.changelog and format_ == "raw" else None
    names = {*metadata, op}
    return tuple(each for each in stream.columns if each.name not in names)


def _padded(lines: Lines, columns: Schema) -> Lines:
    """With NULL in the columns that are not there."""
    missing = [
        pl.lit(None, polars_type(each.type)).alias(each.name)
        for each in columns
        if each.name not in lines.rows.columns
    ]
    rows = lines.rows.with_columns(missing).select(each.name for each in columns)
    return replace(lines, rows=rows)


def keys(given: Sequence[bytes | None], numbers: Sequence[int], columns: Schema) -> Lines:
    """The columns of the keys of records, under the records' numbers."""
    if not columns:
        return Lines(pl.DataFrame(height=len(numbers)), np.array(numbers, dtype=np.int64))
    bad: dict[int, str] = {}
    found: list[tuple[int, Mapping[str, Any]]] = []
    for number, key in zip(numbers, given, strict=True):
        try:
            found.append((number, _fields(key, columns)))
        except ValueError as why:
            bad[number] = str(why)
    at = np.array([number for number, _ in found], dtype=np.int64)
    lines = Lines.of(frame_of([fields for _, fields in found], columns), columns, at)
    return replace(lines, bad=dict(sorted({**bad, **lines.bad}.items())))


def _fields(key: bytes | None, columns: Schema) -> Mapping[str, Any]:
    """ValueError where they cannot be said."""
    if key is None:
        raise ValueError(NO_KEY)
    names = [column.name for column in columns]
    try:
        text = key.decode()
    except UnicodeDecodeError:
        raise ValueError(f"the record has no value, and its key is {NO_TEXT}") from None
    parsed = _object(text)
    if parsed is not None and isinstance(parsed.get("payload"), dict) and "payload" not in names:
        parsed = parsed["payload"]
    if parsed is not None and set(names) <= parsed.keys():
        return {name: parsed[name] for name in names}
    if len(names) > 1:
        message = f"the record has no value, and its key no {' and '.join(names)}: {text}"
        raise ValueError(message)
    return {names[0]: key if columns[0].type == pa.binary() else text}


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
