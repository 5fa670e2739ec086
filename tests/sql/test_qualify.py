"""QUALIFY, and WHERE around a query with OVER: one filter above the operator."""

import pytest

from sqlwin.plan.ir.nodes import Filter, OverAggregate, Project
from tests.support.sql.cases import columns, filtered, over, plan

W = "OVER (PARTITION BY product ORDER BY ts)"


def test_by_an_alias_of_the_select_list() -> None:
    made = plan(f"SELECT id, ROW_NUMBER() {W} AS rn FROM orders QUALIFY rn <= 3 AND id > 5")
    assert filtered(made) == "rn <= 3 AND id > 5"
    assert columns(made) == {"id": "id", "rn": "rn"}


def test_by_a_call_that_is_not_selected() -> None:
    made = plan(f"SELECT id FROM orders QUALIFY SUM(n) {W} > 2 * MAX(value) {W}")
    assert filtered(made) == "_agg1 > 2 * _agg2"
    assert list(columns(made)) == ["id"]


def test_an_alias_stands_for_its_whole_expression_and_a_column_wins() -> None:
    made = plan(
        f"SELECT n + LAG(n) {W} AS step, RANK() {W} AS value FROM orders "
        "QUALIFY step * 2 > 4 AND value > 1.5"
    )
    assert filtered(made) == "(n + _agg1) * 2 > 4 AND value > 1.5"
    assert over(f"SELECT id FROM orders QUALIFY ROW_NUMBER() {W} = 1").calls[0].partition == (
        "product",
    )


@pytest.mark.parametrize(
    "clauses",
    ["QUALIFY c > 3 WINDOW w AS (ORDER BY ts)", "WINDOW w AS (ORDER BY ts) QUALIFY c > 3"],
)
def test_before_the_named_windows_or_behind(clauses: str) -> None:
    made = plan(f"SELECT COUNT(*) OVER w AS c FROM orders WHERE id > 1 {clauses}")
    assert filtered(made) == "c > 3"
    operator = made.input.input  # type: ignore[union-attr]
    assert filtered(operator.input) == "id > 1"


def test_where_around_is_the_same_through_any_number_of_queries() -> None:
    inner = f"SELECT id, product AS p, ROW_NUMBER() {W} AS rn FROM orders"
    made = plan(
        f"SELECT p, rn + 1 AS x FROM (SELECT * FROM ({inner}) WHERE rn <= 3) o WHERE o.p > 'a'"
    )
    assert isinstance(made, Project)
    assert isinstance(made.input, Filter)
    assert isinstance(made.input.input, OverAggregate)
    assert made.input.predicate.sql == "rn <= 3 AND product > 'a'"
    assert columns(made) == {"p": "product", "x": "rn + 1"}


def test_qualify_and_where_around() -> None:
    inner = f"SELECT id, COUNT(*) {W} AS c FROM orders QUALIFY c > 1"
    assert filtered(plan(f"WITH q AS ({inner}) SELECT id FROM q WHERE c < 9")) == "c > 1 AND c < 9"
