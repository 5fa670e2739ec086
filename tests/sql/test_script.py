import time

import pyarrow as pa
import pytest

from sqlwin.plan.ir.nodes import Scan, Stream
from sqlwin.plan.ir.statements import Describe, Query, ShowDeclared
from sqlwin.schema import TIMESTAMP, Column
from sqlwin.sql import script
from tests.support.sql.cases import (
    ORDERS,
    bound,
    columns,
    filtered,
    mistake,
    operator,
    plan,
    window,
)

SCAN = Stream("s", (Column("a", pa.int32()), Column("at", TIMESTAMP)), None)


def test_a_stream_as_declared() -> None:
    (stream,) = script(
        ORDERS.replace(");", ") WITH (path = 'x', 'connector' = \"files\", state.ttl = '3 d');")
    ).streams
    assert [(c.name, str(c.type)) for c in stream.columns][-3:] == [
        ("price", "decimal128(10, 2)"),
        ("ts_ms", "int64"),
        ("ts", "timestamp[us, tz=UTC]"),
    ]
    assert (stream.ts, stream.delay, stream.offset, stream.trusted) == (
        "ts",
        5_000_000,
        "id",
        False,
    )
    assert stream.options == (("connector", "files"), ("path", "x"), ("state.ttl", "3 d"))
    ((name, computed),) = stream.computed
    assert (name, computed.type, computed.inputs) == ("at", TIMESTAMP, ("ts_ms",))
    assert computed.sql == "TO_TIMESTAMP_LTZ(ts_ms, 3)"


@pytest.mark.parametrize(
    "type_",
    ["TIMESTAMP", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)",
     "timestamp(3) with local time zone", "TIMESTAMP NOT NULL", "TIMESTAMP WITH TIME ZONE"],
)  # fmt: skip
def test_spellings_of_timestamp(type_: str) -> None:
    (stream,) = script(f"CREATE STREAM s (a {type_})").streams
    assert stream.columns == (Column("a", TIMESTAMP),)


@pytest.mark.parametrize("type_", ["VARCHAR(255)", "CHAR(64)", "STRING(40)", "VARCHAR"])
def test_texts_may_declare_their_length(type_: str) -> None:
    (stream,) = script(f"CREATE STREAM s (a {type_} NOT NULL)").streams
    assert stream.columns == (Column("a", pa.string()),)


@pytest.mark.parametrize("star", ["* EXCEPT (n, ID)", "o.* EXCLUDE (id, n)"])
def test_a_star_leaves_columns_out(star: str) -> None:
    inner = "(SELECT id, product, n, value FROM orders) o"
    assert [*columns(plan(f"SELECT {star} FROM {inner}"))] == ["product", "value"]


def test_a_star_leaves_the_windows_columns_out() -> None:
    rank = "ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY value) AS rn"
    left_out = "window_end, at"
    for more, shown in (("", ["window_start", "window_time"]), (", WINDOW_TIME", ["window_start"])):
        star = f"* EXCEPT ({left_out}{more})"
        made = plan(f"SELECT {star}, {rank} FROM TUMBLE(orders, ts, 1 HOUR)")
        names = [*columns(made)]
        assert names[names.index("ts") + 1 :] == [*shown, "rn"]


def test_a_trusted_offset_a_bare_watermark_and_a_column_called_offset() -> None:
    (stream,) = script(
        "CREATE TABLE s (offset BIGINT, value INT, range STRING, t TIMESTAMP, PRIMARY KEY (offset) "
        "NOT ENFORCED, WATERMARK FOR t AS t, OFFSET offset TRUSTED)"
    ).streams
    assert [c.name for c in stream.columns] == ["offset", "value", "range", "t"]
    assert (stream.offset, stream.trusted, stream.ts, stream.delay) == ("offset", True, "t", 0)


def test_computed_columns_see_those_before_them() -> None:
    (stream,) = script("CREATE STREAM s (a INT, b AS a * 2, c AS b + 1)").streams
    assert [(name, scalar.inputs) for name, scalar in stream.computed] == [
        ("b", ("a",)),
        ("c", ("b",)),
    ]


def test_a_static_table_may_be_declared() -> None:
    assert script("CREATE TABLE t (a INT, b STRING)").streams == ()


