"""What is refused, in which words, and which part of the query is underlined."""

# ruff: noqa: E501 (a query stands on one line)

import pytest

from tests.sql.cases import mistake, underlined

REFUSED = [
    (
        "INSERT INTO o (x, y) SELECT id, n FROM orders",
        "the columns of an INSERT go by their places, and by no list of names",
        "x",
    ),
    (
        "CREATE OR REPLACE VIEW v AS SELECT id FROM orders",
        "nothing that is declared is replaced: a name is declared once",
        "OR",
    ),
    (
        "WITH RECURSIVE v AS (SELECT id FROM orders) SELECT id FROM v",
        "a query of WITH reads those before it, and never itself",
        "RECURSIVE",
    ),
    (
        "WITH v AS (SELECT id FROM orders), V AS (SELECT n FROM orders) SELECT * FROM v",
        "two queries of this WITH are called V",
        "V",
    ),
    (
        "SELECT COUNT(*) FROM HOP(orders, ts, 1 MILLISECOND, 1 DAY)",
        "a row would be in 86,400,000 windows",
        "HOP(orders, ts, 1 MILLISECOND, 1 DAY)",
    ),
    (
        "SELECT COUNT(*) FROM HOP(DATA => orders, TIMECOL => ts, SIZE => 1 HOUR, SIZE => 1 HOUR)",
        "the argument SIZE is given twice",
        "SIZE => 1 HOUR",
    ),
    (
        "CREATE STREAM x (a DECIMAL(50, 2)); SELECT a FROM x",
        "DECIMAL(50, 2) has no such precision and scale",
        "DECIMAL(50, 2)",
    ),
    (
        "CREATE STREAM x (a DECIMAL(5, 9)); SELECT a FROM x",
        "DECIMAL(5, 9) has no such precision and scale",
        "DECIMAL(5, 9)",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, ts, 99999999999 DAYS)",
        "a duration is at most 10,000 years, 3652500 days",
        "99999999999 DAYS",
    ),
    (
        "SELECT COUNT(*) FROM orders OVER (ROWS 99999999999999999999 PRECEDING)",
        "at most 1099511627776 rows",
        "99999999999999999999",
    ),
    (
        "SELECT SUM(*) FROM TUMBLE(orders, ts, 1 HOUR)",
        "SUM takes a number, not *",
        "SUM",
    ),
    ("SET speed = 9", "there is no setting speed", "SET speed = 9"),
    ("SET buckets = many", "buckets is a count, not many", "SET buckets = many"),
    (
        "SELECT product FROM orders WHERE rand() < 0.5",
        "RAND gives another value each time, so no answer could be corrected or redone",
        "rand",
    ),
    (
        "SELECT product, CURRENT_TIMESTAMP() AS at FROM orders",
        "CURRENT_TIMESTAMP gives another value each time, so no answer could be corrected or redone",
        "CURRENT_TIMESTAMP",
    ),
    (
        "SELECT COUNT(*) FROM HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
        "HOP needs two durations: slide, then size",
        "HOP",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(TABLE orders, DESCRIPTOR(ts))",
        "TUMBLE needs one duration: the size",
        "TUMBLE",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, INTERVAL '1' HOUR)",
        "TUMBLE needs the event-time column before its durations",
        "TUMBLE",
    ),
    (
        "SELECT COUNT(*) FROM TUMBEL(orders, ts, INTERVAL '1' HOUR)",
        "no table function is called TUMBEL; did you mean TUMBLE?",
        "TUMBEL",
    ),
    (
        "SELECT valeu FROM orders",
        "unknown column valeu; did you mean value?",
        "valeu",
    ),
    (
        "SELECT x.value FROM orders o",
        "no stream here is called x",
        "x.value",
    ),
    (
        "SELECT value FROM ordres",
        "no stream or view is called ordres; did you mean orders?",
        "ordres",
    ),
    (
        "SELECT SUM(ts) FROM TUMBLE(orders, ts, 1 HOUR)",
        "SUM takes a number, not TIMESTAMP",
        "SUM(ts)",
    ),
    (
        "SELECT product, SUM(value) FROM TUMBLE(orders, ts, 1 HOUR)",
        "product is neither grouped nor aggregated; the keys are: none",
        "product",
    ),
    (
        "SELECT SUM(value) OVER (ORDER BY id ROWS 3 PRECEDING) FROM orders",
        "id is not the event time of orders",
        "id",
    ),
    (
        "SELECT SUM(value) OVER (ROWS 3 PRECEDING) FROM orders",
        "OVER needs ORDER BY the event-time column",
        "(ROWS 3 PRECEDING)",
    ),
    (
        "SELECT SUM(value) OVER (ORDER BY ts RANGE 3 PRECEDING) FROM orders",
        "RANGE is measured in event time and needs a duration",
        "3 PRECEDING",
    ),
    (
        "SELECT SUM(value) OVER (ORDER BY ts ROWS INTERVAL '3' MINUTE PRECEDING) FROM orders",
        "ROWS counts rows and takes no duration",
        "INTERVAL '3' MINUTE PRECEDING",
    ),
    (
        "SELECT product FROM orders INTERSECT SELECT product FROM orders",
        "INTERSECT is not supported yet",
        "INTERSECT",
    ),
    (
        "SELECT product FROM orders ORDER BY product",
        "ORDER BY is not supported yet",
        "ORDER",
    ),
    (
        "SELECT product FROM orders LIMIT 3",
        "LIMIT is not supported yet",
        "LIMIT",
    ),
    (
        "SELECT window(ts, '2 minutes').start FROM orders GROUP BY window(ts, '1 minute')",
        "WINDOW must repeat the window of GROUP BY",
        "window",
    ),
    (
        "CREATE STREAM counted WITH (kafka_topic = 'c') AS SELECT COUNT(*) FROM orders",
        "CREATE STREAM counted AS SELECT keeps its results, and does not say in which sink",
        "counted",
    ),
    (
        "CREATE VIEW v (a, b, c) AS SELECT id, n FROM orders",
        "the list has 3 names, the query 2 columns",
        "a",
    ),
    (
        "WITH v (a, A) AS (SELECT id, n FROM orders) SELECT * FROM v",
        "two columns are called A",
        "A",
    ),
    (
        "SELECT ABS(ts) + 1 FROM orders",
        "ABS does not take TIMESTAMP",
        "ABS",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) RETAIN 1 HOUR RETAIN 2 HOURS",
        "RETAIN is given twice",
        "RETAIN",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 MONTH)",
        "a month has no fixed length; a window needs days or less",
        "1 MONTH",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) LATE EVERY 5 SECONDS",
        "LATE is a part of EMIT",
        "LATE EVERY 5 SECONDS",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, id, 1 HOUR)",
        "id is not the event time of orders",
        "id",
    ),
    (
        "SELECT COUNT(*) FROM HOP(orders, ts, 1 HOUR, 1 MINUTE)",
        "a window must not advance by more than its size: rows between would be lost",
        "HOP(orders, ts, 1 HOUR, 1 MINUTE)",
    ),
    (
        "SELECT foo(value) FROM orders",
        "no function is called foo; did you mean floor?",
        "foo",
    ),
    (
        "SELECT value + ARRAY(n) FROM orders WHERE value > 1",
        "+ does not take DOUBLE, ARRAY<INT>",
        "ARRAY",
    ),
    (
        "SELECT value +  FROM orders",
        "cannot read FROM here",
        "FROM",
    ),
    (
        "SELECT value FROM orders WHERE value",
        "a condition must be BOOLEAN, this is DOUBLE",
        "value",
    ),
    (
        "SELECT * FROM orders OVER (ROWS 10 PRECEDING)",
        "a window without an aggregate or GROUP BY is not supported yet",
        "OVER (ROWS 10 PRECEDING)",
    ),
    (
        "SELECT SUM(x) OVER w FROM orders",
        "the window w is not declared",
        "w",
    ),
    (
        "SELECT product, COUNT(*) FROM orders OVER (ROWS 3 PRECEDING) GROUP BY product",
        "a sliding window in ROWS is grouped by its PARTITION BY and nothing else",
        "product",
    ),
    (
        "SELECT value AS a, n AS a FROM orders",
        "two columns are called a",
        "n AS a",
    ),
    (
        "SELECT /*+ BROADCAST(o) */ value FROM orders",
        "the hint /*+ BROADCAST(o) */ is not supported yet",
        "/*+ BROADCAST(o) */",
    ),
    (
        "SELECT a.b.c FROM orders",
        "no stream here is called a",
        "a.b.c",
    ),
    (
        "SELECT SUM(COUNT(*)) FROM TUMBLE(orders, ts, 1 HOUR)",
        "an aggregate cannot stand in an aggregate's arguments",
        "COUNT",
    ),
    (
        "SELECT SUM(value) OVER (ORDER BY ts ROWS 3 PRECEDING), COUNT(*) FROM orders",
        "this aggregate needs an OVER clause, as the others here have one",
        "COUNT(*",
    ),
    (
        "SELECT window_start FROM orders",
        "window_start is known only above a window, in SELECT and HAVING",
        "window_start",
    ),
    (
        "SELECT * FROM orders WHERE id = (SELECT id FROM orders)",
        "a query inside an expression is not supported yet",
        "SELECT",
    ),
    (
        "SELECT product, COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY product EMIT FINAL LATE NEVER",
        "EMIT FINAL and EMIT ON WINDOW CLOSE send nothing late; LATE contradicts them",
        "LATE NEVER",
    ),
    (
        "CREATE STREAM s (a INT b INT)",
        "INT b INT is not a type of a column; did you mean INT?",
        "INT b INT",
    ),
    (
        "CREATE STREAM s (a INTT, ts TIMESTAMP)",
        "INTT is not a type of a column; did you mean INT?",
        "INTT",
    ),
    (
        "SELECT COUNT(*) FROM orders WINDOW TUMBLING (1 HOUR)",
        "WINDOW TUMBLING needs SIZE",
        "WINDOW TUMBLING (1 HOUR)",
    ),
    (
        "CREATE STREAM s (a INT, ts TIMESTAMP, WATERMARK ts AS ts)",
        "ts AS ts is not a type of a column",
        "ts AS ts",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) EMIT FINAL WHERE value > 2",
        "WHERE must come before EMIT",
        "WHERE",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) EMIT ON CLOSE ON CLOSE",
        "ON CLOSE is given twice",
        "ON CLOSE",
    ),
    (
        "SELECT COUNT(*) FROM orders WINDOW HOPPING (SIZE 1 HOUR)",
        "WINDOW HOPPING needs SIZE and ADVANCE BY",
        "WINDOW HOPPING (SIZE 1 HOUR)",
    ),
    (
        "SELECT COUNT(*) FROM orders OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
        "a stream window in ROWS is counted in messages, itself included",
        "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    ),
    (
        "SELECT COUNT(*) FROM orders OVER (ORDER BY ts ROWS 2 PRECEDING)",
        "a stream window in ROWS counts messages as they come; it has no ORDER BY",
        "ts",
    ),
    (
        "SELECT COUNT(*) FROM orders OVER (ROWS 2 PRECEDING ADVANCE BY 1 MINUTE)",
        "a window in ROWS advances in the same measure",
        "1 MINUTE",
    ),
    (
        "SELECT COUNT(*) FROM orders OVER (ROWS 2 PRECEDING ADVANCE BY 3 ROWS)",
        "a window must not advance by more than its size: rows between would be lost",
        "OVER (ROWS 2 PRECEDING ADVANCE BY 3 ROWS)",
    ),
    (
        "SELECT SUM(n) OVER (ORDER BY ts GROUPS 2 PRECEDING) FROM orders",
        "a frame in GROUPS is not supported yet",
        "GROUPS 2 PRECEDING",
    ),
    (
        "SELECT SUM(n, id) FROM TUMBLE(orders, ts, 1 HOUR)",
        "this expression cannot be read at )",
        ")",
    ),
    (
        "SELECT n FROM orders EMIT FINAL",
        "this query has no window to emit or retain",
        "EMIT",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) WHERE COUNT(*) > 1",
        "an aggregate cannot stand in WHERE; use HAVING",
        "COUNT",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) WHERE window_start IS NULL",
        "window_start is known only above a window, in SELECT and HAVING",
        "window_start",
    ),
    (
        "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY 5",
        "GROUP BY 5: the select list has 1 columns",
        "5",
    ),
    (
        "SELECT COUNT(*) AS window_time, SUM(ts) FROM TUMBLE(orders, ts, 1 HOUR)",
        "SUM takes a number, not TIMESTAMP",
        "SUM(ts)",
    ),
    (
        "SELECT n AS __n FROM orders",
        "names that begin with __ are sqlwin's own: __n",
        "n AS __n",
    ),
    (
        "SELECT ts - ts AS d FROM orders",
        "a column cannot be INTERVAL DAY TO SECOND; CAST it, to STRING for instance",
        "ts - ts AS d",
    ),
    (
        "SELECT x.* FROM orders o",
        "no stream here is called x",
        "x.*",
    ),
    (
        "CREATE TABLE t (a INT); SELECT a FROM t",
        "t is a static table, and reading one by itself is not supported yet",
        "t",
    ),
    (
        "CREATE STREAM orders (a INT)",
        "orders exists already",
        "orders",
    ),
    (
        "CREATE STREAM s (a INT, A INT)",
        "the column A is declared twice",
        "A",
    ),
    (
        "CREATE STREAM s (__a INT)",
        "names that begin with __ are sqlwin's own: __a",
        "__a",
    ),
    (
        "CREATE STREAM s (ts BIGINT, WATERMARK FOR ts AS ts)",
        "event time must be TIMESTAMP, ts is BIGINT",
        "ts",
    ),
    (
        "CREATE STREAM s (ts TIMESTAMP, WATERMARK FOR tz AS ts)",
        "unknown column tz",
        "tz",
    ),
    (
        "CREATE STREAM s (ts TIMESTAMP, WATERMARK FOR ts AS ts + INTERVAL '5' SECOND)",
        "a watermark is ts, or ts less a duration",
        "ts + INTERVAL '5' SECOND",
    ),
    (
        "CREATE STREAM s (ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' MOON)",
        "MOON is not a unit of time",
        "ts - INTERVAL '5' MOON",
    ),
    (
        "CREATE STREAM s (ts TIMESTAMP, OFFSET ts)",
        "OFFSET must be an integer column, ts is TIMESTAMP",
        "ts",
    ),
    (
        "CREATE STREAM s (a INT, b AS SUM(a))",
        "an aggregate cannot stand in a computed column",
        "SUM",
    ),
    (
        "CREATE STREAM s (a INT); SELECT COUNT(*) FROM s OVER (RANGE 1 MINUTE PRECEDING)",
        "s has no event-time column",
        "OVER (RANGE 1 MINUTE PRECEDING)",
    ),
    (
        "INSERT INTO nowhere SELECT n FROM orders",
        "no sink is called nowhere",
        "nowhere",
    ),
    (
        "CREATE SINK k (a INT) WITH (connector = 'none'); INSERT INTO k SELECT n, id FROM orders",
        "k has 1 columns, the query 2",
        "k",
    ),
    (
        "CREATE SINK k (a INT) WITH (connector = 'none'); INSERT INTO k SELECT product FROM orders",
        "k wants INT for a, product is STRING",
        "k",
    ),
    (
        "CREATE SINK k WITH (connector = 'none'); SELECT * FROM k",
        "k is a sink and cannot be read",
        "k",
    ),
    (
        "CREATE SINK k WITH (c = 'd', c = 'e')",
        "the option c is given twice",
        "WITH (c = 'd', c = 'e')",
    ),
    (
        "DESCRIBE nothing",
        "no stream or view is called nothing",
        "nothing",
    ),
    (
        "SELECT n /* never closed FROM orders",
        "this comment is never closed",
        "/*",
    ),
    (
        "SELECT * EXCEPT (id, valeu) FROM orders",
        "unknown column valeu; did you mean value?",
        "valeu",
    ),
    (
        "SELECT o.* EXCEPT (id) FROM (SELECT id FROM orders) o",
        "EXCEPT leaves no column",
        "o.* EXCEPT (id)",
    ),
    (
        "SELECT o.* REPLACE (value + 1 AS value) FROM orders o",
        "* REPLACE is not supported yet",
        "o.* REPLACE (value + 1 AS value)",
    ),
    (
        "SELECT :missing FROM orders",
        "no value was given for :missing",
        ":missing",
    ),
]


@pytest.mark.parametrize(("query", "message", "at"), REFUSED)
def test_refused(query: str, message: str, at: str) -> None:
    error = mistake(query)
    assert error.message == message
    assert underlined(error) == at
