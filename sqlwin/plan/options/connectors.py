"""The options of WITH: which each connector reads, their legal values, and the error otherwise.

One table, of streams and of sinks; docs/connectors.md shows it, and a test holds the two equal.

>>> check("stream orders", {"connector": "kafak"}, STREAMS)
Traceback (most recent call last):
sqlwin.errors.QueryError: stream orders has an unknown connector 'kafak'; did you mean kafka?
  legal: duckdb, files, kafka, nexmark, postgres, sqlite
>>> boolean("Yes"), boolean("0")
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlwin.durations import micros
from sqlwin.errors import QueryError, Span
from sqlwin.instants import parse_instant
from sqlwin.names import nearest
from sqlwin.plan.options import elsewhere, kafka_options, ttl_options
from sqlwin.plan.options.sinks import CHANGELOGS
from sqlwin.plan.options.table_options import RESTARTS, key_columns, renamed, table_name
from sqlwin.secrets import refers

TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
MOST = 10**12
"""Of any count."""
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


def boolean(text: str) -> bool:
    """ValueError for what is neither."""
    word = text.strip().lower()
    if word not in TRUE + FALSE:
        raise ValueError(text)
    return word in TRUE


def count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > MOST:
        raise ValueError(text)
    return int(text)


def positive(text: str) -> int:
    if not count(text):
        raise ValueError(text)
    return int(text)


def is_positive(text: str) -> bool:
    try:
        return positive(text) > 0
    except ValueError:
        return False


def duration(text: str) -> int:
    """Microseconds, not negative."""
    found = micros(text, None)
    if found < 0:
        raise ValueError(text)
    return found


def positive_duration(text: str) -> int:
    if not duration(text):
        raise ValueError(text)
    return duration(text)


def _delimiter(text: str) -> str:
    if len(text) != 1 or not text.isascii() or text in '"\r\n':  # fields are cut at one byte
        raise ValueError(text)
    return text


def _path(text: str) -> str:
    if "\0" in text:
        raise ValueError(text)
    return text


def _table(text: str) -> str:
    if text.lower() not in TABLES:
        raise ValueError(text)
    return text.lower()


def _some(text: str) -> str:
    if not text:
        raise ValueError(text)
    return text


@dataclass(frozen=True)
class Option:
    """read: ValueError for what cannot be. legal: one of words, or what the docs say.

    default: "" where there is none. needed: it has to be given.
    """

    name: str
    read: Callable[[str], object] | tuple[str, ...]
    legal: str
    about: str
    default: str = ""
    needed: bool = False

    def check(
        self, what: str, text: str, span: Span | None = None, written: str | None = None
    ) -> None:
        """QueryError for a value that cannot be; what a reference stands for is not known yet.

        written: the value as the script has it, where `text` is what its references stand for.
        """
        written = text if written is None else written
        if refers(text) and written == text:
            return
        shown = repr(written)
        try:
            if not isinstance(self.read, tuple):
                self.read(text)
            elif text not in self.read:
                near = nearest(text, self.read) if written == text else ""
                message = f"{what} has an unknown {self.name} {shown}{near}"
                raise QueryError(message, span, legal=self.legal)
        except ValueError:
            message = f"{what} has an option {self.name!r} that cannot be {shown}"
            raise QueryError(message, span, legal=self.legal) from None


def _words(name: str, words: tuple[str, ...], about: str, default: str = "") -> Option:
    return Option(name, words, ", ".join(words), about, default)


FILE_FORMATS = ("json", "csv", "parquet")
_PARTITIONS = Option(
    "partitions", positive, "1 or more: partitions = 4", "how many the source has", "1"
)
_READ_PATH = Option(
    "path", _path, "path = '…'", "a file, a folder or a glob, see [files](#files)", needed=True
)
_WRITE_PATH = Option("path", _path, "path = '…'", "a folder of this run's alone", needed=True)
_FORMAT = _words("format", FILE_FORMATS, "of the files", "json")
_DATABASE = Option("path", _path, "path = '…'", "the database, a file", needed=True)
_NAMED = Option(
    "table", table_name, "table = 'name', or 'schema.name'", "of the database", needed=True
)
RELOAD = "reload.interval"
_RELOAD = Option(
    RELOAD,
    positive_duration,
    "'reload.interval' = '10 minutes'",
    "of a static table: how often it is looked at again",
)
_SERVER = (
    Option("url", _some, "url = 'postgresql://host:5432/name'", "of the database", needed=True),
    Option("user", _some, "user = 'me'", "where the URL has none"),
    Option("password", _some, "password = '${env:PGPASSWORD}'", "where the URL has none"),
)
_TTL = tuple(
    Option(name, read, legal, "see [state TTL](semantics/ttl.md)")
    for name, (_, read, legal) in ttl_options.OPTIONS.items()
)
_CHANGES = (
    _words(
        "changelog", (APPEND, UPSERT, RETRACT, DEBEZIUM), "see [changelogs](#changelogs)", APPEND
    ),
    Option("changelog.op", _some, "'changelog.op' = 'kind'", "the column that says what", "op"),
)
SHARED = (*_CHANGES, *_TTL)
TUNING = frozenset(
    (
        *("servers", "start", "max.records", "wait", "url", "user", "password", RELOAD),
        *(kafka_options.LOSS, kafka_options.IDLE),
        *(kafka_options.REGISTRY, kafka_options.REGISTRY_CREDENTIALS),
    )
)
"""Of streams: what says where the same rows are found, and how fast they are read."""

_DELIMITER = Option(
    "delimiter", _delimiter, "one ASCII character: delimiter = ';'", "CSV: between two fields", ","
)
_WAIT = Option(
    "wait", duration, "'30 seconds'", "until a failure that may pass is final", "30 seconds"
)
_SERVERS = Option(
    "servers", _some, "servers = 'host:9092, …'", "without it rows are those of a DataFrame"
)
_AVRO = (
    Option(
        kafka_options.REGISTRY,
        _some,
        "'avro.schema.registry.url' = 'http://host:8081'",
        "Avro: where schemas are",
    ),
    Option(
        kafka_options.REGISTRY_CREDENTIALS,
        _some,
        "'${env:REGISTRY_USER}', as user:password",
        "Avro: of the registry",
    ),
    Option(kafka_options.SCHEMA, _some, "a schema in JSON", "Avro: in place of the writer's"),
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
        _RELOAD,
        *_CHANGES,
        *_TTL,
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
        _words("format", kafka_options.FORMATS, "of the values", "json"),
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
        *_CHANGES,
        *_TTL,
    ),
    "duckdb": (_DATABASE, _NAMED, _RELOAD),
    "postgres": (*_SERVER, _NAMED, _RELOAD),
    "sqlite": (_DATABASE, _NAMED, _RELOAD),
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
        *_TTL,
    ),
    CALLER: (_PARTITIONS, *_CHANGES, *_TTL),
}
_CHANGELOG = _words("changelog", CHANGELOGS, "what it can hold", "upsert")
_OF_TABLES = (
    Option(
        "create", boolean, ", ".join(TRUE + FALSE), "make the table where there is none", "false"
    ),
    Option("unique", key_columns, "unique = 'product, day'", "what identifies a row", "row_key"),
    Option("columns", renamed, "columns = 'n = total'", "result column = column of the table"),
    _words("restart", RESTARTS, "what becomes of rows of another run", "refuse"),
    _WAIT,
    _words("changelog", CHANGELOGS[:2], "what it can hold", "upsert"),
)
_TABLE = (_NAMED, *_OF_TABLES)
SINKS: Connectors = {
    "console": (_CHANGELOG,),
    "delta": (
        Option("path", _path, "path = '…'", "of the table: a folder, or a URL", needed=True),
        *_OF_TABLES,
    ),
    "duckdb": (_DATABASE, *_TABLE),
    "files": (_WRITE_PATH, _FORMAT, _CHANGELOG),
    "iceberg": (
        Option("catalog", _some, "catalog = 'name'", "in pyiceberg's configuration", "default"),
        Option("uri", _some, "uri = 'sqlite:///catalog.db'", "of the catalog"),
        Option("warehouse", _some, "warehouse = 'file:///lake'", "where its tables are made"),
        *_TABLE,
    ),
    "kafka": (
        Option("servers", _some, "servers = 'host:9092, …'", "of the cluster", needed=True),
        Option("topic", _some, "topic = '…'", "which exists", needed=True),
        _words("format", kafka_options.WRITTEN, "of the values", "json"),
        *_AVRO,
        Option("unique", key_columns, "unique = 'product, day'", "the key of a record", "row_key"),
        Option("transactional.id", _some, "of no other writer", "of its transactions"),
        _WAIT,
        _CHANGELOG,
    ),
    "none": (_CHANGELOG,),
    "postgres": (*_SERVER, *_TABLE),
    "python": (_CHANGELOG,),
    "sqlite": (_DATABASE, *_TABLE),
}


def check(
    what: str,
    given: Mapping[str, str],
    known: Connectors,
    span: Span | None = None,
    written: Mapping[str, str] | None = None,
    places: Mapping[str, Span] = MappingProxyType({}),
) -> None:
    """QueryError for a connector or option that is not known, or cannot be so.

    written: the options as the script has them, for messages, where `given` are looked up.
    span, places: of the declaration, and of each option that has its own.
    """
    as_written = given if written is None else written
    connector = connector_of(given, known)
    if connector not in known or (given.get("connector") == CALLER and known is STREAMS):
        names = sorted(set(known) - ({CALLER} if known is STREAMS else set()))
        others = elsewhere.CONNECTORS if known is STREAMS else elsewhere.SINK_CONNECTORS
        near = nearest(connector, names, others)
        message = f"{what} has an unknown connector {connector!r}{near}"
        raise QueryError(message, places.get("connector", span), legal=", ".join(names))
    options = {option.name: option for option in known[connector]}
    ttl_options.options(given if known is STREAMS else {}, span)
    for name, text in given.items():
        if name != "connector" and not _by_prefix(name, connector, known):
            at = places.get(name, span)
            _known(what, name, connector, known, at)
            options[name].check(what, text, at, as_written[name])


def _by_prefix(name: str, connector: str, known: Connectors) -> bool:
    """Whether it is one of many: a state TTL's, or a setting of Kafka's client."""
    if connector == "kafka" and name.startswith(kafka_options.CLIENT):
        return name.removeprefix(kafka_options.CLIENT) not in kafka_options.OURS
    return known is STREAMS and name.startswith(ttl_options.STATE)


def tunes(name: str) -> bool:
    """Whether an option of a stream may be another where a query goes on from a checkpoint."""
    return name in TUNING or name.startswith(kafka_options.CLIENT)


def check_whole(
    what: str,
    given: Mapping[str, str],
    known: Connectors,
    written: Mapping[str, str] | None = None,
) -> None:
    """As `check`, of what is to be opened: QueryError where a needed option is missing, too."""
    check(what, given, known, written=written)
    for option in known[connector_of(given, known)]:
        if option.needed and not given.get(option.name):
            raise QueryError(f"{what} needs an option {option.name!r}", legal=option.legal)


def connector_of(given: Mapping[str, str], known: Connectors = STREAMS) -> str:
    """As named; without a name a stream with a path is of files, a sink the console's."""
    if known is SINKS:
        return given.get("connector", "console")
    return given.get("connector", "files" if "path" in given else CALLER)


