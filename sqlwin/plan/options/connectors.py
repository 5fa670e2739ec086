"""The options of WITH: which each connector reads, and their legal values.

One table, of streams and of sinks; docs/connectors.md shows it, and a test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlwin.instants import parse_instant
from sqlwin.plan.options import kafka_options, ttl_options
from sqlwin.plan.options.option import (
    FALSE,
    MOST,
    TRUE,
    Option,
    boolean,
    count,
    delimiter_text,
    duration,
    one_of,
    path_text,
    positive,
    positive_duration,
    some,
)
from sqlwin.plan.options.sinks import CHANGELOGS
from sqlwin.plan.options.table_options import RESTARTS, key_columns, renamed, table_name
from sqlwin.plan.options.tuning import RELOAD

TABLES = ("person", "auction", "bid")
"""Of Nexmark."""
APPEND, UPSERT, RETRACT, DEBEZIUM = "append", "upsert", "retract", "debezium"
"""Changelogs of streams."""
STATIC = ("duckdb", "postgres", "sqlite")
"""Connectors of static tables alone: a database does not say what has changed."""
LAKES = ("delta", "iceberg")
"""Connectors of sinks that are tables of a lake."""
CALLER = "none"
"""In place of a connector: rows come from, or go to, whoever embeds the query."""


def _table(text: str) -> str:
    if text.lower() not in TABLES:
        raise ValueError(text)
    return text.lower()


FILE_FORMATS = ("json", "csv", "parquet")
_PARTITIONS = Option(
    "partitions", positive, "1 or more: partitions = 4", "how many the source has", "1"
)
_READ_PATH = Option(
    "path", path_text, "path = '…'", "a file, a folder or a glob, see [files](#files)", needed=True
)
_WRITE_PATH = Option("path", path_text, "path = '…'", "a folder of this run's alone", needed=True)
_FORMAT = one_of("format", FILE_FORMATS, "of the files", "json")
_DATABASE = Option("path", path_text, "path = '…'", "the database, a file", needed=True)
_NAMED = Option(
    "table", table_name, "table = 'name', or 'schema.name'", "of the database", needed=True
)
RELOAD_OPTION = Option(
    RELOAD,
    positive_duration,
    "'reload.interval' = '10 minutes'",
    "of a static table: how often it is looked at again",
)
_SERVER = (
    Option("url", some, "url = 'postgresql://host:5432/name'", "of the database", needed=True),
    Option("user", some, "user = 'me'", "where the URL has none"),
    Option("password", some, "password = '${env:PGPASSWORD}'", "where the URL has none"),
)
TTL_OPTIONS = tuple(
    Option(name, read, legal, "see [state TTL](semantics/ttl.md)")
    for name, (_, read, legal) in ttl_options.OPTIONS.items()
)
CHANGES = (
    one_of(
        "changelog", (APPEND, UPSERT, RETRACT, DEBEZIUM), "see [changelogs](#changelogs)", APPEND
    ),
    Option("changelog.op", some, "'changelog.op' = 'kind'", "the column that says what", "op"),
)
SHARED = (*CHANGES, *TTL_OPTIONS)

_DELIMITER = Option(
    "delimiter",
    delimiter_text,
    "one ASCII character: delimiter = ';'",
    "CSV: between two fields",
    ",",
)
PARTITIONED = "partitioned"
_PARTITIONED = Option(
    PARTITIONED,
    key_columns,
    "partitioned = 'day, zone', or PARTITIONED BY (day, zone)",
    "columns that are names of [folders](#partitioned-folders)",
)
_WAIT = Option(
    "wait", duration, "'30 seconds'", "until a failure that may pass is final", "30 seconds"
)
_SERVERS = Option(
    "servers", some, "servers = 'host:9092, …'", "without it rows are those of a DataFrame"
)
_AVRO = (
    Option(
        kafka_options.REGISTRY,
        some,
        "'avro.schema.registry.url' = 'http://host:8081'",
        "Avro: where schemas are",
    ),
    Option(
        kafka_options.REGISTRY_CREDENTIALS,
        some,
        "'${env:REGISTRY_USER}', as user:password",
        "Avro: of the registry",
    ),
    Option(kafka_options.SCHEMA, some, "a schema in JSON", "Avro: in place of the writer's"),
)
START = (
    "earliest, latest, '2024-01-31T00:00:00Z', or offsets by partition: '0:17, 1:5', 'orders/0:17'"
)
METADATA = "metadata = 'id = key, at = timestamp'; or topic, partition, offset, header.NAME"

Connectors = dict[str, tuple[Option, ...]]
STREAMS: Connectors = {
    "files": (
        _READ_PATH,
        _FORMAT,
        Option(
            "header", boolean, f"{', '.join(TRUE + FALSE)}", "CSV: the first line has names", "true"
        ),
        _DELIMITER,
        _PARTITIONED,
        RELOAD_OPTION,
        *CHANGES,
        *TTL_OPTIONS,
    ),
    "kafka": (
        _SERVERS,
        Option(
            "topic",
            kafka_options.topics,
            "topic = '…', or several with a comma between",
            "this or a pattern is needed with servers",
        ),
        Option(
            kafka_options.PATTERN,
            kafka_options.pattern,
            "a regular expression: 'topic.pattern' = 'orders-.*'",
            "of the whole names of topics",
        ),
        one_of("format", kafka_options.FORMATS, "of the values", "json"),
        *_AVRO,
        _DELIMITER,
        Option("start", kafka_options.start, START, "where the first run begins", "earliest"),
        Option("metadata", kafka_options.metadata, METADATA, "columns that are not of the value"),
        Option("max.records", positive, "1 or more", "offsets that a batch reads", "100000"),
        Option(
            kafka_options.LOSS,
            boolean,
            ", ".join(TRUE + FALSE),
            "whether a run ends where records are gone that were not read",
            "true",
        ),
        Option(
            kafka_options.IDLE,
            positive_duration,
            "'idle.timeout' = '30 seconds'",
            "after which a partition without rows does not hold the watermark back",
        ),
        _WAIT,
        _PARTITIONS,
        *CHANGES,
        *TTL_OPTIONS,
    ),
    "duckdb": (_DATABASE, _NAMED, RELOAD_OPTION),
    "postgres": (*_SERVER, _NAMED, RELOAD_OPTION),
    "sqlite": (_DATABASE, _NAMED, RELOAD_OPTION),
    "nexmark": (
        Option("table", _table, ", ".join(TABLES), "which of its tables", "the stream's name"),
        Option("events", positive, f"1 to {MOST:,}: events = 100000", "of all tables", "100000"),
        Option("rate", positive, "1 or more: rate = 1000", "events a second", "1000"),
        Option("seed", count, f"0 to {MOST:,}: seed = 1", "of its chances", "0"),
        Option("out-of-orderness", duration, "'4 seconds'", "how late a row may be", "0 seconds"),
        Option(
            "base.time",
            parse_instant,
            "'2015-07-15T00:00:00Z'",
            "of the first event",
            "2015-07-15T00:00:00Z",
        ),
        Option(
            "step.events", positive, "1 or more: 'step.events' = 10000", "events a split", "10000"
        ),
        *TTL_OPTIONS,
    ),
    CALLER: (_PARTITIONS, *CHANGES, *TTL_OPTIONS),
}
_CHANGELOG = one_of("changelog", CHANGELOGS, "what it can hold", "upsert")
OF_TABLES = (
    Option(
        "create", boolean, ", ".join(TRUE + FALSE), "make the table where there is none", "false"
    ),
    Option("unique", key_columns, "unique = 'product, day'", "what identifies a row", "row_key"),
    Option("columns", renamed, "columns = 'n = total'", "result column = column of the table"),
    one_of("restart", RESTARTS, "what becomes of rows of another run", "refuse"),
    _WAIT,
    one_of("changelog", CHANGELOGS[:2], "what it can hold", "upsert"),
)
_TABLE = (_NAMED, *OF_TABLES)
SINKS: Connectors = {
    "console": (_CHANGELOG,),
    "delta": (
        Option("path", path_text, "path = '…'", "of the table: a folder, or a URL", needed=True),
        *OF_TABLES,
    ),
    "duckdb": (_DATABASE, *_TABLE),
    "files": (_WRITE_PATH, _FORMAT, _PARTITIONED, _CHANGELOG),
    "iceberg": (
        Option("catalog", some, "catalog = 'name'", "in pyiceberg's configuration", "default"),
        Option("uri", some, "uri = 'sqlite:///catalog.db'", "of the catalog"),
        Option("warehouse", some, "warehouse = 'file:///lake'", "where its tables are made"),
        *_TABLE,
    ),
    "kafka": (
        Option("servers", some, "servers = 'host:9092, …'", "of the cluster", needed=True),
        Option("topic", some, "topic = '…'", "which exists", needed=True),
        one_of("format", kafka_options.WRITTEN, "of the values", "json"),
        *_AVRO,
        Option("unique", key_columns, "unique = 'product, day'", "the key of a record", "row_key"),
        Option("transactional.id", some, "of no other writer", "of its transactions"),
        _WAIT,
        _CHANGELOG,
    ),
    "none": (_CHANGELOG,),
    "postgres": (*_SERVER, *_TABLE),
    "python": (_CHANGELOG,),
    "sqlite": (_DATABASE, *_TABLE),
}


def connector_of(given: Mapping[str, str], known: Connectors = STREAMS) -> str:
    """As named; without a name a stream with a path is of files, a sink the console's."""
    if known is SINKS:
        return given.get("connector", "console")
    return given.get("connector", "files" if "path" in given else CALLER)
