# ruff: noqa: E501  (a query a line)
"""Queries with a place for an expression, `{}`, each in another clause."""

from __future__ import annotations

PLACES = [
    "SELECT {} AS x FROM orders",
    "SELECT CASE WHEN n > 1 THEN CAST({} AS STRING) END AS x FROM orders",
    "SELECT COALESCE(CAST(({}) AS STRING), 'x') AS x FROM orders",
    "SELECT id FROM orders WHERE CAST({} AS STRING) = 'x'",
    "SELECT product, COUNT(*) AS c FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY product HAVING CAST({} AS STRING) = 'x'",
    "SELECT SUM(CASE WHEN CAST({} AS STRING) = 'x' THEN 1 END) AS s FROM TUMBLE(orders, ts, 1 HOUR)",
    "SELECT COUNT(*) FILTER (WHERE CAST({} AS STRING) = 'x') AS s FROM TUMBLE(orders, ts, 1 HOUR)",
    "SELECT FIRST(id ORDER BY CAST({} AS STRING)) AS s FROM TUMBLE(orders, ts, 1 HOUR)",
    "SELECT CAST({} AS STRING) AS k, COUNT(*) AS c FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY CAST({} AS STRING)",
    "SELECT SUM(n) OVER (PARTITION BY CAST({} AS STRING) ORDER BY ts ROWS 1 PRECEDING) AS s FROM orders",
    "SELECT LAG(n, 1, {}) OVER (PARTITION BY product ORDER BY ts) AS s FROM orders",
    "SELECT id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY CAST({} AS STRING) ORDER BY ts) = 1",
    "SELECT a.id FROM orders a JOIN orders b WITHIN 1 HOUR ON a.id = b.id AND CAST({} AS STRING) = 'x'",
    "SELECT COUNT(*) AS c FROM orders OVER (SESSION (CAST({} AS STRING)) GAP)",
    "SELECT COUNT(*) AS c FROM orders OVER (SESSION INTERVAL '1' HOUR GAP START WHEN CAST({} AS STRING) = 'x')",
    "CREATE STREAM s (n INT, x AS {}, ts TIMESTAMP, WATERMARK FOR ts AS ts); SELECT n FROM s",
    "CREATE STREAM s (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - {}); SELECT n FROM s",
    "CREATE STREAM s (n INT DEFAULT {}, ts TIMESTAMP, WATERMARK FOR ts AS ts); SELECT n FROM s",
    "CREATE STREAM s (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (path = ({})); SELECT n FROM s",
    "CREATE VIEW v AS SELECT {} AS x FROM orders; SELECT x FROM v",
    "SELECT /*+ STATE_TTL({}) */ id FROM orders",
    "SELECT id FROM (SELECT id, {} AS x FROM orders) WHERE CAST(x AS STRING) = 'x'",
]