def test_statements_in_order() -> None:
    made = bound("""
      SET buckets = 8; SET 'batch.bytes' = 3;
      CREATE VIEW big AS SELECT id, value FROM orders WHERE value > 10;
      CREATE SINK out (i BIGINT, v DOUBLE) WITH (connector = 'none');
      EXPLAIN SELECT id FROM big;
      SHOW STREAMS; DESCRIBE big; DESC orders; DESCRIBE out;
      INSERT INTO out SELECT * FROM big;
      SELECT id FROM orders;
    """)
    assert made.settings == (("batch.bytes", "3"), ("buckets", "8"))
    kinds = [type(s).__name__ + "!" * getattr(s, "explain", False) for s in made.statements]
    assert kinds == [
        "Query!", "ShowDeclared", "Describe", "Describe", "Describe", "Query", "Query",
    ]  # fmt: skip
    assert [q.sink.name if q.sink else None for q in made.queries] == ["out", None]
    shown, view, stream, _ = made.statements[1:5]
    assert isinstance(shown, ShowDeclared) and [name for name, _ in shown.declared] == ["orders"]
    assert isinstance(view, Describe) and [c.name for c in view.columns] == ["id", "value"]
    assert isinstance(stream, Describe) and stream.stream is not None
    insert = made.queries[0]
    assert columns(insert.plan) == {"i": "id", "v": "value"}


def test_a_sink_widens_numbers() -> None:
    made = bound(
        "CREATE SINK k (a DOUBLE, b DECIMAL(12, 2)) WITH (connector = 'none'); "
        "INSERT INTO k SELECT n, price FROM orders"
    )
    assert columns(made.queries[0].plan) == {
        "a": "CAST(n AS DOUBLE)",
        "b": "CAST(price AS DECIMAL(12, 2))",
    }


@pytest.mark.parametrize(
    "text",
    [
        "SELECT v * 2 AS w FROM (SELECT value + 1 AS v, n FROM orders WHERE n > 1) q WHERE q.v > 3",
        "WITH q AS (SELECT value + 1 AS v, n FROM orders WHERE n > 1) "
        "SELECT v * 2 AS w FROM q WHERE v > 3",
        "CREATE VIEW q AS SELECT value + 1 AS v, n FROM orders WHERE n > 1; "
        "SELECT v * 2 AS w FROM q WHERE V > 3",
    ],
)
def test_subqueries_views_and_ctes_are_merged(text: str) -> None:
    made = plan(text)
    assert columns(made) == {"w": "(value + 1) * 2"}
    assert filtered(made) == "n > 1 AND (value + 1) > 3"


def test_a_query_over_a_windowed_view() -> None:
    made = plan(
        "CREATE VIEW counts AS SELECT product AS p, window_start AS w, COUNT(*) AS c "
        "FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY product HAVING COUNT(*) > 1 RETAIN 2 HOURS; "
        "SELECT p, c + 1 AS d FROM counts WHERE c < 10"
    )
    assert columns(made) == {"p": "product", "d": "c + 1"}
    assert filtered(made) == "c > 1 AND c < 10"


def test_streams_from_python_take_their_event_time_from_the_query() -> None:
    (query,) = script(
        "SELECT MAX(a) FROM s [RANGE 1 MINUTE]", streams={"s": Stream("", SCAN.columns, "at")}
    ).queries
    assert isinstance(query, Query)
    for text in (
        "SELECT MAX(a) FROM S OVER (ORDER BY at RANGE 1 MINUTE PRECEDING)",
        "SELECT MAX(a) FROM TUMBLE(s, at, 1 MINUTE)",
        "SELECT MAX(a) OVER (ORDER BY at ROWS 1 PRECEDING) FROM s",
    ):
        (query,) = script(text, streams={"s": SCAN}).queries
        node = operator(query.plan)
        while not isinstance(node, Scan):
            node = node.input
        assert node.stream.ts == "at"


def test_parameters_are_literals() -> None:
    text = ORDERS + "SELECT id FROM orders WHERE product = :p AND value > :v AND n::INT = 1"
    (query,) = script(text, params={"p": "it's", "v": "1.5"}).queries
    assert filtered(query.plan) == "product = 'it\\'s' AND value > 1.5 AND CAST(n AS INT) = 1"
    size = script(
        ORDERS + "SELECT COUNT(*) FROM TUMBLE(orders, ts, INTERVAL :size MINUTE) RETAIN :keep",
        params={"size": "5", "keep": "1 hour"},
    )
    assert operator(size.queries[0].plan).window.size == 300_000_000  # type: ignore[union-attr]


