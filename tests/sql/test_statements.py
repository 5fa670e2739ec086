"""What statements do to what a text has declared: named results, functions, DROP, SHOW."""

from __future__ import annotations

import pytest

from sqlwin.errors import QueryError
from sqlwin.plan.ir.statements import Query, ShowDeclared, ShowFunctions
from sqlwin.sql import script
from tests.support.sql.cases import ORDERS, bound, columns

SINK = "WITH (connector = 'files', path = 'out', format = 'json')"
TOTALS = "SELECT product, SUM(n) AS total FROM orders GROUP BY product"


def refused(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        script(text)
    return caught.value


def shown(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    (only,) = (each for each in script(text).statements if isinstance(each, ShowDeclared))
    return tuple((name, tuple(column.name for column in made)) for name, made in only.declared)


# --- named results ------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["TABLE", "STREAM", "MATERIALIZED VIEW"])
def test_a_named_result_is_a_query_and_a_view(kind: str) -> None:
    made = bound(f"CREATE {kind} totals AS {TOTALS}; SELECT total FROM totals")
    first, second = made.queries
    assert first == bound(TOTALS).queries[0]
    assert second == bound(f"CREATE VIEW totals AS {TOTALS}; SELECT total FROM totals").queries[0]


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE TABLE t {SINK} AS SELECT id FROM orders",
        f"CREATE SINK t AS SELECT id FROM orders {SINK}",
        f"CREATE VIEW v AS SELECT id FROM orders; CREATE SINK t FROM v {SINK}",
    ],
)
def test_with_options_its_rows_go_to_a_sink(text: str) -> None:
    (query,) = bound(text).queries
    declared = f"CREATE SINK t {SINK}; INSERT INTO t SELECT id FROM orders"
    assert query == bound(declared).queries[0]


def test_its_columns_may_have_names_of_their_own() -> None:
    (query,) = bound("CREATE MATERIALIZED VIEW t (a, b) AS SELECT id, n FROM orders").queries
    assert [column.name for column in query.plan.schema] == ["a", "b"]


def test_a_sink_that_appends_takes_no_corrections() -> None:
    error = refused(ORDERS + f"CREATE TABLE totals {SINK[:-1]}, changelog = 'append') AS {TOTALS}")
    assert error.message.startswith("totals appends, and results of this query change")


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW"])
def test_a_view_that_nobody_reads_has_its_mistakes(kind: str) -> None:
    error = refused(ORDERS + f"CREATE {kind} v AS SELECT nonsense(n) AS x FROM orders")
    assert error.message.startswith("no function is called nonsense")


# --- DROP and what is there already ---------------------------------------------------


def test_if_not_exists_keeps_the_first_and_or_replace_has_the_last() -> None:
    first, last = "CREATE STREAM s (a INT)", "CREATE {} s (b INT); SHOW STREAMS"
    assert shown(f"{first}; {last.format('STREAM IF NOT EXISTS')}") == (("s", ("a",)),)
    assert shown(f"{first}; {last.format('OR REPLACE STREAM')}") == (("s", ("b",)),)
    error = refused(f"{first}; {last.format('STREAM')}")
    assert (error.message, error.legal) == (
        "s exists already",
        "another name, or CREATE OR REPLACE",
    )


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        ("STREAM x (a INT)", "STREAM"),
        ("STREAM x (a INT)", "TABLE"),
        ("VIEW x AS SELECT id FROM orders", "VIEW"),
        (f"SINK x {SINK}", "SINK"),
        ("MATERIALIZED VIEW x AS SELECT id FROM orders", "MATERIALIZED VIEW"),
        ("TABLE x AS SELECT id FROM orders", "TABLE"),
    ],
)
def test_a_name_that_was_dropped_is_free(made: str, kind: str) -> None:
    bound(f"CREATE {made}; DROP {kind} x; CREATE STREAM x (b INT)")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM orders; DROP STREAM orders",
        "CREATE VIEW v AS SELECT id FROM orders; DROP TABLE orders",
        "CREATE VIEW v AS SELECT id FROM orders; CREATE OR REPLACE STREAM orders (a INT)",
        f"CREATE SINK orders_ {SINK}; INSERT INTO orders_ SELECT id FROM orders; DROP SINK orders_",
    ],
)
def test_what_is_read_or_written_to_stays(text: str) -> None:
    assert "is read by a statement before, or written to" in refused(ORDERS + text).message


def test_what_is_not_there_is_dropped_if_it_exists_alone() -> None:
    assert refused("DROP VIEW v").message == "no view is called v"
    assert refused(ORDERS + "DROP VIEW orders").message == "orders is no view"
    assert refused("DROP FUNCTION f").legal == "DROP FUNCTION IF EXISTS"
    script("DROP VIEW IF EXISTS v; DROP TABLE IF EXISTS t; DROP FUNCTION IF EXISTS f")


