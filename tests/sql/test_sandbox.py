"""What a query's text cannot reach, wherever in the query it stands."""

import random
from pathlib import Path
from time import process_time

import duckdb
import polars as pl
import pytest

import sqlwin
from sqlwin.errors import QueryError
from sqlwin.functions.table import names
from sqlwin.plan.ir.nodes import Project
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.sandbox.locked import binding, locked, running
from sqlwin.sandbox.pure import PURE
from sqlwin.sandbox.tree import Forbidden, calls
from tests.support.sql.cases import ORDERS, bound, columns, mistake, plan
from tests.support.sql.places import PLACES

FILES = [
    *("read_text('/etc/hostname')", "read_blob('/etc/hostname')", "read_csv('/etc/passwd')"),
    *("read_json('/etc/passwd')", "parquet_scan('/etc/x')", "glob('/etc/*')", "sniff_csv('/x')"),
    *("query('SELECT 1')", "query_table('orders')", "getenv('HOME')", "get_env('HOME')"),
    *("getvariable('x')", "write_log('x')", "parse_duckdb_log_message('a', 'b')"),
    *("duckdb_settings()", "duckdb_secrets()", "pragma_version()", "pragma_database_list()"),
    *("which_secret('a', 'b')", "load_aws_credentials()", "http_get('x')", "pg_read_file('x')"),
    *("java_method('java.lang.System', 'getenv', 'HOME')", "reflect('a', 'b')"),
]
SESSION = [
    *("current_setting('threads')", "current_query()", "current_database()", "current_schema()"),
    *("current_user", "current_user()", "session_user", "session_user()", "user()", "version()"),
    *(
        "current_catalog",
        "current_catalog()",
        "current_role()",
        "current_schemas()",
        "in_search_path('a', 'b')",
    ),
    *("pg_sleep(1)", "sleep_ms(1)", "sleep(1)", "txid_current()", "current_connection_id()"),
    *("inet_client_addr()", "pg_postmaster_start_time()", "has_table_privilege('a', 'b')"),
    *("spark_partition_id()", "input_file_name()", "json_serialize_sql('SELECT 1')"),
    *(
        "json_deserialize_sql('x')",
        "json_execute_serialized_sql('x')",
        "vector_type(n)",
        "stats(n)",
    ),
]
CHANGING = [
    *("rand()", "random()", "randn()", "uuid()", "gen_random_uuid()", "uuidv4()", "uuidv7()"),
    *("nextval('s')", "currval('s')", "randstr(5)", "uniform(1, 2)", "shuffle(ARRAY(1, 2))"),
    *("monotonically_increasing_id()", "RAND(1) + 1", "setseed(0.5)"),
]
CLOCKS = [
    *("today()", "current_time()", "get_current_timestamp()", "get_current_time()", "age(ts)"),
    *("transaction_timestamp()", "localtime()", "current_localtime()"),
]
"""Of other dialects, or of types that there are not; for the others see test_volatile.py."""
SHAPES = [
    *("(SELECT 1)", "(FROM orders)", "(FROM query('SELECT 1'))", "(TABLE orders)", "(VALUES (1))"),
    *("EXISTS (FROM orders)", "n IN (FROM orders)", "n = ANY (SELECT 1)", "n = ALL (FROM orders)"),
    *("ARRAY(SELECT 1)", "ARRAY((SELECT 1))", "COALESCE((SELECT 1), 2)", "((((SELECT 1))))"),
    *("(WITH x AS (SELECT 1) FROM x)", "(PIVOT orders ON n)", "(DESCRIBE orders)", "(SHOW TABLES)"),
    *(
        "COLUMNS('n')",
        "COLUMNS(*)",
        "*COLUMNS('n')",
        "ABS(*)",
        "COALESCE(*)",
        "? + 1",
        "$1",
        "#1",
        "@x",
    ),
    *("product COLLATE NOCASE", "size(unnest(ARRAY(1, 2)))", "size(explode(ARRAY(1, 2)))"),
    "size(inline(ARRAY()))",
    *(
        "main.abs(n)",
        "system.main.abs(n)",
        "pg_catalog.version()",
        "n::main.foo",
        "CAST(n AS main.foo)",
    ),
    *("UNPIVOT(n)", "LATERAL (SELECT 1)", "n; SELECT 1", "1) AS x FROM rows; SELECT (1", "1 -- "),
    *("LIST_AGGREGATE(ARRAY(1), 'sum')", "list_value(1)", "enum_range(n)", "alias(n)", "invoke(n)"),
    *("CAST(n AS nothing)", "$$a$$", "[x for x in ARRAY(1)]", "{'a': 1}"),
    *("TRANSFORM(ARRAY(1), x -> rand())", "TRANSFORM(ARRAY(1), x -> read_text('x'))"),
    "FILTER(ARRAY(1), x -> (SELECT TRUE))",
]
GROWING = [
    *("PRINTF('%9000000d', n)", "FORMAT_STRING('%2000000000s', product)", "SPACE(n * 9000000)"),
    *("REPEAT(product, n * 5000000)", "LPAD(product, n * 9000000, 'b')", "RPAD('a', 9999999, 'b')"),
    "REPLACE(REPEAT('a', 4000), 'a', REPEAT('b', 4000))",
    "REGEXP_REPLACE(REPEAT('a', 4000), 'a', REPEAT('b', 4000))",
    "CONCAT_WS(REPEAT('a', 4000), REPEAT(product, 4000), TRANSFORM(SEQUENCE(1, 4000), x -> 'a'))",
    "ARRAY_JOIN(SEQUENCE(1, 9000), REPEAT('a', 4000))",
    "ARRAY_REPEAT(product, n * 2000000000)",
    "SEQUENCE(1, 20000)",
    "FLATTEN(ARRAY(SEQUENCE(1, n * 20000)))",
    "TRANSFORM(SEQUENCE(1, 9000), x -> REPEAT('a', n * 400000))",
    "TRANSFORM(SEQUENCE(1, 9000), x -> LPAD('a', 9999999, 'b'))",
    "REDUCE(SEQUENCE(1, 60), 'a', (a, x) -> a || a)",
    "REDUCE(SEQUENCE(1, 60), ARRAY(1), (a, x) -> CONCAT(a, a))",
]
ATTACKS = [*FILES, *SESSION, *CHANGING, *CLOCKS, *SHAPES]