def _known(what: str, name: str, connector: str, known: Connectors, span: Span | None) -> None:
    legal = [option.name for option in known[connector] if option not in _TTL]
    if name in legal:
        return
    named = [option.name for option in known[connector] if option not in (*SHARED, _RELOAD)]
    own = ", ".join(["connector", *named])
    others = [each for each, options in known.items() if name in [o.name for o in options]]
    if others:
        of = " and ".join(repr(each) for each in others if each != CALLER)
        message = f"{what} has an option {name!r}, which is of the connector {of}"
        raise QueryError(message, span, legal=own)
    anywhere = [option.name for options in known.values() for option in options]
    words = elsewhere.OPTIONS if known is STREAMS else elsewhere.SINK_OPTIONS
    near = nearest(name, ["connector", *legal], words) or nearest(name, anywhere)
    raise QueryError(f"{what} has an unknown option {name!r}{near}", span, legal=own)


def table(known: Connectors) -> list[tuple[str, str, str, str, str]]:
    """Connector, option, what is legal, default, what it says; what many share once, at the end."""
    streams = (("any but nexmark", _CHANGES), ("any", _TTL))
    shared = streams if known is STREAMS else (("a table", _OF_TABLES),)
    together = [(by, option) for by, options in shared for option in options]
    once = [option for _, option in together]
    own = [(name, o) for name, options in known.items() for o in options if o not in once]
    return [
        (name, o.name, o.legal, "needed" if o.needed else o.default, o.about)
        for name, o in (*own, *together)
    ]
