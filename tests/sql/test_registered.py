"""Aggregates registered from Python, called by name."""

from __future__ import annotations

import pytest

from sqlwin.aggregates.python import PythonAggregate, aggregate
from sqlwin.errors import InputError, QueryError
from sqlwin.plan.ir.nodes import OverAggregate, WindowAggregate
from sqlwin.plan.ir.statements import Query
from sqlwin.sql import script
from tests.support.sql.cases import ORDERS, below, operator, underlined


def mean(name: str, *types: str) -> PythonAggregate:
    return aggregate(
        name,
        list(types) or ["DOUBLE"],
        result="DOUBLE",
        accumulator="DOUBLE",
        initializer=lambda: 0.0,
        aggregator=lambda state, *values: state + values[0],
        merger=lambda a, b: a + b,
    )


def query(text: str, *functions: PythonAggregate) -> Query:
    (only,) = script(ORDERS + text, functions=functions).queries
    return only


def test_in_a_window_and_over_a_frame() -> None:
    ours, other = mean("harmonic"), mean("unused")
    made = query("SELECT Harmonic(value) AS h FROM TUMBLE(orders, ts, 1 HOUR)", ours, other)
    window = operator(made.plan)
    assert isinstance(window, WindowAggregate)
    assert window.aggregates[0].function == "harmonic"
    assert str(window.aggregates[0].type) == "double"
    assert made.functions == (ours,)
    text = "SELECT harmonic(value) FILTER (WHERE n > 1) OVER (ORDER BY ts ROWS 3 PRECEDING) + 1 "
    framed = operator(query(f"{text} AS h FROM orders", ours).plan)
    assert isinstance(framed, OverAggregate)
    assert framed.calls[0].aggregate.where == "_where1"


def test_in_having_and_group_by_extensions() -> None:
    text = """SELECT product FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY ROLLUP(product)
              HAVING harmonic(value) > 1"""
    assert query(text, mean("harmonic")).functions


def test_arguments_are_cast_where_no_number_is_lost() -> None:
    made = query(
        "SELECT weighed(n, id) FROM TUMBLE(orders, ts, 1 HOUR)", mean("weighed", "DOUBLE", "BIGINT")
    )
    assert below(operator(made.plan)) == {"_arg1": "CAST(n AS DOUBLE)", "id": "id"}


@pytest.mark.parametrize(
    ("call", "message", "at"),
    [
        ("weighed(n)", "WEIGHED takes 2 arguments", "weighed"),
        (
            "weighed(product, id)",
            "WEIGHED takes DOUBLE, BIGINT, not STRING, BIGINT",
            "weighed(product, id)",
        ),
        (
            "weighed(n, value)",
            "WEIGHED takes DOUBLE, BIGINT, not DOUBLE, DOUBLE",
            "weighed(n, value)",
        ),
        (
            "weighed(DISTINCT n, id)",
            "WEIGHED(DISTINCT …) is not supported yet",
            "weighed(DISTINCT n, id",
        ),
        ("weighing(n, id)", "no function is called weighing", "weighing"),
    ],
)
def test_refused(call: str, message: str, at: str) -> None:
    with pytest.raises(QueryError) as caught:
        query(f"SELECT {call} FROM orders", mean("weighed", "DOUBLE", "BIGINT"))
    assert caught.value.message.startswith(message)
    assert underlined(caught.value) == at


@pytest.mark.parametrize(
    "name", ["lag", "round", "upper", "list_sum", "date_trunc", "timestamptostring"]
)
def test_names_of_sql_are_taken(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is a function of SQL already"):
        query("SELECT n FROM orders", mean(name))


def test_two_of_a_name() -> None:
    with pytest.raises(InputError, match="two functions are called Harmonic"):
        query("SELECT n FROM orders", mean("harmonic"), mean("Harmonic"))
