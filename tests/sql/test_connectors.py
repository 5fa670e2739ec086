"""Options of WITH: known, of a value that can be, and suggested where a name is near."""
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import sqlwin
from sqlwin.errors import QueryError
from sqlwin.plan.options import elsewhere
from sqlwin.plan.options.connectors import (
    CHANGES,
    OF_TABLES,
    SINKS,
    STREAMS,
    TTL_OPTIONS,
    Connectors,
)
from sqlwin.plan.options.option import FALSE, TRUE, boolean
from sqlwin.plan.properties.facts import sources_of
from sqlwin.runtime.connectors.option_reader import read_options
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.sql import script

NAMED = re.compile(r"connector = '(\w+)'(?:, '(\w+)')?(?: or '(\w+)')?")
STREAM = "CREATE STREAM s (a INT) WITH ({}); SELECT a FROM s"
SINK = "CREATE SINK k WITH ({})"
DOCS = Path(__file__).parents[2] / "docs" / "connectors.md"


@pytest.mark.parametrize(
    ("text", "message", "legal"),
    [
        (STREAM.format("connector = 'flies', path = 'x'"), "stream s has an unknown connector 'flies'; did you mean files?", "duckdb, files, kafka, nexmark, postgres, sqlite"),
        (STREAM.format("connector = 'kafak'"), "stream s has an unknown connector 'kafak'; did you mean kafka?", "duckdb, files, kafka, nexmark, postgres, sqlite"),
        (STREAM.format("connector = 'none'"), "stream s has an unknown connector 'none'", "duckdb, files, kafka, nexmark, postgres, sqlite"),
        (STREAM.format("format = 'json'"), "stream s has an option 'format', which is of the connector 'files' and 'kafka'", "connector, partitions"),
        (STREAM.format("path = 'x', delimeter = ';'"), "stream s has an unknown option 'delimeter'; did you mean delimiter?", "connector, path, format, header, delimiter, partitioned"),
        (STREAM.format("pth = 'x'"), "stream s has an unknown option 'pth'; did you mean path?", "connector, partitions"),
        (STREAM.format("path = 'x', FORMAT = 'csv'"), "stream s has an unknown option 'FORMAT'; did you mean format?", "connector, path, format, header, delimiter, partitioned"),
        (STREAM.format("path = 'x', format = 'josn'"), "stream s has an unknown format 'josn'; did you mean json?", "json, csv, parquet"),
        (STREAM.format("path = 'x', header = 'ja'"), "stream s has an option 'header' that cannot be 'ja'", ", ".join(TRUE + FALSE)),
        (STREAM.format("path = 'x', delimiter = '\"'"), "stream s has an option 'delimiter' that cannot be '\"'", "one ASCII character: delimiter = ';'"),
        (STREAM.format("path = 'x', delimiter = '§'"), "stream s has an option 'delimiter' that cannot be '§'", "one ASCII character: delimiter = ';'"),
        (STREAM.format("connector = 'files', path = 'a\\0b'"), "stream s has an option 'path' that cannot be 'a\\x00b'", "path = '…'"),
        (STREAM.format("path = 'x', partitions = 2"), "stream s has an option 'partitions', which is of the connector 'kafka'", "connector, path, format, header, delimiter, partitioned"),
        (STREAM.format("partitions = 0"), "stream s has an option 'partitions' that cannot be '0'", "1 or more: partitions = 4"),
        (STREAM.format("connector = 'kafka', format = 'xml'"), "stream s has an unknown format 'xml'", "json, csv, raw, avro"),
        (STREAM.format("connector = 'kafka', start = 'soon'"), "stream s has an option 'start' that cannot be 'soon'", "earliest, latest, '2024-01-31T00:00:00Z', or offsets by partition: '0:17, 1:5', 'orders/0:17'"),
        (STREAM.format("connector = 'kafka', metadata = 'a = kye'"), "stream s has an option 'metadata' that cannot be 'a = kye'", "metadata = 'id = key, at = timestamp'; or topic, partition, offset, header.NAME"),
        (STREAM.format("connector = 'kafka', 'kafka.isolation.level' = 'read_uncommitted'"), "stream s has an unknown option 'kafka.isolation.level'", "connector, servers, topic, topic.pattern, format, avro.schema.registry.url, avro.schema.registry.credentials, avro.schema, delimiter, start, metadata, max.records, fail.on.data.loss, idle.timeout, wait, partitions"),
        (STREAM.replace("STREAM", "TABLE").format("evnts = 3"), "table s has an unknown option 'evnts'; did you mean events?", "connector, partitions"),
        (SINK.format("connector = 'consle'"), "sink k has an unknown connector 'consle'; did you mean console?", "console, delta, duckdb, files, iceberg, kafka, none, postgres, python, sqlite"),
        (SINK.format("path = 'out'"), "sink k has an option 'path', which is of the connector 'delta' and 'duckdb' and 'files' and 'sqlite'", "connector, changelog"),
        (SINK.format("connector = 'files', path = 'o', format = 'cvs'"), "sink k has an unknown format 'cvs'; did you mean csv?", "json, csv, parquet"),
        (SINK.format("connector = 'files', path = 'a\\0b'"), "sink k has an option 'path' that cannot be 'a\\x00b'", "path = '…'"),
        (SINK.format("connector = 'none', state.ttl = '3 d'"), "sink k has an unknown option 'state.ttl'", "connector, changelog"),
    ],
)  # fmt: skip
def test_a_slip_in_an_option(text: str, message: str, legal: str) -> None:
    with pytest.raises(QueryError) as refusal:
        script(text)
    assert (refusal.value.message, refusal.value.legal) == (message, legal)
    assert refusal.value.span is not None


