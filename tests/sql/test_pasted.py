"""Declarations and small statements as other engines' users paste them."""

from __future__ import annotations

import pytest

from sqlwin.errors import QueryError
from sqlwin.plan.explain.statements import answers
from sqlwin.plan.ir.nodes import Stream
from sqlwin.python_functions.declared import udf
from sqlwin.sql import script
from sqlwin.sql.text.double_quoted import as_names
from tests.support.sql.cases import ORDERS

TO = """WITH (connector = 'kafka', topic = 't', servers = 'h:9092', format = 'avro',
  'avro.schema.registry.url' = 'http://r', 'avro.schema.registry.credentials' = 'u:geheim')"""


def streams(text: str) -> dict[str, Stream]:
    return {stream.name: stream for stream in script(text).streams}


def said(text: str) -> list[str]:
    return answers(script(text), lambda _: "explained")


def refused(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        script(text)
    return caught.value


# --- ksqlDB's declarations ------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "declared"),
    [
        (
            "id VARCHAR KEY, at TIMESTAMP",
            "timestamp = 'at', key_format = 'KAFKA', replicas = 3",
            "id STRING, at TIMESTAMP, WATERMARK FOR at AS at) WITH (metadata = 'id = key',",
        ),
        (
            "a INT, at BIGINT",
            "timestamp = 'AT'",
            "a INT, at BIGINT, ROWTIME AS TO_TIMESTAMP_LTZ(`at`, 3), "
            "WATERMARK FOR ROWTIME AS ROWTIME) WITH (",
        ),
        (
            "a INT",
            "partitions = 4",
            "a INT, ROWTIME TIMESTAMP, WATERMARK FOR ROWTIME AS ROWTIME) "
            "WITH (metadata = 'ROWTIME = timestamp',",
        ),
        (
            "a INT, at TIMESTAMP, WATERMARK FOR at AS at",
            "partitions = 4",
            "a INT, at TIMESTAMP, WATERMARK FOR at AS at) WITH (",
        ),
    ],
)
def test_a_stream_of_ksqldb(columns: str, options: str, declared: str) -> None:
    theirs = (
        f"CREATE STREAM s ({columns}) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'JSON', {options})"
    )
    ours = f"CREATE STREAM s ({declared} connector = 'kafka', topic = 't', format = 'json')"
    assert streams(theirs)["s"] == streams(ours)["s"]


def test_a_table_of_ksqldb_is_an_upserting_changelog() -> None:
    theirs = "CREATE TABLE t (id VARCHAR PRIMARY KEY, a INT) WITH (kafka_topic = 't')"
    ours = """CREATE TABLE t (id STRING, a INT, PRIMARY KEY (id)) WITH (
              connector = 'kafka', topic = 't', changelog = 'upsert', metadata = 'id = key')"""
    assert streams(theirs)["t"] == streams(ours)["t"]


def test_a_named_result_of_ksqldb_has_its_topic() -> None:
    text = (
        "CREATE STREAM s WITH (kafka_topic = 't', value_format = 'JSON') AS SELECT id FROM orders"
    )
    (query,) = script(ORDERS + text).queries
    assert query.sink is not None
    assert query.sink.options == (("connector", "kafka"), ("format", "json"), ("topic", "t"))


def test_a_timestamp_that_is_no_column() -> None:
    error = refused("CREATE STREAM s (a INT) WITH (kafka_topic = 't', timestamp = 'b')")
    assert (error.message, error.legal) == ("timestamp names no column of its own: b", "a")


# --- LIKE -----------------------------------------------------------------------------


def test_like_in_brackets_takes_no_options() -> None:
    made = streams(f"{ORDERS} CREATE TABLE b (LIKE orders, extra INT)")
    orders, b = made["orders"], made["b"]
    assert [c.name for c in b.columns] == [*(c.name for c in orders.columns), "extra"]
    assert (b.ts, b.delay, b.offset, b.options) == (orders.ts, orders.delay, orders.offset, ())


def test_like_behind_them_takes_options_but_those_of_with() -> None:
    a = f"CREATE STREAM a (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) {TO};"
    b = streams(f"{a} CREATE TABLE b (m INT) WITH (topic = 'u') LIKE a")["b"]
    assert dict(b.options)["topic"] == "u"
    assert dict(b.options)["servers"] == "h:9092"
    other = "WITH (connector = 'files', path = 'p')"
    c = streams(f"{a} CREATE TABLE c {other} LIKE a")["c"]
    assert c.options == (("connector", "files"), ("path", "p"))


