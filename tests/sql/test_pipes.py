"""Queries with pipes have the plans of the same queries with clauses."""

from __future__ import annotations

import pytest

from sqlwin.runtime.lowering.explained import explain_script
from sqlwin.sql import script

STREAMS = """
CREATE STREAM orders (id BIGINT, product STRING, value BIGINT, note STRING, tags ARRAY<STRING>,
  ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM pays (id BIGINT, amount BIGINT, at TIMESTAMP, WATERMARK FOR at AS at);
CREATE TABLE rates (product STRING, rate DOUBLE) WITH (connector = 'files', path = 'r.csv',
  format = 'csv');
"""
TUMBLE = "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
BOUNDS = "p.at BETWEEN o.ts AND o.ts + INTERVAL '1' HOUR"
KEYS = "product, window_start, window_end"
COUNTS = f"SELECT {KEYS}, COUNT(*) AS n FROM {TUMBLE} GROUP BY {KEYS}"
COUNTED = f"FROM {TUMBLE} |> AGGREGATE COUNT(*) AS n GROUP BY {KEYS}"
SAME = {
    "from": ("FROM orders", "SELECT * FROM orders"),
    "table": ("TABLE orders", "SELECT * FROM orders"),
    "select": ("FROM orders |> SELECT id, value * 2 AS d", "SELECT id, value * 2 AS d FROM orders"),
    "where": ("FROM orders |> WHERE value > 1", "SELECT * FROM orders WHERE value > 1"),
    "where twice": (
        "FROM orders |> WHERE value > 1 OR id = 2\n|> WHERE (note = 'a')|> WHERE id < 9 OR id > 12",
        "SELECT * FROM orders WHERE (value > 1 OR id = 2) AND (note = 'a') AND (id < 9 OR id > 12)",
    ),
    "extend": (
        "FROM orders |> EXTEND value * 2 AS d |> EXTEND d + 1 AS e |> WHERE e > 3",
        "SELECT *, value * 2 AS d, (value * 2) + 1 AS e FROM orders WHERE ((value * 2) + 1) > 3",
    ),
    "set": (
        "FROM orders |> SET value = value * 2, note = UPPER(note)",
        "SELECT id, product, value * 2 AS value, UPPER(note) AS note, tags, ts FROM orders",
    ),
    "set after set": (
        "FROM orders |> SET id = value, value = id + 1",
        "SELECT value AS id, product, value + 1 AS value, note, tags, ts FROM orders",
    ),
    "replace": (
        "SELECT o.* REPLACE (o.value * 2 AS value) FROM orders o",
        "SELECT id, product, value * 2 AS value, note, tags, ts FROM orders o",
    ),
    "drop": ("FROM orders |> DROP id, `note`", "SELECT * EXCEPT (id, note) FROM orders"),
    "rename": (
        "FROM orders |> RENAME id AS key, note AS remark",
        "SELECT id AS key, product, value, note AS remark, tags, ts FROM orders",
    ),
    "as": (
        "FROM orders |> AS o |> WHERE o.value > 1 |> SELECT o.id",
        "SELECT o.id FROM orders o WHERE o.value > 1",
    ),
    "aliases stay": (
        "FROM orders AS o |> EXTEND o.value * 2 AS d |> SET note = o.product |> WHERE o.id = d",
        "SELECT id, product, value, product AS note, tags, ts, value * 2 AS d FROM orders o"
        " WHERE id = (value * 2)",
    ),
    "distinct": (
        "FROM orders |> SELECT product |> DISTINCT",
        "SELECT DISTINCT product FROM orders",
    ),
    "select distinct": (
        "FROM orders |> SELECT DISTINCT product",
        "SELECT DISTINCT product FROM orders",
    ),
    "aggregate": (
        "FROM orders |> AGGREGATE COUNT(*) AS n, SUM(value) AS s",
        "SELECT COUNT(*) AS n, SUM(value) AS s FROM orders",
    ),
    "by a key": (
        "FROM orders |> AGGREGATE SUM(value) AS s GROUP BY product, value > 3 AS large",
        "SELECT product, value > 3 AS large, SUM(value) AS s FROM orders"
        " GROUP BY product, value > 3",
    ),
    "keys alone": (
        "FROM orders |> AGGREGATE GROUP BY product",
        "SELECT product FROM orders GROUP BY product",
    ),
    "window": (COUNTED, COUNTS),
    "policies": (
        f"{COUNTED} EMIT EARLY EVERY INTERVAL '10' SECOND LATE ON UPDATE RETAIN 1 DAY",
        f"{COUNTS} EMIT EARLY EVERY INTERVAL '10' SECOND LATE ON UPDATE RETAIN 1 DAY",
    ),
    "having": (
        f"{COUNTED} |> WHERE n > 1 |> SELECT product, n EMIT FINAL",
        f"SELECT product, COUNT(*) AS n FROM {TUMBLE} GROUP BY {KEYS} HAVING COUNT(*) > 1"
        " EMIT FINAL",
    ),
    "window of TUMBLE in GROUP BY": (
        "FROM orders |> AGGREGATE COUNT(*) AS n GROUP BY product, TUMBLE(ts, INTERVAL '1' MINUTE)",
        "SELECT product, window_start, window_end, COUNT(*) AS n FROM orders"
        " GROUP BY product, TUMBLE(ts, INTERVAL '1' MINUTE)",
    ),
    "window of Spark": (
        "FROM orders |> AGGREGATE COUNT(*) AS n GROUP BY window(ts, '1 minute') AS w",
        "SELECT window(ts, '1 minute') AS w, COUNT(*) AS n FROM orders"
        " GROUP BY window(ts, '1 minute')",
    ),
    "window of ksqlDB": (
        "FROM orders WINDOW TUMBLING (SIZE 1 HOUR) |> EXTEND value * 2 AS d"
        " |> AGGREGATE SUM(d) AS s GROUP BY product EMIT CHANGES",
        "SELECT product, SUM(d) AS s FROM (SELECT *, value * 2 AS d FROM orders)"
        " WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY product EMIT CHANGES",
    ),
    "window of rows": (
        "FROM orders OVER (PARTITION BY product ROWS 3 PRECEDING) |> AGGREGATE SUM(value) AS s"
        " GROUP BY product",
        "SELECT product, SUM(value) AS s FROM orders OVER (PARTITION BY product ROWS 3 PRECEDING)"
        " GROUP BY product",
    ),
    "sessions": (
        "FROM SESSION(TABLE orders PARTITION BY product, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
        " |> WHERE value > 0 |> SELECT id + 1 AS j |> AGGREGATE SUM(j) AS s"
        " GROUP BY product, window_start, window_end",
        f"SELECT {KEYS}, SUM(j) AS s FROM SESSION(TABLE (SELECT product, ts, value, id + 1 AS j"
        " FROM orders) PARTITION BY product, DESCRIPTOR(ts), INTERVAL '1' MINUTE) WHERE value > 0"
        f" GROUP BY {KEYS}",
    ),
    "columns below a window": (
        f"FROM {TUMBLE} |> WHERE value > 0 |> EXTEND value * 2 AS d |> SET d = d + 1 |> WHERE d > 3"
        f" |> DROP note |> AGGREGATE SUM(d) AS s GROUP BY orders.product, window_start, window_end"
        " EMIT CHANGES",
        f"SELECT {KEYS}, SUM(d) AS s FROM TUMBLE((SELECT *, (value * 2) + 1 AS d FROM orders),"
        " DESCRIPTOR(ts), INTERVAL '1' MINUTE) WHERE value > 0 AND d > 3"
        f" GROUP BY {KEYS} EMIT CHANGES",
    ),
    "a select below a window": (
        f"FROM {TUMBLE} |> SELECT {KEYS}, value * 2 AS d |> AGGREGATE SUM(d) AS s GROUP BY {KEYS}",
        f"SELECT {KEYS}, SUM(d) AS s FROM TUMBLE((SELECT *, value * 2 AS d FROM orders),"
        f" DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY {KEYS}",
    ),
    "windows of windows": (
        f"{COUNTED} |> AGGREGATE MAX(n) AS most GROUP BY window_start, window_end",
        "SELECT window_start, window_end, MAX(n) AS most"
        f" FROM ({COUNTS}) GROUP BY window_start, window_end",
    ),
    "grouping sets": (
        f"FROM {TUMBLE} |> AGGREGATE COUNT(*) AS n, GROUPING(note) AS g"
        " GROUP BY window_start, window_end, ROLLUP (product, note)",
        "SELECT window_start, window_end, product, note, COUNT(*) AS n, GROUPING(note) AS g"
        f" FROM {TUMBLE} GROUP BY window_start, window_end, ROLLUP (product, note)",
    ),
    "over": (
        "FROM orders |> EXTEND SUM(value) OVER (PARTITION BY product ORDER BY ts"
        " RANGE INTERVAL '1' MINUTE PRECEDING) AS s |> WHERE s > 3",
        "SELECT *, SUM(value) OVER (PARTITION BY product ORDER BY ts"
        " RANGE INTERVAL '1' MINUTE PRECEDING) AS s FROM orders QUALIFY s > 3",
    ),
    "named window": (
        "FROM orders |> SELECT id, LAG(value) OVER w AS l WINDOW w AS (PARTITION BY product"
        " ORDER BY ts)",
        "SELECT id, LAG(value) OVER w AS l FROM orders WINDOW w AS (PARTITION BY product"
        " ORDER BY ts)",
    ),
    "top n of a window": (
        f"{COUNTED} |> EXTEND ROW_NUMBER() OVER (PARTITION BY window_start, window_end"
        " ORDER BY n DESC) AS rn |> WHERE rn <= 3 |> DROP rn RETAIN 1 DAY",
        f"SELECT * EXCEPT (rn) FROM (SELECT {KEYS}, COUNT(*) AS n, ROW_NUMBER() OVER"
        " (PARTITION BY window_start, window_end ORDER BY COUNT(*) DESC) AS rn"
        f" FROM {TUMBLE} GROUP BY {KEYS} QUALIFY rn <= 3) RETAIN 1 DAY",
    ),
    "first rows": (
        "FROM orders |> ORDER BY value DESC, id |> LIMIT 10 |> OFFSET 2 |> LIMIT 3",
        "SELECT * FROM orders ORDER BY value DESC, id LIMIT 3 OFFSET 2",
    ),
    "first rows of groups": (
        f"{COUNTED} |> ORDER BY n DESC |> LIMIT 3",
        f"{COUNTS} ORDER BY n DESC LIMIT 3",
    ),
    "join": (
        f"FROM orders o |> JOIN pays p ON o.id = p.id AND {BOUNDS} |> SELECT o.id, amount"
        " RETAIN 2 HOURS",
        f"SELECT o.id, amount FROM orders o JOIN pays p ON o.id = p.id AND {BOUNDS} RETAIN 2 HOURS",
    ),
    "bounds in where": (
        "FROM orders o |> JOIN pays p ON o.id = p.id |> EXTEND value + amount AS both"
        f" |> WHERE {BOUNDS} |> WHERE o.value > 1",
        "SELECT *, value + amount AS both FROM orders o JOIN pays p ON o.id = p.id"
        f" WHERE {BOUNDS} AND o.value > 1",
    ),
    "columns of a join": (
        "FROM orders o |> JOIN pays p ON o.id = p.id |> EXTEND o.value + amount AS v"
        f" |> WHERE v > o.id |> EXTEND v * 2 AS w, o.id AS oid |> WHERE {BOUNDS} AND w > 2"
        " |> SELECT o.id, v, w + 1 AS x",
        "SELECT o.id, value + amount AS v, ((value + amount) * 2) + 1 AS x"
        " FROM orders o JOIN pays p ON o.id = p.id"
        f" WHERE (value + amount) > o.id AND {BOUNDS} AND ((value + amount) * 2) > 2",
    ),
    "groups of columns of a join": (
        f"FROM orders o |> JOIN pays p ON o.id = p.id AND {BOUNDS} |> EXTEND o.value + amount AS v,"
        " o.product AS name |> AGGREGATE SUM(v) AS s GROUP BY name, v > 3 AS large",
        "SELECT o.product AS name, (value + amount) > 3 AS large, SUM((value + amount)) AS s"
        f" FROM orders o JOIN pays p ON o.id = p.id AND {BOUNDS}"
        " GROUP BY o.product, (value + amount) > 3",
    ),
    "where before a join": (
        f"FROM orders o |> WHERE o.value > 1 |> LEFT JOIN pays p ON o.id = p.id AND {BOUNDS}",
        "SELECT * FROM (SELECT * FROM orders o WHERE o.value > 1) o"
        f" LEFT JOIN pays p ON o.id = p.id AND {BOUNDS}",
    ),
    "join, where, join": (
        f"FROM orders o |> JOIN pays p ON o.id = p.id AND {BOUNDS} |> WHERE p.amount > 3"
        " |> JOIN rates r ON o.product = r.product |> SELECT o.id, rate",
        f"SELECT o.id, rate FROM orders o JOIN pays p ON o.id = p.id AND {BOUNDS}"
        " JOIN rates r ON o.product = r.product WHERE p.amount > 3",
    ),
    "join of groups": (
        f"{COUNTED} |> JOIN rates USING (product) |> SELECT product, n, rate",
        f"SELECT product, n, rate FROM ({COUNTS}) JOIN rates USING (product)",
    ),
    "unnest": (
        "FROM orders o |> CROSS JOIN UNNEST(o.tags) AS t(tag) |> SELECT id, tag",
        "SELECT id, tag FROM orders o CROSS JOIN UNNEST(o.tags) AS t(tag)",
    ),
    "explode": (
        "FROM orders |> EXTEND EXPLODE(tags) AS tag |> WHERE tag = 'a'",
        "SELECT * FROM (SELECT *, EXPLODE(tags) AS tag FROM orders) WHERE tag = 'a'",
    ),
    "exists": (
        "FROM orders o |> WHERE EXISTS (FROM rates r |> WHERE r.product = o.product |> SELECT 1)",
        "SELECT * FROM orders o WHERE EXISTS (SELECT 1 FROM rates r WHERE r.product = o.product)",
    ),
    "in": (
        "FROM orders |> WHERE product IN (FROM rates |> SELECT product)",
        "SELECT * FROM orders WHERE product IN (SELECT product FROM rates)",
    ),
    "union": (
        "FROM orders |> SELECT id, ts |> UNION ALL (FROM pays |> SELECT id, at) |> WHERE id > 3",
        "SELECT * FROM (SELECT id, ts FROM orders UNION ALL SELECT id, at FROM pays) WHERE id > 3",
    ),
    "union of several": (
        "FROM orders |> SELECT id |> UNION ALL (FROM pays |> SELECT id), (FROM orders"
        " |> SELECT value)",
        "SELECT id FROM orders UNION ALL SELECT id FROM pays UNION ALL SELECT value FROM orders",
    ),
    "except": (
        "FROM orders |> SELECT id |> EXCEPT SELECT id FROM pays",
        "SELECT id FROM orders EXCEPT SELECT id FROM pays",
    ),
    "pivot": (
        "FROM orders |> SELECT id, product, value |> PIVOT (SUM(value) FOR product IN ('a', 'b'))",
        "SELECT * FROM (SELECT id, product, value FROM orders)"
        " PIVOT (SUM(value) FOR product IN ('a', 'b'))",
    ),
    "unpivot": (
        "FROM orders |> UNPIVOT (v FOR k IN (id, value)) |> WHERE v > 3",
        "SELECT * FROM orders UNPIVOT (v FOR k IN (id, value)) WHERE v > 3",
    ),
    "match": (
        "FROM orders |> MATCH_RECOGNIZE (PARTITION BY product ORDER BY ts MEASURES a.id AS one"
        " ONE ROW PER MATCH PATTERN (a b) WITHIN INTERVAL '1' HOUR DEFINE b AS b.value > 3) AS m"
        " |> SELECT m.one",
        "SELECT m.one FROM orders MATCH_RECOGNIZE (PARTITION BY product ORDER BY ts"
        " MEASURES a.id AS one ONE ROW PER MATCH PATTERN (a b) WITHIN INTERVAL '1' HOUR"
        " DEFINE b AS b.value > 3) AS m",
    ),
    "after a select": (
        f"{COUNTS} |> WHERE n > 1 RETAIN 1 DAY",
        f"SELECT * FROM ({COUNTS}) WHERE n > 1 RETAIN 1 DAY",
    ),
    "after a union": (
        "SELECT id FROM orders UNION ALL SELECT id FROM pays |> WHERE id > 1",
        "SELECT * FROM (SELECT id FROM orders UNION ALL SELECT id FROM pays) WHERE id > 1",
    ),
    "with": (
        "WITH large AS (FROM orders |> WHERE value > 9) FROM large |> SELECT id",
        "WITH large AS (SELECT * FROM orders WHERE value > 9) SELECT id FROM large",
    ),
    "in from": (
        f"SELECT product, n FROM ({COUNTED} |> WHERE n > 1)",
        f"SELECT product, n FROM ({COUNTS}) WHERE n > 1",
    ),
    "view": (
        f"CREATE VIEW v AS {COUNTED}; FROM v |> WHERE n > 1 |> SELECT product",
        f"CREATE VIEW v AS {COUNTS}; SELECT product FROM v WHERE n > 1",
    ),
    "hint": (
        f"FROM orders o |> JOIN pays p ON o.id = p.id AND {BOUNDS}"
        " |> SELECT /*+ STATE_TTL('o' = '3 days') */ o.id",
        "SELECT /*+ STATE_TTL('o' = '3 days') */ o.id FROM orders o"
        f" JOIN pays p ON o.id = p.id AND {BOUNDS}",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_a_pipe_is_what_its_clauses_are(name: str) -> None:
    piped, plain = SAME[name]
    assert explained(piped) == explained(plain)


def explained(query: str) -> str:
    return explain_script(script(STREAMS + query))