def test_show_lists_each_kind() -> None:
    text = ORDERS + (
        "CREATE TABLE rates (currency STRING, rate DOUBLE);"
        f"CREATE VIEW v AS SELECT id, n FROM orders; CREATE SINK out_ {SINK}; SHOW "
    )
    orders = ("id", "product", "value", "n", "price", "ts_ms", "ts", "at")
    assert shown(text + "STREAMS") == (("orders", orders),)
    assert shown(text + "TABLES") == (("rates", ("currency", "rate")), ("orders", orders))
    assert shown(text + "VIEWS") == shown(text + "MATERIALIZED VIEWS") == (("v", ("id", "n")),)
    assert shown(text + "SINKS") == (("out_", ()),)


def test_a_statement_set_is_its_inserts() -> None:
    sinks = f"CREATE SINK a {SINK}; CREATE SINK b {SINK.replace('out', 'b')};"
    inserts = "INSERT INTO a SELECT id FROM orders; INSERT INTO b SELECT n FROM orders;"
    plain = bound(sinks + inserts).queries
    assert bound(f"{sinks} BEGIN STATEMENT SET; {inserts} END;").queries == plain
    assert bound(f"{sinks} EXECUTE STATEMENT SET BEGIN {inserts} END").queries == plain


def test_a_statement_set_is_explained() -> None:
    sinks = f"CREATE SINK a {SINK}; CREATE SINK b {SINK.replace('out', 'b')};"
    inserts = "INSERT INTO a SELECT id FROM orders; INSERT INTO b SELECT n FROM orders;"
    rest = "INSERT INTO a SELECT n FROM orders"
    for explain in ("EXPLAIN", "EXPLAIN PLAN FOR"):
        made = bound(f"{sinks} {explain} STATEMENT SET BEGIN {inserts} END; {rest}")
        explained = [each for each in made.statements if isinstance(each, Query) and each.explain]
        assert [each.sink.name for each in explained if each.sink] == ["a", "b"]
        assert len(made.queries) == 1


def test_functions_that_are_dropped_are_known_no_more() -> None:
    made = "CREATE FUNCTION twice(x) RETURN x * 2; CREATE FUNCTION half(x) RETURN x / 2;"
    (shown,) = script(f"{made} DROP FUNCTION twice; SHOW FUNCTIONS").statements
    assert isinstance(shown, ShowFunctions)
    assert shown.own == ("half",)
    assert refused(f"{made} DROP FUNCTION half; SHOW CREATE FUNCTION half").legal == "twice"
    assert (
        "no function is called half"
        in refused(f"{made} DROP FUNCTION half; DESCRIBE FUNCTION half").message
    )


# --- declarations of other engines ---------------------------------------------------

FLINK = """
CREATE TABLE clicks (
  id BIGINT, page STRING, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'localhost:9092',
  'properties.group.id' = 'pages', 'scan.startup.mode' = 'latest-offset', 'format' = 'json',
  'json.ignore-parse-errors' = 'true');
"""


def test_a_table_of_flinks_is_the_stream_of_its_options() -> None:
    (stream,) = script(FLINK).streams
    assert dict(stream.options) == {
        "connector": "kafka",
        "topic": "clicks",
        "servers": "localhost:9092",
        "start": "latest",
        "format": "json",
    }


@pytest.mark.parametrize(
    ("declared", "options"),
    [
        ("'connector' = 'print'", {"connector": "console"}),
        ("'connector' = 'blackhole'", {"connector": "none"}),
        ("'connector' = 'filesystem', 'path' = 'out', 'format' = 'csv'",
         {"connector": "files", "path": "out", "format": "csv"}),
        ("'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', "
         "'scan.startup.mode' = 'latest-offset', 'value.format' = 'json'",
         {"connector": "kafka", "topic": "t", "servers": "h:1", "format": "json",
          "unique": "page"}),
    ],
)  # fmt: skip
def test_insert_writes_to_a_table(declared: str, options: dict[str, str]) -> None:
    table = f"CREATE TABLE pages (page STRING, n BIGINT, PRIMARY KEY (page)) WITH ({declared});"
    counted = "INSERT INTO pages SELECT page, COUNT(*) AS n FROM clicks GROUP BY page"
    (query,) = script(FLINK + table + counted).queries
    assert query.sink is not None
    assert dict(query.sink.options) == options
    assert [column.name for column in query.sink.columns or ()] == ["page", "n"]