def test_an_unknown_option_does_not_pass_through_the_api() -> None:
    with pytest.raises(QueryError, match="stream s has an unknown option 'retain'"):
        sqlwin.query(STREAM.format("retain = '1 day'"))


@pytest.mark.parametrize("words", [TRUE, FALSE])
def test_words_for_booleans(words: tuple[str, ...]) -> None:
    assert {boolean(word) for word in (*words, words[0].upper())} == {words is TRUE}
    for neither in ("", "2", "y", "wahr"):
        with pytest.raises(ValueError, match=f"^{neither}$"):
            boolean(neither)


@pytest.mark.parametrize(("title", "known"), [("Streams", STREAMS), ("Sinks", SINKS)])
def test_the_docs_have_the_table(title: str, known: object) -> None:
    section = DOCS.read_text("utf-8").split(f"\n### {title}\n")[1].split("\n#")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    shown = [
        tuple(cell.strip().replace("`", "") for cell in line.strip("|").split("|"))
        for line in lines
    ]
    assert shown == [tuple(row) for row in _table(STREAMS if title == "Streams" else SINKS)]


@pytest.mark.parametrize(
    ("columns", "options", "message", "legal"),
    [
        ("a INT", "", "stream s needs an option 'topic'", "topic = '…', or 'topic.pattern' = '…'"),
        ("a INT", "topic = 't', 'topic.pattern' = 't.*'", "stream s has a topic and a topic.pattern", "topic = '…', or 'topic.pattern' = '…'"),
        ("a INT", "topic = 't', metadata = 'b = key'", "metadata of stream s names b, no column", "a"),
        ("a INT", "topic = 't', metadata = 'a = key'", "a of stream s is INT, and a key", "STRING or BINARY"),
        ("a INT", "topic = 't', format = 'avro'", "stream s has format 'avro', and neither a registry nor a schema", "'avro.schema.registry.url' = 'http://host:8081', or 'avro.schema' = '{…}'"),
        ("a INT", "topic = 't', 'avro.schema' = '{}'", "stream s has an option 'avro.schema', and its format is not Avro", "format = 'avro'"),
        ("a INT", "topic = 't', format = 'avro', 'avro.schema' = '{'", "this is no schema of Avro: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)", "a schema in JSON"),
        ("a INT", "topic = 't', format = 'raw'", "stream s has format 'raw', and not one column for the value", "one column, STRING or BINARY, beside those of metadata"),
    ],
)  # fmt: skip
def test_a_topic_that_cannot_be_rows(columns: str, options: str, message: str, legal: str) -> None:
    text = f"CREATE STREAM s ({columns}) WITH (connector = 'kafka', servers = 'h', {options})"
    (query,) = script(f"{text.replace(', )', ')')}; SELECT a FROM s").queries
    with pytest.raises(QueryError) as refusal:
        source_of(sources_of(query.plan)[0])
    assert (refusal.value.message, refusal.value.legal) == (message, legal)


def test_what_a_topic_refers_to_is_not_looked_up_by_a_check() -> None:
    options = ", ".join(f"{name} = '${{env:NONE}}'" for name in ("servers", "metadata", "start"))
    text = f"CREATE STREAM s (a INT) WITH (connector = 'kafka', topic = 't', {options})"
    read_options(script(f"{text}; SELECT a FROM s"))


TABLE = "exactly once, a batch is a transaction, with its number"
LAKE = "exactly once, a batch is a commit of the table, with its number"


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ("connector = 'kafka', servers = 'h', topic = 't'", "a batch is a transaction of Kafka"),
        ("connector = 'files', path = 't'", "exactly once, a batch is a file named by its number"),
        ("connector = 'sqlite', path = 't', table = 't'", TABLE),
        ("connector = 'duckdb', path = 't', table = 't'", TABLE),
        ("connector = 'postgres', url = 'postgresql://h/d', table = 't'", TABLE),
        ("connector = 'delta', path = 't'", LAKE),
        ("connector = 'iceberg', table = 'a.t'", LAKE),
        ("connector = 'python'", "at least once, a function gets a batch again with its number;"),
    ],
)
def test_explain_says_how_often_a_batch_is_delivered(options: str, reported: str) -> None:
    sink = f"CREATE SINK k WITH ({options})"
    text = f"CREATE STREAM s (a INT, ts TIMESTAMP, WATERMARK FOR ts AS ts); {sink}; "
    [line] = _deliveries(text + "INSERT INTO k SELECT a FROM s")
    assert line.startswith("Delivery: ")
    assert reported in line
    grouped = "SELECT COUNT(*) AS n FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE) "
    [line] = _deliveries(text + grouped + "GROUP BY window_start, window_end EXPIRED INTO k")
    assert line.startswith("Delivery of errors: ")
    assert reported in line


