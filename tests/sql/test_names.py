"""What a name with dots means, and where a star may stand."""

import pyarrow as pa
import pytest

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.schema import TIMESTAMP, Column
from sqlwin.sql import script
from tests.support.sql.cases import columns, mistake, plan, underlined

HOUR = "FROM TUMBLE(orders, ts, 1 HOUR)"


def test_stars_that_stand_well() -> None:
    taken = plan("SELECT o.* EXCEPT (price, at) FROM orders o")
    assert "id" in columns(taken)
    plan(f"SELECT COUNT(*) AS n {HOUR} HAVING COUNT(*) > 1")


# --- structs --------------------------------------------------------------------------

_INNER = pa.struct([("g", pa.int64()), ("an x", pa.int64())])
_STRUCT = pa.struct([("f", pa.int64()), ("s", pa.int64()), ("t", _INNER)])
_STREAM = Stream(
    "", (Column("s", _STRUCT), Column("v", pa.int64()), Column("ts", TIMESTAMP)), "ts", 0
)
_KNOWN = {"x": _STREAM, "y": _STREAM, "s": _STREAM}
JOINED = "FROM x JOIN y ON x.v = y.v AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '1' HOUR"


def fields(text: str) -> dict[str, str]:
    (query,) = script(text, streams=_KNOWN).queries
    return columns(query.plan)


def refused(text: str) -> QueryError:
    with pytest.raises(QueryError) as raised:
        script(text, streams=_KNOWN)
    return raised.value


def test_a_field_of_a_struct() -> None:
    assert fields("SELECT s.f FROM x") == {"f": "s.f"}
    assert fields("SELECT x.s.f FROM x") == {"f": "s.f"}
    assert fields("SELECT s.t.g FROM x") == {"g": "s.t.g"}
    assert fields("SELECT x.s.t.g FROM x") == {"g": "s.t.g"}
    assert fields("SELECT o.S.t.`an x` FROM x AS o") == {"an x": "s.t.`an x`"}


def test_a_qualifier_wins_over_a_struct_of_its_name() -> None:
    """As in Spark: a column of the stream `s`, else a field of the column `s`."""
    assert fields("SELECT s.v FROM s") == {"v": "v"}
    assert fields("SELECT s.f FROM s") == {"f": "s.f"}
    assert fields("SELECT s.s.s FROM s") == {"s": "s.s"}
    assert fields("SELECT s.t.g FROM s") == {"g": "s.t.g"}


def test_a_struct_of_one_input_of_a_join() -> None:
    made = fields(f"SELECT x.s.f AS left_f, y.s.t.g AS right_g {JOINED}")
    assert list(made) == ["left_f", "right_g"]
    assert made["left_f"] != made["right_g"]
    error = refused(f"SELECT s.f {JOINED}")
    assert error.message == "s is a column of 2 inputs of this join"
    assert error.legal == "x.s, y.s"


@pytest.mark.parametrize("name", ["nobody.s.f", "nobody.x.s.f", "nobody.x.s.t.g", "nobody.v"])
def test_a_qualifier_that_names_nothing(name: str) -> None:
    error = refused(f"SELECT {name} AS z FROM x")
    assert error.message == "no stream here is called nobody"
    assert underlined(error).startswith("nobody.")


def test_a_field_that_is_not_there() -> None:
    assert refused("SELECT x.nope.f FROM x").message == "unknown column nope"
    assert "nope" in refused("SELECT x.s.nope FROM x").message


@pytest.mark.parametrize("name", ["nobody.window_start", "nobody.window_end", "nobody.windowstart"])
def test_a_qualifier_of_an_edge_names_the_input(name: str) -> None:
    error = mistake(f"SELECT {name} AS z, COUNT(*) AS n {HOUR} GROUP BY window_start")
    assert error.message == "no stream here is called nobody"
    plan(f"SELECT orders.window_start AS z, COUNT(*) AS n {HOUR} GROUP BY window_start")


@pytest.mark.parametrize("table", ["__window", "__done", "__nothing"])
def test_qualifiers_of_the_binder_are_no_names(table: str) -> None:
    for text in (f"SELECT {table}.id FROM orders", f"SELECT SUM({table}.id) {HOUR}"):
        assert mistake(text).message == f"no stream here is called {table}"


# --- constants ------------------------------------------------------------------------


def test_texts_that_are_what_they_are_taken_for() -> None:
    plan("SELECT id FROM orders WHERE id > '12' AND ts > '2024-01-01' AND product > 'abc'")
    plan("SELECT TRY_CAST('abc' AS INT) AS n, CAST(product AS INT) AS p FROM orders")


WORDS = ("use", "set", "show", "comment", "cache", "copy", "kill", "load", "merge", "refresh")


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("item", ["{}", "{} + 1 AS x", "ABS({}) AS x", "o.{}"])
def test_a_column_may_be_called_as_a_statement_begins(name: str, item: str) -> None:
    stream = f"CREATE STREAM o ({name} INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
    made = script(f"{stream} SELECT {item.format(name)} FROM o WHERE {name} > 0")
    assert len(made.statements) == 1


@pytest.mark.parametrize("text", ["CREATE OVER (PARTITION BY id)", "DROP TABLE id", "GRANT id"])
def test_a_statement_is_no_expression(text: str) -> None:
    with pytest.raises(QueryError, match="cannot be read"):
        plan(f"SELECT {text} FROM orders")