def test_flinks_files_of_csv_have_no_header() -> None:
    columns = "a INT, ts TIMESTAMP, WATERMARK FOR ts AS ts"
    options = "'connector' = 'filesystem', path = 'f', format = 'csv'"
    (stream,) = script(f"CREATE TABLE t ({columns}) WITH ({options})").streams
    assert dict(stream.options) == {
        "connector": "files",
        "path": "f",
        "format": "csv",
        "header": "false",
    }
    (query,) = bound(f"CREATE SINK s WITH ({options}); INSERT INTO s SELECT id FROM orders").queries
    assert query.sink is not None
    assert "header" not in dict(query.sink.options)


def test_a_source_of_risingwave() -> None:
    text = (
        "CREATE SOURCE s (a INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5 seconds') "
        "WITH (connector = 'kafka', topic = 's', properties.bootstrap.server = 'h:1', "
        "scan.startup.mode = 'earliest') FORMAT PLAIN ENCODE JSON;"
        "CREATE SINK out_ AS SELECT a, COUNT(*) AS n FROM s GROUP BY a "
        "WITH (connector = 'kafka', topic = 'o', properties.bootstrap.server = 'h:1') "
        "FORMAT PLAIN ENCODE JSON"
    )
    made = script(text)
    (stream,), (query,) = made.streams, made.queries
    known = {"connector": "kafka", "servers": "h:1", "format": "json"}
    assert dict(stream.options) == {**known, "topic": "s", "start": "earliest"}
    assert query.sink is not None
    assert dict(query.sink.options) == {**known, "topic": "o"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE t (id BIGINT); INSERT INTO t SELECT id FROM orders",
         "t has no connector that rows could be written to"),
        ("CREATE TABLE t (id BIGINT) WITH ('connector' = 'print'); SELECT * FROM t",
         "t is a sink and cannot be read"),
        ("CREATE TABLE t (id BIGINT) WITH (connector = 'kafka', servers = 'a', "
         "'properties.bootstrap.servers' = 'b')",
         "table t has an unknown option 'properties.bootstrap.servers'; "
         "here it is servers = 'localhost:9092'"),
        ("CREATE TABLE t (id BIGINT) WITH (connector = 'kafka', "
         "'scan.startup.mode' = 'group-offsets')",
         "table t has an unknown option 'scan.startup.mode'; here it is start = 'earliest'"),
        ("CREATE SOURCE t (id BIGINT) WITH (format = 'csv') FORMAT PLAIN ENCODE JSON",
         "the format is given twice"),
    ],
)  # fmt: skip
def test_what_differs_is_refused(text: str, message: str) -> None:
    assert refused(ORDERS + text).message == message


# --- functions ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "call", "same"),
    [
        ("twice(x BIGINT) RETURNS BIGINT RETURN x * 2", "twice(n + 1)",
         "CAST((CAST(n + 1 AS BIGINT) * 2) AS BIGINT)"),
        ("twice(x) AS x * 2", "twice(twice(n))", "((n * 2) * 2)"),
        ("half(x) RETURN x / 2", "1 - half(n)", "1 - (n / 2)"),
        ("none() RETURN 3", "none() + n", "3 + n"),
        ("shout(x STRING) RETURN UPPER(x) || '!'", "shout(product)",
         "(UPPER(CAST(product AS STRING)) || '!')"),
        ("`a b`(`x y`) RETURN `x y` + 1", "`a b`(n)", "(n + 1)"),
        ("later(t, d) RETURN t + d", "later(ts, INTERVAL '1' DAY)", "(ts + INTERVAL '1' DAY)"),
        ("rounded(x, places) RETURN ROUND(x, places)", "rounded(value, -1)", "ROUND(value, (-1))"),
        ("odd(x) RETURN x RLIKE '[a-c]'", "NOT odd(product)", "NOT (product RLIKE '[a-c]')"),
        ("more(xs) RETURN TRANSFORM(xs, y -> y + 1)", "more(ARRAY(n))[0]",
         "TRANSFORM(ARRAY(n), y -> y + 1)[0]"),
    ],
)  # fmt: skip
def test_a_call_is_its_expression(function: str, call: str, same: str) -> None:
    (made,) = bound(f"CREATE FUNCTION {function}; SELECT {call} AS x FROM orders").queries
    (plain,) = bound(f"SELECT {same} AS x FROM orders").queries
    assert columns(made.plan)["x"] == columns(plain.plan)["x"]


def test_its_column_is_called_as_it_is_written() -> None:
    text = "CREATE MACRO twice(x) AS x * 2; SELECT twice(n), twice( n ) + 1 FROM orders"
    assert list(columns(bound(text).queries[0].plan)) == ["twice(n)", "twice( n ) + 1"]


