"""Ranks in an order of their own: up to a bound for rows, any for the rows of one window."""

import pytest

from sqlwin.plan.ir.nodes import OverAggregate, TopN, WindowAggregate, WindowRank
from sqlwin.policies import Early, Late, Policy
from sqlwin.schema import Order
from sqlwin.sql import script
from tests.support.sql.cases import (
    ORDERS,
    bound,
    columns,
    filtered,
    operator,
    plan,
)

DEAREST = "OVER (PARTITION BY product ORDER BY price DESC)"
LAST = "OVER (PARTITION BY product ORDER BY ts DESC)"


def top(text: str) -> TopN:
    node = operator(plan(text))
    assert isinstance(node, TopN)
    return node


def rank(text: str) -> WindowRank:
    node = operator(plan(text))
    assert isinstance(node, WindowRank)
    return node


# --- of rows -----------------------------------------------------------------------------


def test_the_dearest_of_each_product() -> None:
    made = top(f"SELECT *, ROW_NUMBER() {DEAREST} AS rn FROM orders WHERE n > 1 QUALIFY rn <= 3")
    assert (made.function, made.name, made.limit) == ("row_number", "rn", 3)
    assert made.partition == ("product",)
    assert made.order == (Order("price", descending=True, nulls_last=True),)
    assert filtered(made.input) == "n > 1"


@pytest.mark.parametrize(
    ("condition", "limit", "rest"),
    [
        ("rn <= 3", 3, None),
        ("rn < 3", 2, None),
        ("3 >= rn", 3, None),
        ("3 > (rn)", 2, None),
        ("rn = 1", 1, None),
        ("rn = 3", 3, "rn = 3"),
        ("rn BETWEEN 1 AND 5", 5, None),
        ("rn BETWEEN 2 AND 5", 5, "rn BETWEEN 2 AND 5"),
        ("rn <= 5 AND n > 2", 5, "n > 2"),
        ("(rn <= 5 AND rn >= 1) AND (n > 2 AND rn <= 9)", 5, "n > 2"),
        ("rn <= 5 AND rn > 2", 5, "rn > 2"),
        ("rn <= 5 AND (n = 1 OR rn = 2)", 5, "n = 1 OR rn = 2"),
    ],
)
@pytest.mark.parametrize("around", [True, False])
def test_bounds(condition: str, limit: int, rest: str | None, around: bool) -> None:
    query = f"SELECT n, ROW_NUMBER() {DEAREST} AS rn FROM orders"
    text = (
        f"SELECT * FROM ({query}) WHERE {condition}" if around else f"{query} QUALIFY {condition}"
    )
    assert top(text).limit == limit
    assert filtered(plan(text)) == rest


@pytest.mark.parametrize("function", ["ROW_NUMBER", "RANK", "DENSE_RANK"])
def test_functions(function: str) -> None:
    made = top(f"SELECT id FROM orders QUALIFY {function}() {DEAREST} <= 3")
    assert made.function == function.lower()
    assert columns(plan(f"SELECT id FROM orders QUALIFY {function}() {DEAREST} <= 3")) == {
        "id": "id"
    }


def test_orders_of_several_expressions() -> None:
    made = top(
        "SELECT id FROM orders QUALIFY ROW_NUMBER() OVER "
        "(ORDER BY ROUND(value) DESC NULLS FIRST, ts, id NULLS LAST) <= 10"
    )
    assert made.partition == ()
    assert made.order == (Order("_order1", True), Order("ts"), Order("id", nulls_last=True))


def test_keeping_the_last_is_a_top_and_keeping_the_first_an_over() -> None:
    made = top(f"SELECT id FROM orders QUALIFY ROW_NUMBER() {LAST} = 1")
    assert (made.limit, made.order[0].column) == (1, "ts")
    first = plan(
        "SELECT id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY product ORDER BY ts, id) = 1"
    )
    assert isinstance(operator(first), OverAggregate)


def test_one_rank_may_stand_in_several_places() -> None:
    text = f"SELECT RANK() {DEAREST} AS r, RANK() {DEAREST} * 10 AS x FROM orders QUALIFY r <= 3"
    assert columns(plan(text)) == {"r": "r", "x": "r * 10"}
    assert top(text).limit == 3