@pytest.mark.parametrize("connector", ["console", "none"])
def test_what_keeps_nothing_has_no_delivery(connector: str) -> None:
    text = f"CREATE STREAM s (a INT); CREATE SINK k WITH (connector = '{connector}'); "
    assert _deliveries(text + "INSERT INTO k SELECT a FROM s") == []


def _deliveries(text: str) -> list[str]:
    return [line for line in sqlwin.explain(text).splitlines() if line.startswith("Delivery")]


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (
            "topic = 't'",
            "s reads topic t, from the earliest records; records that are gone end the run",
        ),
        (
            "'topic.pattern' = 't.*', start = '2024-01-01T00:00:00Z', 'fail.on.data.loss' = 'no'",
            "s reads all topics that match 't.*', also later ones, from 2024-01-01T00:00:00Z on; "
            "records that are gone are passed over",
        ),
    ],
)
def test_explain_says_which_topics_are_read(options: str, reported: str) -> None:
    text = f"CREATE STREAM s (a INT) WITH (connector = 'kafka', servers = 'h', {options})"
    assert f"Source: {reported}" in sqlwin.explain(f"{text}; SELECT a FROM s").splitlines()


def test_explain_says_what_an_idle_partition_does() -> None:
    text = """CREATE STREAM s (ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (
        connector = 'kafka', servers = 'h', topic = 't', 'idle.timeout' = '90 seconds');
        SELECT COUNT(*) AS n FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
        GROUP BY window_start, window_end"""
    idle = "a partition without rows for 1 minute 30 seconds does not hold it back"
    assert f"Watermark: ts less 0 seconds; {idle}" in sqlwin.explain(text)


def test_a_slip_in_a_setting() -> None:
    with pytest.raises(QueryError, match=r"there is no setting buckts; did you mean buckets\?"):
        script("SET buckts = 8")


def test_settings_of_spark() -> None:
    text = "SET 'spark.sql.Strange' = 'yes'; SET spark.sql.shuffle.partitions = 3;"
    assert script(text).settings == (
        ("spark.sql.Strange", "yes"),
        ("spark.sql.shuffle.partitions", "3"),
    )
    with pytest.raises(QueryError, match="providerClass cannot be set: state is in RocksDB"):
        script("SET 'spark.sql.streaming.stateStore.providerClass' = 'Other'")


@pytest.mark.parametrize(
    "name", ["time.zone", "table.local-time-zone", "timezone", "spark.sql.session.timeZone"]
)
def test_the_zone_of_a_session_is_no_setting_of_the_run(name: str) -> None:
    bound = script(
        f"SET '{name}' = 'CET'; SELECT CURRENT_TIMEZONE() AS zone FROM (VALUES (1)) t(a)"
    )
    assert bound.settings == ()
    assert "'CET'" in repr(bound.queries[0].plan)


@pytest.mark.parametrize(
    ("known", "hints"),
    [
        (STREAMS, elsewhere.CONNECTORS.values()),
        (STREAMS, elsewhere.OPTIONS.values()),
        (SINKS, elsewhere.SINK_CONNECTORS.values()),
        (SINKS, elsewhere.SINK_OPTIONS.values()),
    ],
)
def test_hints_name_what_there_is(known: Connectors, hints: Iterable[str]) -> None:
    options = {option.name for each in known.values() for option in each} | {"connector"}
    for hint in hints:
        if " = " in hint:
            assert set(re.findall(r"(\w+) = ", hint)) - {"id"} <= options
        else:
            assert known is STREAMS
        named = NAMED.match(hint)
        assert named is None or {each for each in named.groups() if each} <= set(known)


def _table(known: Connectors) -> list[tuple[str, str, str, str, str]]:
    """Connector, option, what is legal, default, what it says; what many share once, at the end."""
    streams = (("any but nexmark", CHANGES), ("any", TTL_OPTIONS))
    shared = streams if known is STREAMS else (("a table", OF_TABLES),)
    together = [(by, option) for by, options in shared for option in options]
    once = [option for _, option in together]
    own = [(name, o) for name, options in known.items() for o in options if o not in once]
    return [
        (name, o.name, o.legal, "needed" if o.needed else o.default, o.about)
        for name, o in (*own, *together)
    ]
