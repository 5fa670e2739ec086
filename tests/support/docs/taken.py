"""What other engines spell in their own way, and sqlwin takes: engine, statement."""

from __future__ import annotations

_MINUTE = "INTERVAL '1' MINUTE"
_FLINK, _SPARK, _KSQL, _RISING = "Flink SQL", "Spark SQL", "ksqlDB", "RisingWave"

TAKEN: tuple[tuple[str, str], ...] = (
    (
        _FLINK,
        "SELECT window_start, window_end, SUM(qty) AS s "
        f"FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), {_MINUTE})) "
        "GROUP BY window_start, window_end",
    ),
    (
        _FLINK,
        f"SELECT product, TUMBLE_END(ts, {_MINUTE}) AS t, SUM(qty) AS s FROM orders "
        f"GROUP BY product, TUMBLE(ts, {_MINUTE})",
    ),
    (
        _FLINK,
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY ts DESC) AS rn "
        "FROM orders) WHERE rn = 1",
    ),
    (
        _FLINK,
        "CREATE TABLE t (id BIGINT NOT NULL, v VARCHAR(20), ts TIMESTAMP_LTZ(3), "
        f"WATERMARK FOR ts AS ts - {_MINUTE}, PRIMARY KEY (id) NOT ENFORCED) "
        "WITH ('connector' = 'kafka', 'topic' = 't')",
    ),
    (_FLINK, "SET 'table.exec.state.ttl' = '1 h'"),
    (
        _SPARK,
        "SELECT product, window.start, COUNT(*) AS n FROM orders "
        "GROUP BY product, window(ts, '10 minutes', '5 minutes')",
    ),
    (
        _SPARK,
        "SELECT session_window.start, COUNT(*) AS n FROM orders "
        "GROUP BY product, session_window(ts, '5 minutes')",
    ),
    (_SPARK, 'SELECT * FROM orders WHERE product == "tea" AND qty <=> 1 AND id != 2'),
    (
        _KSQL,
        "SELECT product, WINDOWSTART, LATEST_BY_OFFSET(qty) AS q FROM orders "
        "WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 10 MINUTES, GRACE PERIOD 2 HOURS) "
        "GROUP BY product EMIT CHANGES",
    ),
    (
        _KSQL,
        "SELECT o.id, s.carrier FROM orders o JOIN shipments s WITHIN 1 HOURS ON o.id = s.id",
    ),
    (_KSQL, "SELECT UCASE(product) AS p, LEN(product) AS n FROM orders EMIT CHANGES"),
    (
        _RISING,
        "SELECT window_start, SUM(qty) AS s FROM TUMBLE(orders, ts, INTERVAL '1 minute') "
        "GROUP BY window_start EMIT ON WINDOW CLOSE",
    ),
    ("PostgreSQL", "SELECT id::TEXT AS t, product || '!' AS p FROM orders"),
    ("SQL Server", "SELECT DATEDIFF(MINUTE, ts, ts) AS m, DATEADD(DAY, 1, ts) AS d FROM orders"),
    (
        _FLINK,
        "BEGIN STATEMENT SET; INSERT INTO log SELECT id, product FROM orders; END",
    ),
    (_SPARK, "CREATE TEMPORARY FUNCTION twice(x INT) RETURNS INT RETURN x * 2"),
    (
        _KSQL,
        "CREATE TABLE counts AS SELECT product, COUNT(*) AS n FROM orders GROUP BY product "
        "EMIT CHANGES",
    ),
    (
        _RISING,
        "CREATE MATERIALIZED VIEW counts AS SELECT product, COUNT(*) AS n FROM orders "
        "GROUP BY product",
    ),
    (_RISING, "DROP TABLE IF EXISTS t; CREATE TABLE t (id BIGINT, n INT,) APPEND ONLY"),
)
