"""What the records of a topic become: rows of the stream, and errors.

A record has a row or an error, at its place among those that came. Of a topic that is the changelog
of a table, a record without a value says that a key is gone, as a topic that is compacted needs it:

| changelog | a record without a value |
|---|---|
| `upsert`, `retract` with PRIMARY KEY | deletes the row of its key |
| `debezium` | nothing: the envelope before it has deleted the row |
| none, or `retract` without PRIMARY KEY | is malformed |

The columns of PRIMARY KEY are those that `metadata` takes from the record; `keys` reads the others
from the record's key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.connectors import DEBEZIUM
from sqlwin.polars_frames import polars_type
from sqlwin.runtime.formats.lines import Lines, joined
from sqlwin.runtime.kafka.avro import Avro
from sqlwin.runtime.kafka.keys import keys
from sqlwin.runtime.kafka.records import Found, decoded, parts
from sqlwin.schema import Schema

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
