"""What a declaration says of a topic as a source, checked."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from sqlwin.durations import micros
from sqlwin.errors import QueryError
from sqlwin.instants import SECOND
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options import kafka_options
from sqlwin.plan.options.connectors import STREAMS
from sqlwin.plan.options.option import boolean
from sqlwin.runtime.kafka.avro import codec
from sqlwin.runtime.kafka.client import settings_of
from sqlwin.runtime.kafka.source import KafkaSource
from sqlwin.runtime.kafka.topics import Topics
from sqlwin.runtime.kafka.values import Values, in_value, is_debezium
from sqlwin.schema import TIMESTAMP, type_name
from sqlwin.system.secrets import refers

DEFAULTS = {option.name: option.default for option in STREAMS["kafka"] if option.default}
TEXTS, COUNTS = (pa.string(), pa.binary()), (pa.int64(), pa.int32())
TYPES: dict[str, tuple[pa.DataType, ...]] = {
    "timestamp": (TIMESTAMP,),
    "topic": (pa.string(),),
    "partition": COUNTS,
    "offset": (pa.int64(),),
}
"""Of columns that are parts of a record; any other is a text or bytes."""


def declared(stream: Stream) -> KafkaSource:
    """QueryError for metadata that is no column, or has no such type; options were checked."""
    options = dict(stream.options)
    known = {name: value for name, value in options.items() if not refers(value)}
    given = {**DEFAULTS, **known}  # of a script that is only checked, not all is known
    metadata = kafka_options.metadata(given["metadata"]) if "metadata" in given else {}
    _check_columns(stream, metadata, given["format"])
    avro = codec(f"stream {stream.name}", given, options.get("topic", ""))
    return KafkaSource(
        stream,
        _topics(stream.name, options),
        settings_of(options),
        Values(stream, given["format"], avro, given["delimiter"], metadata),
        kafka_options.start(given["start"]),
        int(given["max.records"]),
        not boolean(given[kafka_options.LOSS]),
        micros(given["wait"], None) / SECOND,
    )


def _topics(stream: str, options: Mapping[str, str]) -> Topics:
    names, pattern = options.get("topic"), options.get(kafka_options.PATTERN)
    if (names is None) == (pattern is None):
        wrong = "needs an option 'topic'" if names is None else "has a topic and a topic.pattern"
        message = f"stream {stream} {wrong}"
        raise QueryError(message, legal="topic = '…', or 'topic.pattern' = '…'")
    return Topics(kafka_options.topics(names) if names is not None else (), pattern or "")


def _check_columns(stream: Stream, metadata: Mapping[str, str], format_: str) -> None:
    known = {column.name: column.type for column in stream.columns}
    for name, part in metadata.items():
        if name not in known:
            message = f"metadata of stream {stream.name} names {name}, no column"
            raise QueryError(message, legal=", ".join(known))
        legal = TYPES.get(part, TEXTS)
        if known[name] not in legal:
            message = f"{name} of stream {stream.name} is {type_name(known[name])}, and a {part}"
            raise QueryError(message, legal=" or ".join(map(type_name, legal)))
    if stream.changelog and stream.changelog.op in metadata and is_debezium(stream):
        message = f"metadata of stream {stream.name} names {stream.changelog.op}"
        raise QueryError(f"{message}, which an envelope has", legal="'changelog.op' = 'kind'")
    own = [column.type for column in in_value(stream, metadata, format_)]
    if format_ == "raw" and (len(own) != 1 or own[0] not in TEXTS):
        message = f"stream {stream.name} has format 'raw', and not one column for the value"
        raise QueryError(message, legal="one column, STRING or BINARY, beside those of metadata")