def test_names_are_not_case_sensitive() -> None:
    made = window("select PRODUCT, Sum(VALUE) from Tumble(ORDERS, TS, 1 hour) group by Product")
    assert made.keys == ("product",)


@pytest.mark.parametrize(
    ("expression", "type_", "duckdb"),
    [
        ("value", "double", '"value"'),
        ("price * 2", "decimal128(12, 2)", 'CAST("price" * '),
        ("CAST(product AS INT)", "int32", "CASE WHEN CAST(TRY_CAST("),
        ("TRY_CAST(product AS INT)", "int32", "CASE WHEN CAST(TRY_CAST("),
        ("DATE_TRUNC('hour', ts)", "timestamp[us, tz=UTC]", "make_timestamptz"),
        ("product || 'x'", "string", '("product" || '),
        ("UNIX_MILLIS(ts)", "int64", '(epoch_us("ts")'),
        ("NULL", "string", "CAST(NULL AS VARCHAR)"),
        ("n IS NULL", "bool", '("n" IS NULL)'),
    ],
)
def test_types_are_those_of_spark(expression: str, type_: str, duckdb: str) -> None:
    node = plan(f"SELECT {expression} AS x FROM orders")
    assert str(node.schema[0].type) == type_
    ((_, scalar),) = node.columns  # type: ignore[union-attr]
    assert scalar.duckdb.startswith(duckdb)


def test_an_empty_text_has_no_query() -> None:
    assert script(" -- nothing\n;; /* at all */ ;").statements == ()


def test_a_query_is_parsed_in_little_time() -> None:
    text = ORDERS + (
        "SELECT product, ROUND(AVG(value * 2) OVER w, 2) AS a, SUM(n) OVER w AS s FROM orders "
        "WHERE value > 0 WINDOW w AS (PARTITION BY product ORDER BY ts RANGE 1 HOUR PRECEDING)"
    )
    script(text)
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        script(text)
        times.append(time.perf_counter() - begun)
    assert min(times) < 0.05


@pytest.mark.parametrize("order", ["{q} {w}", "{w} {q}"])
def test_qualify_and_window_stand_in_either_order(order: str) -> None:
    clauses = order.format(q="QUALIFY s > 1", w="WINDOW w AS (ORDER BY ts ROWS 2 PRECEDING)")
    assert bound(f"SELECT SUM(n) OVER w AS s FROM orders {clauses} EMIT FINAL").queries
    late = f"SELECT SUM(n) OVER w AS s FROM orders {clauses} HAVING n > 1"
    assert mistake(late).message in (
        "HAVING must come before WINDOW",
        "HAVING must come before QUALIFY",
    )


def test_distinct_is_a_group_by_of_all_columns() -> None:
    once = plan("SELECT DISTINCT product, n FROM orders WHERE n > 1")
    assert once == plan("SELECT product, n FROM orders WHERE n > 1 GROUP BY product, n")
    emit = "EMIT FINAL RETAIN 1 HOUR"
    totals = "SELECT {} SUM(n) AS n FROM orders GROUP BY product"
    once = plan(f"{totals.format('DISTINCT')} {emit}")
    assert once == plan(f"SELECT n FROM ({totals.format('')}) GROUP BY n {emit}")


def test_union_is_a_group_by_of_all_columns_over_union_all() -> None:
    ids, numbers, codes = (f"SELECT {name} FROM orders" for name in ("id", "n AS id", "ts_ms"))
    grouped = "SELECT id FROM ({}) GROUP BY id"
    both = plan(grouped.format(f"{ids} UNION ALL {numbers}"))
    assert plan(f"{ids} UNION {numbers}") == plan(f"{ids} UNION DISTINCT {numbers}") == both
    every = plan(grouped.format(f"{ids} UNION ALL {numbers} UNION ALL {codes}"))
    assert plan(f"{ids} UNION ALL {numbers} UNION {codes}") == every
    first = f"(SELECT * FROM ({ids} UNION {numbers}))"
    assert plan(f"{ids} UNION {numbers} UNION ALL {codes}") == plan(f"{first} UNION ALL {codes}")


def test_the_list_behind_the_name_of_a_view_names_its_columns() -> None:
    for text in (
        "CREATE VIEW v (a, `b c`) AS SELECT id, n FROM orders; SELECT * FROM v",
        "WITH v (a, `b c`) AS (SELECT id, n FROM orders) SELECT * FROM v",
    ):
        assert columns(plan(text)) == {"a": "id", "b c": "n"}