def test_like_of_nothing() -> None:
    error = refused(f"{ORDERS} CREATE TABLE b LIKE nothing")
    assert error.message == "no stream or table is called nothing"


# --- what is there ---------------------------------------------------------------------


def test_show_create_is_the_statement_without_its_secrets() -> None:
    create = f"CREATE STREAM a (n INT) {TO}"
    for word in ("STREAM", "TABLE", "SOURCE"):
        (text,) = said(f"{create}; SHOW CREATE {word} a")
        assert text.startswith("CREATE STREAM a (n INT) WITH (")
        assert "geheim" not in text
        assert "'***' " not in text
    view = "CREATE MATERIALIZED VIEW v AS SELECT id FROM orders"
    assert said(f"{ORDERS} {view}; SHOW CREATE VIEW v") == [view]
    assert said(f"{ORDERS} {view}; SHOW CREATE MATERIALIZED VIEW v") == [view]
    function = "CREATE FUNCTION f(x INT) RETURNS INT RETURN x * 2"
    assert said(f"{function}; SHOW CREATE FUNCTION F") == [function]


def test_show_create_of_nothing() -> None:
    assert refused("SHOW CREATE VIEW v").message == "the text has made no view called v"
    text = "CREATE VIEW v AS SELECT id FROM orders; DROP VIEW v; SHOW CREATE VIEW v"
    assert refused(ORDERS + text).message == "the text has made no view called v"


def test_functions_of_the_script_are_shown_and_described() -> None:
    text = "CREATE FUNCTION zz_twice(x INT, y) RETURNS INT RETURN x * y;"
    assert said(f"{text} SHOW FUNCTIONS LIKE 'zz_*'") == ["zz_twice"]
    assert said(f"{text} DESCRIBE FUNCTION ZZ_TWICE") == [
        "zz_twice: an expression of this script.\n  ZZ_TWICE(x INT, y) -> INT\n  = x * y"
    ]
    made = udf(lambda x: x, name="zz_own", types=["INT"], result="STRING")
    shown = answers(script("DESCRIBE FUNCTION zz_own", functions=[made]), lambda _: "")
    assert shown == ["zz_own: a function in Python, by row.\n  ZZ_OWN(INT) -> STRING"]


def test_other_words_for_what_is_there() -> None:
    for text in ("LIST STREAMS", "SHOW SOURCES", "SHOW STREAMS EXTENDED"):
        assert said(f"{ORDERS} {text}") == said(f"{ORDERS} SHOW STREAMS")
    for text in ("DESCRIBE EXTENDED orders", "DESC orders EXTENDED", "SHOW COLUMNS FROM orders"):
        assert said(f"{ORDERS} {text}") == said(f"{ORDERS} DESCRIBE orders")
    assert said(f"{ORDERS} EXPLAIN PLAN FOR SELECT id FROM orders") == ["explained"]


def test_drop_source() -> None:
    create = "CREATE SOURCE s (n INT)"
    assert not streams(f"{create}; DROP SOURCE s CASCADE; DROP SOURCE IF EXISTS s")


# --- names in double quotes ---------------------------------------------------------------


ON = "SET 'sql.double-quoted-identifiers' = 'true';"
OFF = "SET 'sql.double-quoted-identifiers' = 'false';"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ('"a"', "`a`"),
        ('"a ""b"""', '`a "b"`  '),
        ('\'"a"\' -- "b"', '\'"a"\' -- "b"'),
        (f'"a" {OFF} "b" {ON} "c"', f'`a` {OFF} "b" {ON} `c`'),
    ],
)
def test_names_in_double_quotes(text: str, made: str) -> None:
    assert as_names(f"{ON} {text}") == f"{ON} {made}"


def test_texts_where_nothing_is_set() -> None:
    text = 'SELECT id FROM orders WHERE product = "tea"'
    plain = "SELECT id FROM orders WHERE product = 'tea'"
    assert script(ORDERS + text).queries == script(ORDERS + plain).queries
    error = refused(f"{ORDERS} {ON} {text}")
    assert error.message.startswith("unknown column tea")


def test_a_mistake_has_its_place() -> None:
    error = refused(f'{ORDERS}\n{ON}\nSELECT "id", "nothing" FROM "orders"')
    assert error.span is not None
    assert (error.span.line, error.span.column) == (ORDERS.count("\n") + 3, 14)