def test_a_view_waits_for_its_bound() -> None:
    view = f"CREATE VIEW dear AS SELECT id, ROW_NUMBER() {DEAREST} AS rn FROM orders; "
    (query,) = bound(view + "SELECT id FROM dear WHERE rn <= 7").queries
    made = operator(query.plan)
    assert isinstance(made, TopN)
    assert made.limit == 7
    (reported,) = script(ORDERS + view + "DESCRIBE dear").statements
    assert [column.name for column in reported.columns] == ["id", "rn"]  # type: ignore[union-attr]


def test_policies() -> None:
    def policy(clauses: str) -> Policy:
        query = f"SELECT id FROM orders QUALIFY ROW_NUMBER() {DEAREST} <= 3 {clauses}"
        return top(query).policy

    soon = policy("")
    assert (soon.early, soon.late, soon.retain) == (Early.ON_UPDATE, Late.ON_UPDATE, None)
    assert policy("RETAIN 1 HOUR").retain == 3_600_000_000
    assert policy("EMIT EARLY EVERY 10 SECONDS LATE NEVER").late is Late.NEVER
    assert policy("EMIT EARLY EVERY 10 SECONDS").early is Early.EVERY


# --- of windows ----------------------------------------------------------------------------

TOTALS = """SELECT window_start, window_end, product, SUM(value) AS total
            FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY window_start, window_end, product"""
OF_WINDOW = "OVER (PARTITION BY window_start, window_end ORDER BY total DESC, product)"
ORDER = (Order("total", descending=True, nulls_last=True), Order("product"))


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM (SELECT *, ROW_NUMBER() {OF_WINDOW} AS rn FROM ({TOTALS})) WHERE rn <= 3",
        f"SELECT *, ROW_NUMBER() {OF_WINDOW} AS rn FROM ({TOTALS}) QUALIFY rn <= 3",
        TOTALS.replace("total\n", f"total, ROW_NUMBER() {OF_WINDOW} AS rn\n") + " QUALIFY rn <= 3",
    ],
)
def test_the_greatest_of_a_window(query: str) -> None:
    made = rank(query)
    assert (made.function, made.name, made.partition, made.order) == ("row_number", "rn", (), ORDER)
    assert isinstance(made.input, WindowAggregate)
    assert filtered(plan(query)) == "rn <= 3"
    assert list(columns(plan(query))) == ["window_start", "window_end", "product", "total", "rn"]


def test_within_a_key_by_calls_that_are_not_selected() -> None:
    made = rank(
        """SELECT n FROM CUMULATE(orders, ts, 1 MINUTE, 1 HOUR) GROUP BY window_end, product, n
           QUALIFY RANK() OVER (PARTITION BY window_end, product ORDER BY COUNT(*), MAX(id)) = 2"""
    )
    assert made.partition == ("product",)
    assert [order.column for order in made.order] == ["_agg1", "_agg2"]
    assert made.function == "rank"


def test_any_filter_or_none() -> None:
    text = f"SELECT product, DENSE_RANK() {OF_WINDOW} AS r FROM ({TOTALS})"
    assert filtered(plan(text)) is None
    assert filtered(plan(f"SELECT * FROM ({text}) WHERE r > 3 OR product = 'a'")) == (
        "r > 3 OR product = 'a'"
    )


def test_of_the_rows_of_a_window() -> None:
    made = rank(
        """SELECT id, ROW_NUMBER() OVER (PARTITION BY window_end, window_start, product
                                          ORDER BY price * 2 DESC) AS r
           FROM HOP(orders, ts, 1 MINUTE, 1 HOUR) WHERE n > 3 QUALIFY r <= 2"""
    )
    assert made.input.per_row and made.input.keys == ("id", "product", "_key1")
    assert (made.partition, [order.column for order in made.order]) == (("product",), ["_key1"])
    assert made.input.aggregates == ()


def test_of_the_whole_stream() -> None:
    made = rank("SELECT n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM orders GROUP BY n")
    assert (made.partition, made.input.keys) == ((), ("n",))