@pytest.mark.parametrize("attack", ATTACKS)
def test_refused_in_the_select_list_and_in_one_more_place(attack: str) -> None:
    more = random.Random(attack).choice(PLACES[1:])
    for place in (PLACES[0], more):
        with pytest.raises(QueryError):
            bound(place.replace("{}", attack))


@pytest.mark.parametrize("place", PLACES)
def test_refused_in_every_place(place: str) -> None:
    for attack in ("(FROM query('SELECT 1'))", "current_setting('x')", "read_text('x')"):
        with pytest.raises(QueryError):
            bound(place.replace("{}", attack))


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_every_attack_is_refused_in_every_place(place: str) -> None:
    for attack in ATTACKS:
        with pytest.raises(QueryError):
            bound(place.replace("{}", attack))


@pytest.mark.parametrize("expression", GROWING)
def test_what_grows_is_an_error_of_the_row(expression: str) -> None:
    (query,) = bound(f"SELECT {expression} AS x FROM orders").queries
    assert isinstance(query.plan, Project)
    (column,) = query.plan.columns
    frame = pl.DataFrame({"n": [1], "product": ["tea"]}, schema_overrides={"n": pl.Int32})
    began = process_time()
    done = evaluate(frame, (column,))
    assert [at for at, _ in done.rejected] == [0]
    assert process_time() - began < 10


@pytest.mark.parametrize("attack", CHANGING)
def test_what_changes_is_named_so(attack: str) -> None:
    assert "gives another value each time" in mistake(f"SELECT {attack} AS x FROM orders").message


def test_a_function_that_is_not_known_is_refused_with_the_nearest() -> None:
    error = mistake("SELECT UPER(product) AS x FROM orders")
    assert error.message == "no function is called uper; did you mean upper?"
    error = mistake("SELECT list_value(1) AS x FROM orders")
    assert error.message.startswith("no function is called list_value")


# --- names that break out ---------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["f, (SELECT 1) AS y", 'f" , 1 AS "y', "f) AS y FROM rows; --", "f FROM rows WHERE ("]
)
def test_a_quoted_field_is_a_name(name: str) -> None:
    quoted = name.replace("`", "``")
    with pytest.raises(QueryError, match=r"NAMED_STRUCT|struct|field|key|unknown"):
        bound(f"SELECT NAMED_STRUCT('a', n).`{quoted}` AS x FROM orders")
    with pytest.raises(QueryError):
        bound(
            "CREATE VIEW v AS SELECT NAMED_STRUCT('a', n) AS s FROM orders;"
            f"SELECT s.`{quoted}` AS x FROM v"
        )


def test_a_field_with_any_letters_is_read() -> None:
    text = (
        "CREATE VIEW v AS SELECT NAMED_STRUCT('a b) \"c', n) AS s FROM orders;"
        'SELECT s.`a b) "c` AS x FROM v'
    )
    assert columns(plan(text))


