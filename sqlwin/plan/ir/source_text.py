"""The source of a script: its text, its parameters, streams and tables declared from outside.

It is stored in the checkpoint, so that state queries need nothing else;
`docs/state-format.md` has the fields. Functions written in Python are not stored, since code
is never loaded from a checkpoint: a state query is given them again. Nor are secrets of
connectors, see `secrets`.

>>> import pyarrow as pa
>>> stream = Stream("orders", (Column("n", pa.int64()),), None, offset="n")
>>> source = SourceText("SELECT n FROM orders WHERE n > :least", (("least", "7"),), (stream,))
>>> SourceText.load(source.dump()) == source
True
>>> SourceText.load('{"version": 2}')
Traceback (most recent call last):
sqlwin.errors.StateError: the query's text has version 2, known is 1: made by a newer sqlwin
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import field
from typing import Any

import pyarrow as pa

from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.streams import Scalar, Stream
from sqlwin.schema import Column, arrow_schema
from sqlwin.system.secrets import hidden, masked

VERSION = 1


@dataclass(frozen=True)
class SourceText:
    text: str = field(repr=False)  # with the secrets of its connectors
    params: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    streams: tuple[Stream, ...] = ()
    tables: tuple[Stream, ...] = ()

    def dump(self) -> str:
        """Without secrets: a source is not opened to look at its state."""
        text = masked(self.text)
        used = {name: value for name, value in self.params if _named(name, text)}
        fields = {
            "version": VERSION,
            "text": text,
            "params": used if text != self.text else dict(self.params),
            "streams": [_dumped(stream) for stream in self.streams],
        }
        if self.tables:
            fields["tables"] = [_dumped(table) for table in self.tables]
        return json.dumps(fields)

    @staticmethod
    def load(text: str) -> SourceText:
        """StateError where another version wrote it."""
        found = json.loads(text)
        if found["version"] != VERSION:
            raise StateError(
                f"the query's text has version {found['version']}, known is {VERSION}: "
                f"made by a newer sqlwin"
            )
        streams = tuple(_loaded(stream) for stream in found["streams"])
        tables = tuple(_loaded(table) for table in found.get("tables", []))
        return SourceText(found["text"], tuple(found["params"].items()), streams, tables)


def _dumped(stream: Stream) -> dict[str, Any]:
    schema = arrow_schema(stream.schema).serialize().to_pybytes()
    return {
        "name": stream.name,
        "schema": base64.b64encode(schema).decode(),
        "computed": {name: [s.sql, s.duckdb, list(s.inputs)] for name, s in stream.computed},
        "ts": stream.ts,
        "delay": stream.delay,
        "offset": stream.offset,
        "trusted": stream.trusted,
        "options": {name: str(value) for name, value in hidden(stream.options)},
        "inferred": stream.inferred,
        "zones": {column.name: column.zone for column in stream.columns if column.zone != "UTC"},
    }


def _named(param: str, text: str) -> bool:
    return re.search(rf"(?<![\w:]):{re.escape(param)}\b", text) is not None


def _loaded(found: dict[str, Any]) -> Stream:
    schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(found["schema"])))
    declared = [field for field in schema if field.name not in found["computed"]]
    computed = {
        name: Scalar(sql, duckdb, schema.field(name).type, tuple(inputs))
        for name, (sql, duckdb, inputs) in found["computed"].items()
    }
    zones = found.get("zones", {})
    return Stream(
        found["name"],
        tuple(Column(field.name, field.type, zones.get(field.name, "UTC")) for field in declared),
        found["ts"],
        found["delay"],
        tuple(computed.items()),
        found["offset"],
        found["trusted"],
        hidden(tuple(found["options"].items())),
        inferred=found.get("inferred", "path" in found["options"]),
    )
