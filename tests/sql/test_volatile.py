"""Functions whose arguments do not decide their value: by class, in every place of a query."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

from sqlwin.errors import QueryError
from sqlwin.functions.core.volatility import NOW, Volatility
from sqlwin.functions.never import NEVER, volatility
from sqlwin.functions.table import TABLE
from sqlwin.plan.ir.nodes import Scalar
from sqlwin.plan.properties.facts import keeps_state, plans_of, sources_of
from sqlwin.plan.properties.processing_time import clock_call, clock_columns
from tests.support.sql.cases import bound, mistake, plan, underlined
from tests.support.sql.places import PLACES

CLOCKS = sorted(
    name
    for name, function in TABLE.items()
    if any(each.volatile is Volatility.PROCESSING_TIME for each in function.overloads)
)
PASSING = [
    "SELECT {} AS x FROM orders",
    "SELECT CASE WHEN n > 1 THEN CAST({} AS STRING) END AS x FROM orders",
    "SELECT id FROM orders WHERE CAST({} AS STRING) > 'x'",
    "CREATE VIEW v AS SELECT {} AS x FROM orders; SELECT x FROM v",
    "SELECT id FROM (SELECT id, {} AS x FROM orders) WHERE CAST(x AS STRING) = 'x'",
    "WITH a AS (SELECT id, {} AS x FROM orders) SELECT x FROM a UNION ALL SELECT x FROM a",
    "SELECT TRANSFORM(SEQUENCE(1, 3), x -> CAST({} AS STRING)) AS x FROM orders",
    "SELECT n, COUNT(*) AS c FROM (SELECT n, {} AS x FROM orders) GROUP BY n",
]
"""Where nothing keeps state that knows the time."""
ARGUMENTS = {"randstr": "5", "uniform": "1, 2", "shuffle": "ARRAY(1, 2)"}
KEEPING = [
    *(place for place in PLACES if re.search(r"OVER|GROUP BY|TUMBLE|JOIN|CREATE STREAM", place)),
    "SELECT DISTINCT id, {} AS x FROM orders",
    "SELECT id, {} AS x FROM orders UNION SELECT id, {} FROM orders",
    "SELECT MAX(x) AS m FROM (SELECT id, {} AS x FROM orders)",
    "SELECT c, {} AS x FROM (SELECT COUNT(*) AS c FROM orders)",
    "SELECT a.id, {} AS x FROM orders a JOIN orders b WITHIN 1 HOUR ON a.id = b.id",
    "SELECT id FROM orders a WHERE EXISTS (SELECT 1 FROM orders b WHERE a.id = b.id AND CAST({} AS STRING) = 'x')",  # noqa: E501
    "SELECT id, n FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY {}) <= 2",
]


def calls(name: str) -> list[str]:
    bare = name in ("current_timestamp", "current_date", "localtimestamp")
    return [f"{name}()", f"{name.upper()}( )", *([name.upper()] if bare else [])]


def scalars(thing: object) -> Iterator[Scalar]:
    """All there are in a plan, wherever a node has them."""
    if isinstance(thing, Scalar):
        yield thing
    elif isinstance(thing, tuple):
        for each in thing:
            yield from scalars(each)
    elif is_dataclass(thing):
        for each in fields(thing):
            yield from scalars(getattr(thing, each.name))


def test_the_class_is_a_property_of_the_entry() -> None:
    names = {"current_timestamp", "now", "proctime", "current_row_timestamp"}
    names |= {"current_date", "curdate", "unix_timestamp", "unix_date", "localtimestamp"}
    assert set(CLOCKS) == names
    assert not NEVER.keys() & TABLE.keys()
    chance = {name for name in NEVER if volatility(name) is Volatility.CHANCE}
    assert {"rand", "randn", "uuid", "shuffle", "uniform", "randstr"} <= chance


@pytest.mark.parametrize("name", CLOCKS)
def test_a_query_that_keeps_no_state_has_the_time_of_the_batch(name: str) -> None:
    for place in PASSING:
        for call in calls(name):
            bound(place.replace("{}", call))
    (_, scalar), *_ = plan(f"SELECT {name}() AS x FROM orders").columns  # type: ignore[union-attr]
    assert scalar.clock is not None
    assert NOW in scalar.duckdb


@pytest.mark.parametrize("place", KEEPING)
def test_one_that_keeps_state_does_not(place: str) -> None:
    for name in CLOCKS:
        if name == "proctime" and place.startswith("CREATE STREAM s (n INT, x AS"):
            continue
        with pytest.raises(QueryError):
            bound(place.replace("{}", f"{name}()"))


@pytest.mark.parametrize(
    "place", ["SELECT COUNT(*) AS c FROM TUMBLE(orders, ts, 1 HOUR) WHERE ts > {}", *KEEPING[-6:]]
)
def test_why_and_where_it_is_legal(place: str) -> None:
    error = mistake(place.replace("{}", "NOW()"))
    assert "would depend on how its input is cut into batches" in error.message
    assert error.message.startswith("NOW() is the time when a batch is worked on")
    assert error.legal.startswith("NOW() in SELECT and WHERE of a query without a window")


def test_the_place_is_the_call_s_also_in_a_view() -> None:
    text = "CREATE VIEW v AS SELECT id, CURRENT_DATE AS d FROM orders;\n"
    assert underlined(mistake(text + "SELECT MAX(d) AS m FROM v")) == "CURRENT_DATE"
    grouped = "SELECT id, proctime() AS d FROM orders GROUP BY id"
    assert underlined(mistake(grouped)) == "proctime"


@pytest.mark.parametrize("column", ["NOW()", "CURRENT_DATE", "PROCTIME() - INTERVAL '1' DAY"])
def test_a_column_of_the_clock_is_proctime_alone(column: str) -> None:
    text = f"CREATE STREAM s (n INT, at AS {column}); SELECT n FROM s"
    assert "that goes by the clock is PROCTIME() alone" in mistake(text).message
    assert underlined(mistake(text)) in column
    bound("CREATE STREAM s (n INT, at AS proctime(), d AS DATE(at)); SELECT n, d FROM s")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) AS c FROM TUMBLE(TABLE orders, DESCRIPTOR(PROCTIME()), INTERVAL '1' HOUR)",
        "SELECT COUNT(*) AS c FROM orders GROUP BY TUMBLE(PROCTIME(), INTERVAL '1' HOUR)",
        "SELECT COUNT(*) AS c FROM orders GROUP BY window(now(), '1 hour')",
        "SELECT COUNT(*) AS c FROM orders OVER (ORDER BY PROCTIME() RANGE 1 HOUR PRECEDING)",
    ],
)
def test_a_window_goes_by_a_column(query: str) -> None:
    message = "a window goes by a column, and one of processing time is declared in CREATE STREAM"
    assert mistake(query).message == message


@pytest.mark.parametrize("name", sorted(n for n in NEVER if volatility(n) is Volatility.CHANCE))
def test_chance_is_refused(name: str) -> None:
    for place in PASSING[:3]:
        call = f"{name}({ARGUMENTS.get(name, '')})"
        message = mistake(place.replace("{}", call)).message
        assert "gives another value each time" in message


@pytest.mark.parametrize("name", sorted(n for n in NEVER if volatility(n) is Volatility.SESSION))
def test_the_session_is_refused(name: str) -> None:
    assert "depends on more than the row" in mistake(f"SELECT {name}() AS x FROM orders").message


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("CURRENT_TIME", "there is no time of day without a date"),
        ("CURRENT_TIME()", "there is no time of day without a date"),
        ("LOCALTIME", "there is no time of day without a date"),
        ("TODAY()", "no function is called today; CURRENT_TIMESTAMP and CURRENT_DATE are"),
        ("SYSTIMESTAMP()", "no function is called systimestamp; CURRENT_TIMESTAMP and"),
        ("NOW(3)", "CURRENT_TIMESTAMP does not take INT"),
        ("CURRENT_DATE('Europe/Berlin')", "CURRENT_DATE does not take STRING"),
        ("TO_UNIX_TIMESTAMP()", "UNIX_TIMESTAMP does not take nothing"),
    ],
)
def test_what_there_is_not(call: str, reason: str) -> None:
    assert reason in mistake(f"SELECT {call} AS x FROM orders").message


def test_a_column_may_be_called_as_one() -> None:
    text = "CREATE STREAM s (now TIMESTAMP, today DATE, localtime STRING);"
    bound(f"{text} SELECT now, today, localtime, NOW() > now AS x FROM s")


def test_a_column_that_is_called_localtimestamp_is_that_column() -> None:
    text = "CREATE STREAM s (n INT, localtimestamp STRING);"
    made = plan(f"{text} SELECT localtimestamp AS a, LOCALTIMESTAMP() AS b FROM s")
    (_, column), (_, call) = made.columns  # type: ignore[union-attr]
    assert column.is_column
    assert call.clock is not None
    assert "unknown column" in mistake("SELECT `localtimestamp` AS x FROM orders").message


def drawn(rng: random.Random) -> str:
    """An expression with calls of any class, some of them within others."""
    call = rng.choice([*(f"{name}()" for name in CLOCKS), "ts", "n", "CURRENT_DATE", "RAND()"])
    for _ in range(rng.randrange(4)):
        call = rng.choice(
            [
                *("CAST({} AS STRING)", "COALESCE({}, {})", "({})", "CASE WHEN n > 1 THEN {} END"),
                *("IF({} IS NULL, {}, {})", "STRUCT({} AS a).a", "ARRAY({})[0]", "HASH({})"),
                *("TRANSFORM(ARRAY({}), x -> {})", "CAST({} AS STRING) IN ('a', {})"),
            ]
        ).replace("{}", call)
    return call


def test_no_state_ever_knows_the_time() -> None:
    """Whatever is bound: no plan with an operator has an expression over the clock's column."""
    rng, bounds = random.Random(1), 0
    for _ in range(200):
        text = rng.choice([*PASSING, *KEEPING]).replace("{}", drawn(rng))
        try:
            (found,) = (query.plan for query in bound(text).queries)
        except QueryError:
            continue
        bounds += 1
        reads = any(f'"{NOW}"' in each.duckdb for made in plans_of(found) for each in scalars(made))
        assert not (reads and keeps_state(found)), text
        declared = any(clock_columns(stream) for stream in sources_of(found))
        assert reads == (declared or clock_call(found) is not None), text
    assert bounds > 25
