"""Connectors and options of other engines, and what is written in their place.

>>> OPTIONS["properties.bootstrap.servers"], CONNECTORS["csv"]
("servers = 'localhost:9092'", "connector = 'files', format = 'csv'")
"""

from __future__ import annotations

_SERVERS = "servers = 'localhost:9092'"
_TOPIC = "connector = 'kafka', topic = 'orders'"
_FORMAT = "format = 'json'"
_START = "start = 'earliest'"
_SKIPPED = "none: rows that cannot be read are in the error stream"
_NONE = "none: a checkpoint keeps the position"
_UNIQUE = "unique = 'id'"
_EVENT_TIME = "WATERMARK FOR ts AS ts, among the columns"

_CONNECTORS = {
    "csv": "connector = 'files', format = 'csv'",
    "json": "connector = 'files', format = 'json'",
    "parquet": "connector = 'files', format = 'parquet'",
    "file": "connector = 'files'",
    "filesystem": "connector = 'files'",
    "s3": "connector = 'files'",
    "socket": "connector = 'files', path = 'a folder'",
    "upsert-kafka": "connector = 'kafka', changelog = 'upsert'",
    "jdbc": "connector = 'postgres', 'sqlite' or 'duckdb'",
    "postgresql": "connector = 'postgres'",
}
CONNECTORS: dict[str, str] = {
    **_CONNECTORS,
    "console": "a connector of CREATE SINK",
    "datagen": "connector = 'nexmark'",
    "faker": "connector = 'nexmark'",
    "rate": "connector = 'nexmark'",
    "postgres-cdc": "connector = 'kafka', changelog = 'debezium'",
    "mysql-cdc": "connector = 'kafka', changelog = 'debezium'",
}
"""Of streams and tables."""
SINK_CONNECTORS: dict[str, str] = {
    **_CONNECTORS,
    "print": "connector = 'console'",
    "blackhole": "connector = 'none'",
}

_OPTIONS = {
    "bootstrap.servers": _SERVERS,
    "kafka.bootstrap.servers": _SERVERS,
    "properties.bootstrap.server": _SERVERS,
    "properties.bootstrap.servers": _SERVERS,
    "kafka_topic": _TOPIC,
    "value_format": _FORMAT,
    "value.format": _FORMAT,
    "table-name": "table = 'name'",
    "dbtable": "table = 'name'",
}
OPTIONS: dict[str, str] = {
    **_OPTIONS,
    "properties.group.id": _NONE,
    "group.id": _NONE,
    "subscribe": _TOPIC,
    "key_format": "metadata = 'id = key'",
    "key": "metadata = 'id = key'",
    "scan.startup.mode": _START,
    "startingoffsets": _START,
    "auto.offset.reset": _START,
    "csv.field-delimiter": "delimiter = ';'",
    "value_delimiter": "delimiter = ';'",
    "sep": "delimiter = ';'",
    "csv.ignore-parse-errors": _SKIPPED,
    "json.ignore-parse-errors": _SKIPPED,
    "json.fail-on-missing-field": _SKIPPED,
    "timestamp": _EVENT_TIME,
    "timestamp_format": _EVENT_TIME,
}
"""Of streams and tables, by their names in lower case."""
SINK_OPTIONS: dict[str, str] = {
    **_OPTIONS,
    "key": _UNIQUE,
    "key.fields": _UNIQUE,
    "primary_key": _UNIQUE,
}

SETTINGS: dict[str, str] = {
    "auto.offset.reset": f"an option of WITH, {_START}",
    "ksql.streams.auto.offset.reset": f"an option of WITH, {_START}",
    "parallelism.default": "buckets = 8",
    "execution.parallelism": "buckets = 8",
    "sql-client.execution.result-mode": "an argument of the command, --output table",
    "execution.checkpointing.interval": "an argument of the command, --checkpoint DIR",
    "execution.runtime-mode": "an argument of the command, --follow or none",
}
"""Those of SET, likewise."""