def test_columns_called_as_values_of_the_session_are_columns() -> None:
    text = (
        "CREATE STREAM s (user STRING, current_user STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
        "SELECT UPPER(`user`) AS u, LOWER(`current_user`) AS c FROM s"
    )
    assert bound(text).queries


# --- the tables -------------------------------------------------------------------------


def test_what_is_allowed_is_called_by_names_that_spark_has() -> None:
    assert not {"read_text", "query", "getenv", "today", "sleep_ms"} & set(names())


def test_pure_functions_are_consistent_to_the_engine() -> None:
    """But for `error`, which ends the row."""
    found = binding().sql(
        "SELECT function_name FROM duckdb_functions() WHERE stability <> 'CONSISTENT'"
    )
    names = {str(name) for (name,) in found.fetchall()}
    assert names & PURE == {"error"}


# --- the walls behind, each by itself -------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *(
            "SELECT (SELECT 1) AS x FROM rows",
            "SELECT 1 FROM rows, rows",
            "FROM rows",
            "TABLE rows",
        ),
        *("SELECT * FROM rows", "SELECT COLUMNS('a') FROM rows", "SELECT 1 FROM other"),
        *(
            "SELECT 1 FROM query('SELECT 1')",
            "SELECT 1 FROM main.rows",
            "SELECT main.repeat('a', 9) FROM rows",
        ),
        *("SELECT 1 FROM rows; SELECT 1 FROM rows", "SELECT 1 FROM rows UNION SELECT 1 FROM rows"),
        *(
            "WITH x AS (SELECT 1) SELECT 1 FROM rows",
            "SELECT 1 FROM rows LIMIT 1",
            "DROP TABLE rows",
        ),
        *("SELECT 1 FROM rows USING SAMPLE 1", "SELECT 1 FROM rows GROUP BY a", "COPY rows TO 'x'"),
        *(
            "SELECT current_user FROM rows",
            'SELECT "current_user" FROM rows',
            "SELECT user FROM rows",
        ),
        *("SELECT COUNT(*) FROM rows", "SELECT SUM(a) OVER () FROM rows", "SELECT ? FROM rows"),
        *(
            "SELECT a COLLATE nocase FROM rows",
            "SELECT now() FROM rows",
            "SELECT random() FROM rows",
        ),
        *("SELECT getvariable('x') FROM rows", "SELECT sleep_ms(1) FROM rows", "PRAGMA version"),
        *("ATTACH 'x'", "INSTALL json", "LOAD json", "SET threads = 2", "PIVOT rows ON a"),
        *("EXPLAIN SELECT 1 FROM rows", "SELECT rowid FROM rows", "SELECT 1 FROM rows HAVING TRUE"),
    ],
)
def test_the_tree_that_the_engine_reads(text: str) -> None:
    with pytest.raises(Forbidden):
        calls(text)


def test_a_literal_is_no_tree() -> None:
    text = """SELECT ',"class":"SUBQUERY","function_name":"now"' AS x FROM rows"""
    assert calls(text) == ()


@pytest.mark.parametrize("con", [binding, running, locked])
@pytest.mark.parametrize(
    "text",
    [
        *(
            "SELECT * FROM read_text('/etc/hostname')",
            "SELECT * FROM '/etc/passwd'",
            "SELECT * FROM glob('/*')",
        ),
        *(
            "SELECT * FROM read_csv('/etc/passwd')",
            "COPY (SELECT 1) TO '/tmp/x'",
            "ATTACH '/tmp/x.db'",
        ),
        *("INSTALL httpfs", "LOAD httpfs", "SET threads = 4", "SET enable_external_access = true"),
        *("SET lock_configuration = false", "RESET memory_limit", "EXPORT DATABASE '/tmp/x'"),
        *(
            "SELECT * FROM text",
            "SELECT * FROM con",
            "IMPORT DATABASE '/tmp'",
            "SET TimeZone = 'Asia/Tokyo'",
        ),
    ],
)
def test_the_connection_by_itself(con: object, text: str) -> None:
    assert callable(con)
    with pytest.raises(duckdb.Error):
        con().sql(text)


def test_a_stream_may_be_called_anything() -> None:
    assert bound(ORDERS.replace("orders", "`read_text`") + "SELECT id FROM `read_text`").queries


def test_connections_are_opened_in_one_place() -> None:
    """And for the tables of a sink, where no expression of a query is run."""
    root = Path(sqlwin.__file__).parent
    opens = [path for path in root.rglob("*.py") if "duckdb.connect" in path.read_text("utf-8")]
    assert sorted(opens) == [root / "runtime/tables/duckdb.py", root / "sandbox/locked.py"]