def test_it_may_hold_aggregates_and_be_called_in_every_clause() -> None:
    text = (
        "CREATE FUNCTION ratio(a, b) RETURN SUM(a) / SUM(b);"
        "CREATE FUNCTION day_of(t) RETURN DATE_TRUNC('DAY', t);"
        "SELECT day_of(ts) AS day, ratio(value, n) AS r FROM orders WHERE day_of(ts) IS NOT NULL "
        "GROUP BY day_of(ts) HAVING ratio(value, n) > 1"
    )
    plain = (
        "SELECT DATE_TRUNC('DAY', ts) AS day, (SUM(value) / SUM(n)) AS r FROM orders "
        "WHERE DATE_TRUNC('DAY', ts) IS NOT NULL "
        "GROUP BY DATE_TRUNC('DAY', ts) HAVING (SUM(value) / SUM(n)) > 1"
    )
    assert bound(text).queries == bound(plain).queries


def test_queries_in_conditions_call_it_too() -> None:
    text = (
        "CREATE STREAM p (id BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
        "CREATE FUNCTION twice(x) RETURN x * 2;"
        "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM p WHERE p.id = orders.id "
        "AND twice(p.id) > 4 AND p.ts BETWEEN orders.ts - INTERVAL '1' HOUR AND orders.ts)"
    )
    assert bound(text).queries == bound(text.replace("twice(p.id)", "(p.id * 2)")).queries


def test_what_stands_before_means_what_it_meant() -> None:
    text = (
        "CREATE FUNCTION f(x) RETURN x + 1; CREATE VIEW v AS SELECT f(n) AS x FROM orders;"
        "CREATE OR REPLACE FUNCTION f(x) RETURN x + 2; SELECT x, f(x) AS y FROM v"
    )
    plain = "SELECT (n + 1) AS x, ((n + 1) + 2) AS y FROM orders"
    made, same = bound(text).queries[0].plan, bound(plain).queries[0].plan
    assert columns(made) == columns(same)


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("CREATE FUNCTION f(x) RETURN x + y", "f has no parameter y", "y"),
        ("CREATE FUNCTION f(x) RETURN x + o.x", "f has no parameter o.x", "o.x"),
        ("CREATE FUNCTION upper(x) RETURN x", "upper is a function already", "upper"),
        ("CREATE FUNCTION f(x, X) RETURN x", "x is a parameter twice", "x"),
        ("CREATE FUNCTION f(x NUMBR) RETURN x", "NUMBR is not a type", "NUMBR"),
        ("CREATE FUNCTION f(x) RETURN x; CREATE FUNCTION F(x) RETURN x",
         "the function F exists already", "F"),
        ("CREATE FUNCTION f(x) RETURN x; SELECT f(n, 1) FROM orders", "f takes 1 argument, not 2",
         "f"),
        ("CREATE FUNCTION f(x) RETURN SUM(x); SELECT f(n) OVER (ORDER BY ts) AS s FROM orders",
         "f is an expression, which has no FILTER and no OVER of its own", "f"),
        ("CREATE FUNCTION f(x) RETURN SUM(x) OVER (ORDER BY x)",
         "a function of an expression has no OVER: a window is of the query that calls it",
         "SUM(x) OVER (ORDER BY x)"),
        ("CREATE FUNCTION f(x) RETURN x; DROP FUNCTION f; SELECT f(n) FROM orders",
         "no function is called f; did you mean if?", "f"),
        ("CREATE FUNCTION f(x) RETURN f(x)", "no function is called f; did you mean if?", "f"),
    ],
)  # fmt: skip
def test_mistakes_of_functions(text: str, message: str, at: str) -> None:
    error = refused(ORDERS + text)
    assert error.message == message
    assert error.text is not None
    assert error.span is not None
    line = error.text.splitlines()[error.span.line - 1]
    assert line[error.span.column - 1 :][: error.span.length] == at


def test_functions_of_functions_stay_small() -> None:
    made = "CREATE FUNCTION f0(x) RETURN x + x;" + "".join(
        f"CREATE FUNCTION f{n}(x) RETURN f{n - 1}(f{n - 1}(x));" for n in range(1, 12)
    )
    error = refused(f"{ORDERS}{made} SELECT f11(n) FROM orders")
    assert error.message.endswith("makes an expression of over 10,000 parts")


def test_a_trailing_comma_ends_a_list() -> None:
    text = f"CREATE SINK s (a BIGINT, b INT,) {SINK}; INSERT INTO s SELECT id, n, FROM orders"
    (query,) = script("".join((ORDERS.replace("OFFSET id", "OFFSET id,"), text))).queries
    assert isinstance(query, Query)
    assert query.sink is not None
