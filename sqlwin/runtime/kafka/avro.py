"""Avro values of records: with the number of a schema in a registry, or bare, by a schema given.

    with a registry   00, the number of the schema in 4 bytes, big-endian, then the value
    without           the value, written by the schema of the options

A schema given beside a registry is the reader's: a value is resolved to it from what it was written
by. A value is a record of Avro, and its fields are columns by their names.

>>> schema = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}'
>>> codec = Avro("orders", None, schema)
>>> from sqlwin.schema import Column, type_named
>>> columns = (Column("n", type_named("BIGINT")),)
>>> values = list(codec.encoded(pl.DataFrame({"n": [7]})))
>>> rows, bad = codec.decoded([*values, None], columns)
>>> values, rows.rows.rows(), bad
([b'\\x0e'], [(7,)], {1: 'the record has no value'})
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from sqlwin.durations import micros
from sqlwin.errors import QueryError, RunError
from sqlwin.instants import SECOND
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.options import kafka_options
from sqlwin.runtime.formats import debezium
from sqlwin.runtime.formats.lines import Lines
from sqlwin.runtime.kafka.avro_schema import schema_of
from sqlwin.runtime.kafka.records import NO_VALUE, Found
from sqlwin.runtime.kafka.registry import Registry
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.schema import Schema
from sqlwin.system.secrets import refers

MISSING = "Avro needs fastavro: pip install 'sqlwin[kafka]'"
_HEAD = struct.Struct(">bI")
MAGIC = 0


def fastavro() -> Any:
    """The library. RunError where it is not installed."""
    try:
        import fastavro.schema
    except ImportError as missing:
        raise RunError(MISSING) from missing
    return fastavro


@dataclass(frozen=True)
class Avro:
    """topic: whose values they are, names the subject `<topic>-value`. registry, schema: one of
    them at least, but for a sink with a registry, whose schema follows from its columns."""

    topic: str
    registry: Registry | None
    schema: str | None

    def decoded(
        self, values: Sequence[bytes | None], columns: Schema, op: str | None = None
    ) -> Found:
        """Rows of the columns, numbered as their values, and why others are none.

        op: the column of what a change is, where values are envelopes of Debezium.
        """
        bad: dict[int, str] = {}
        numbers: list[int] = []
        rows: list[Mapping[str, Any]] = []
        for at, value in enumerate(values):
            try:
                record = self._record(value)
                rows.append(record if op is None else debezium.row(record, op))
                numbers.append(at)
            except ValueError as why:
                bad[at] = str(why)
        own = [column.name for column in columns]
        given = [{name: row.get(name) for name in own} for row in rows]
        lines = Lines.of(frame_of(given, columns), columns, np.array(numbers, dtype=np.int64))
        return replace(lines, bad={}), dict(sorted((bad | lines.bad).items()))

    def _record(self, value: bytes | None) -> Mapping[str, Any]:
        if value is None:
            raise ValueError(NO_VALUE)
        writer, body = self._written_by(value)
        reader = None if self.schema is None or self.registry is None else parsed(self.schema)
        file = io.BytesIO(body)
        try:
            found = fastavro().schemaless_reader(file, writer, reader)
        except Exception as failure:  # whatever a decoder meets in wrong bytes
            why = str(failure) or type(failure).__name__
            raise ValueError(f"the record does not fit its schema: {why}") from failure
        if file.tell() != len(body):
            raise ValueError(f"the record has {len(body) - file.tell()} bytes behind its value")
        if not isinstance(found, Mapping):
            raise ValueError("the value is no record of Avro")
        return found

    def _written_by(self, value: bytes) -> tuple[Any, bytes]:
        """The schema, and the value behind its number."""
        if self.registry is None:
            assert self.schema is not None
            return parsed(self.schema), value
        if len(value) < _HEAD.size or value[0] != MAGIC:
            raise ValueError("the record does not begin with 0 and the number of a schema")
        _, number = _HEAD.unpack_from(value)
        try:
            return parsed(self.registry.schema(number)), value[_HEAD.size :]
        except QueryError as wrong:
            raise ValueError(f"schema {number} of the registry: {wrong.message}") from wrong

    def encoded(self, rows: pl.DataFrame) -> Iterator[bytes]:
        """Values of the rows. RunError for one that does not fit a schema given."""
        text = self.schema or json.dumps(schema_of(rows, self.topic))
        head = b""
        if self.registry is not None:
            head = _HEAD.pack(MAGIC, _number(self.registry, f"{self.topic}-value", text))
        schema = parsed(text)
        for row in rows.iter_rows(named=True):
            out = io.BytesIO(head)
            out.seek(len(head))
            try:
                fastavro().schemaless_writer(out, schema, row)
            except (ValueError, TypeError, OverflowError, AttributeError) as failure:
                message = f"a result does not fit the option 'avro.schema' of {self.topic}"
                raise RunError(f"{message}: {failure}") from failure
            yield out.getvalue()


def codec(what: str, options: Mapping[str, str], topic: str) -> Avro | None:
    """Of a stream or sink whose format is Avro. QueryError for options that do not go together."""
    own = (kafka_options.REGISTRY, kafka_options.REGISTRY_CREDENTIALS, kafka_options.SCHEMA)
    given = [options.get(name) for name in own]
    url, credentials, schema = given
    if options.get("format") != kafka_options.AVRO:
        unused = next((name for name in own if name in options), None)
        if unused is not None:
            message = f"{what} has an option {unused!r}, and its format is not Avro"
            raise QueryError(message, legal="format = 'avro'")
        return None
    if url is None and schema is None:
        message = f"{what} has format 'avro', and neither a registry nor a schema"
        legal = "'avro.schema.registry.url' = 'http://host:8081', or 'avro.schema' = '{…}'"
        raise QueryError(message, legal=legal)
    if schema is not None and not refers(schema):
        parsed(schema)
    wait = micros(options.get("wait", "30 seconds"), None) / SECOND
    registry = None if url is None else Registry(url, credentials or "", wait)
    return Avro(topic, registry, schema)


@lru_cache(maxsize=1024)
def parsed(text: str) -> Any:
    """QueryError for what is no schema."""
    try:
        return fastavro().schema.parse_schema(json.loads(text))
    except (ValueError, TypeError, KeyError, fastavro().schema.SchemaParseException) as failure:
        why = str(failure) or type(failure).__name__
        raise QueryError(f"this is no schema of Avro: {why}", legal="a schema in JSON") from failure
    except fastavro().schema.UnknownType as failure:
        raise QueryError(f"a schema of Avro has an unknown type {failure}") from failure


@lru_cache(maxsize=1024)
def _number(registry: Registry, subject: str, schema: str) -> int:
    return registry.register(subject, schema)
