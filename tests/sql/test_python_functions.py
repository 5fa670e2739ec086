"""Scalar functions of Python: declared in a text or registered, with their types."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sqlwin
from sqlwin.errors import InputError, QueryError
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.python_functions.declared import udf, udtf
from sqlwin.python_functions.function import PythonFunction
from sqlwin.python_modules import VARIABLE
from sqlwin.sql import script

HERE = "tests.support.sql.python_prices"
ORDERS = "CREATE STREAM orders (name STRING, gross DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
ROW = {"name": "tea", "gross": 5.0, "ts": "2024-01-01T09:00:00Z"}


@pytest.fixture(autouse=True)
def _allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"{HERE}, math")


def value(text: str, expression: str, *functions: PythonFunction) -> Any:
    q = sqlwin.query(f"{ORDERS} {text} SELECT {expression} AS x FROM orders", functions=functions)
    q.push("orders", [ROW])
    q.drain()
    (row,) = q.results()["x"].to_pylist()
    return row


def mistake(text: str, select: str = "SELECT net(gross) FROM orders") -> QueryError:
    with pytest.raises(QueryError) as caught:
        script(f"{ORDERS} {text} {select}")
    return caught.value


@pytest.mark.parametrize(
    ("declared", "call", "expected"),
    [
        (f"net AS '{HERE}.net' LANGUAGE PYTHON", "net(gross, 0.25)", 4.0),
        (f"net AS '{HERE}.decorated' LANGUAGE PYTHON", "NET(gross)", 10.0),
        ("root(x DOUBLE) RETURNS DOUBLE AS 'math.sqrt' LANGUAGE PYTHON", "root(16)", 4.0),
        ("root(double) RETURNS DOUBLE LANGUAGE python AS 'math.sqrt'", "root(16)", 4.0),
        (f"size_of(x STRING) RETURNS INT AS '{HERE}.letters' LANGUAGE PYTHON", "size_of(name)", 3),
        (f"net(x INT, y INT) AS '{HERE}.net' LANGUAGE PYTHON", "net(6, 2)", 2.0),
    ],
)
def test_declared_in_a_text(declared: str, call: str, expected: object) -> None:
    for words in ("CREATE", "CREATE OR REPLACE TEMPORARY SYSTEM"):
        create = words.replace("CREATE", "CREATE", 1) + " FUNCTION "
        assert value(f"{create}{declared};", call) == expected


def test_called_by_a_function_of_an_expression() -> None:
    text = f"CREATE FUNCTION net AS '{HERE}.net' LANGUAGE PYTHON; "
    text += "CREATE FUNCTION third(x) RETURN net(x, 2) + 1;"
    assert value(text, "third(6)") == 3.0


def test_one_of_another_name_from_here_on() -> None:
    text = (
        f"CREATE FUNCTION f AS '{HERE}.decorated' LANGUAGE PYTHON; SELECT f(gross) FROM orders; "
        f"CREATE OR REPLACE FUNCTION f AS '{HERE}.net' LANGUAGE PYTHON; "
        f"CREATE FUNCTION IF NOT EXISTS f AS '{HERE}.decorated' LANGUAGE PYTHON; "
        "SELECT f(gross, 1) FROM orders"
    )
    one, other = script(ORDERS + text).queries
    assert [len(query.scalars[0].types) for query in (one, other)] == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE FUNCTION net AS 'os.system' LANGUAGE PYTHON;", "a text may import no module"),
        (f"CREATE FUNCTION net AS '{HERE}.none' LANGUAGE PYTHON;", "cannot import"),
        (f"CREATE FUNCTION net AS '{HERE}.bare' LANGUAGE PYTHON;", "net: x has no annotation"),
        ("CREATE FUNCTION net AS 'net' LANGUAGE PYTHON;", "net is no function of a module"),
        (
            "CREATE FUNCTION net AS 'com.Net' LANGUAGE JAVA USING JAR 'n.jar';",
            "a function in anoth",
        ),
        ("CREATE FUNCTION net AS 'com.Net';", "a function in another language is one of Python"),
        ("CREATE FUNCTION net(x INT) LANGUAGE sql AS x;", "net is no expression of parameters"),
        ("CREATE FUNCTION net AS gross;", "net is no expression of parameters"),
        (f"CREATE FUNCTION upper AS '{HERE}.net' LANGUAGE PYTHON;", "upper is a function already"),
        (f"CREATE FUNCTION f(x IN) AS '{HERE}.net' LANGUAGE PYTHON;", "IN is not a type"),
        (f"CREATE FUNCTION net AS '{HERE}.net' LANGUAGE PYTHON;", "NET does not take DOUBLE"),
        (2 * f"CREATE FUNCTION net AS '{HERE}.net' LANGUAGE PYTHON;", "the function net exists"),
        (
            f"CREATE FUNCTION net AS '{HERE}.net' LANGUAGE PYTHON; DROP FUNCTION net;",
            "no function is called net",
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    assert mistake(text).message.startswith(message)


def test_no_text_imports_unless_the_process_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    refused = mistake(f"CREATE FUNCTION net AS '{HERE}.net' LANGUAGE PYTHON;")
    assert refused.message.endswith(f"and not {HERE}")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: udf(lambda x: x, name="f"), "f: x has no annotation"),
        (lambda: udf(lambda x: x, name="f", types=["TEXT OF"], result="INT"), "f: not a type"),
        (lambda: udf(lambda: 1, name="f", types=[], result="INT"), "f takes nothing"),
        (lambda: udf(lambda x: x, name="a b", types=["INT"], result="INT"), "not a name"),
        (lambda: udf(lambda x: x, name="sum", types=["INT"], result="INT"), "sum is an aggregate"),
        (
            lambda: udf(len, name="f", types=["INT"], result="INT", vectorized="numpy"),
            "f: vectorized is 'numpy'",
        ),
        (lambda: udf(_array, name="f", result="INT"), "f takes columns, whose types no annotation"),
    ],
)
def test_of_no_types(made: Callable[[], PythonFunction], message: str) -> None:
    with pytest.raises(InputError, match=message):
        made()


def _array(x: pa.Array) -> pa.Array:
    return pc.utf8_length(x)


def test_a_name_of_sql_is_taken() -> None:
    with pytest.raises(InputError, match="upper is a function of SQL already"):
        script(ORDERS, functions=[udf(_array, name="upper", types=["STRING"], result="INT")])


def test_two_functions_of_one_name_are_two() -> None:
    def named(by: int) -> PythonFunction:
        return udf(lambda x: x * by, name="times", types=["DOUBLE"], result="DOUBLE")

    twice, thrice = named(2), named(3)
    assert (value("", "times(gross)", twice), value("", "times(gross)", thrice)) == (10.0, 15.0)
    one, other = (
        fingerprint(*script(f"{ORDERS} SELECT times(gross) FROM orders", functions=[f]).queries)
        for f in (twice, thrice)
    )
    assert one == other, "a restart may number them otherwise"


def test_a_function_that_was_pickled_is_the_same() -> None:
    made = udf(_array, name="letters_of", types=["STRING"], result="INT")
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again.key == made.key


def test_a_column_function_of_another_length_fails_its_rows() -> None:
    short = udf(
        lambda x: x[:0], name="short", types=["DOUBLE"], result="DOUBLE", vectorized="arrow"
    )
    q = sqlwin.query(f"{ORDERS} SELECT short(gross) AS x FROM orders", functions=[short])
    q.push("orders", [ROW])
    q.drain()
    (reason,) = q.expired()["reason"].to_pylist()
    assert reason == "[FAILED_EXECUTE_UDF] short raised ValueError: 0 values of 1 rows"


def rows(text: str, select: str, *functions: PythonFunction) -> list[Any]:
    q = sqlwin.query(f"{ORDERS} {text} {select}", functions=functions)
    q.push("orders", [ROW, {**ROW, "name": "oat milk"}])
    q.drain()
    return [list(row.values())[:2] for row in q.results().to_pylist()]


@pytest.mark.parametrize(
    "joined",
    [
        ", LATERAL TABLE(words(name)) AS t (word, size)",
        " CROSS JOIN LATERAL TABLE(words(name)) t (word, size)",
        " CROSS JOIN LATERAL words(name) AS t (word, size)",
        " JOIN LATERAL words(name) AS t ON TRUE",
        ", LATERAL words(name) AS t",
    ],
)
def test_rows_of_a_table_function(joined: str) -> None:
    text = f"CREATE FUNCTION words AS '{HERE}.words' LANGUAGE PYTHON;"
    made = rows(text, f"SELECT t.word, t.size FROM orders{joined}")
    assert made == [["tea", 3], ["oat", 3], ["milk", 4]]


def test_of_one_column_and_of_an_array_of_sql() -> None:
    one = udtf(lambda text: text, name="letters_of", types=["STRING"], result="STRING")
    made = rows("", "SELECT name, x FROM orders, LATERAL TABLE(letters_of(name)) AS t (x)", one)
    assert made[:3] == [["tea", "t"], ["tea", "e"], ["tea", "a"]]
    split = "SELECT name, x FROM orders, LATERAL TABLE(SPLIT(name, ' ')) AS t (x)"
    assert rows("", split) == [["tea", "tea"], ["oat milk", "oat"], ["oat milk", "milk"]]


def test_a_value_is_no_table() -> None:
    made = mistake("", "SELECT x FROM orders, LATERAL TABLE(UPPER(name)) AS t (x)")
    assert made.message == "UNNEST takes an array or a map, this is a STRING"
