"""Aggregate calls of every spelling: constants, DISTINCT, orders, IGNORE NULLS."""

import polars as pl
import pyarrow as pa
import pytest

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Aggregate, Project
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.schema import Order
from tests.support.sql.cases import (
    below,
    columns,
    filtered,
    mistake,
    over,
    plan,
    underlined,
    window,
)


def calls(*texts: str) -> list[Aggregate]:
    items = ", ".join(f"{text} AS c{at}" for at, text in enumerate(texts))
    made = window(f"SELECT {items} FROM TUMBLE(orders, ts, 1 HOUR)")
    return list(made.aggregates)


def call(text: str) -> Aggregate:
    (only,) = calls(text)
    return only


@pytest.mark.parametrize(
    ("text", "function", "args", "params", "type_"),
    [
        ("MEDIAN(n)", "median", ("n",), (), pa.float64()),
        ("PERCENTILE(n, 0.5)", "percentile_cont", ("n",), (0.5,), pa.float64()),
        ("PERCENTILE(n, 1)", "percentile_cont", ("n",), (1.0,), pa.float64()),
        (
            "PERCENTILE(n, array(0.5, 0.9))",
            "percentile_cont",
            ("n",),
            (0.5, 0.9),
            pa.list_(pa.float64()),
        ),
        (
            "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY n)",
            "percentile_cont",
            ("n",),
            (0.9,),
            pa.float64(),
        ),
        (
            "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY price)",
            "percentile_disc",
            ("price",),
            (0.9,),
            pa.float64(),
        ),
        ("QUANTILE(n, 0.5)", "percentile_disc", ("n",), (0.5,), pa.float64()),
        ("PERCENTILE_APPROX(n, 0.5)", "approx_percentile", ("n",), (0.5,), pa.int32()),
        (
            "APPROX_PERCENTILE(n, array(0.1, 0.9))",
            "approx_percentile",
            ("n",),
            (0.1, 0.9),
            pa.list_(pa.int32()),
        ),
        (
            "APPROX_PERCENTILE(0.9) WITHIN GROUP (ORDER BY n DESC)",
            "approx_percentile",
            ("n",),
            (0.1,),
            pa.int32(),
        ),
        ("MODE() WITHIN GROUP (ORDER BY n)", "mode", ("n",), (), pa.int32()),
        ("MODE(product)", "mode", ("product",), (), pa.string()),
        ("APPROX_COUNT_DISTINCT(product)", "approx_count_distinct", ("product",), (), pa.int64()),
        ("TOPK(n, 3)", "top_k", ("n",), (3,), pa.list_(pa.int32())),
        ("TOP_K(n, 3)", "top_k", ("n",), (3,), pa.list_(pa.int32())),
        ("NTH_VALUE(n, 2)", "nth_value", ("n",), (2,), pa.int32()),
        ("NTH_VALUE(n, 2) FROM FIRST RESPECT NULLS", "nth_value", ("n",), (2,), pa.int32()),
        ("NTH_VALUE(n, 2) FROM LAST IGNORE NULLS", "nth_last", ("n",), (2,), pa.int32()),
        ("COVAR_SAMP(n, value)", "covar_samp", ("n", "value"), (), pa.float64()),
        ("ARRAY_AGG(n)", "collect_list", ("n",), (), pa.list_(pa.int32())),
        ("COLLECT_SET(product)", "collect_set", ("product",), (), pa.list_(pa.string())),
        ("STRING_AGG(product)", "string_agg", ("product",), ("",), pa.string()),
        ("GROUP_CONCAT(product)", "string_agg", ("product",), (",",), pa.string()),
        ("STRING_AGG(product, '; ')", "string_agg", ("product",), ("; ",), pa.string()),
        ("LISTAGG(product)", "string_agg", ("product",), ("",), pa.string()),
        ("LISTAGG(UNHEX(product), X'2C')", "string_agg", ("_arg1",), (b",",), pa.binary()),
        ("LISTAGG(UNHEX(product))", "string_agg", ("_arg1",), ("",), pa.binary()),
        ("LISTAGG(UNHEX(product), NULL)", "string_agg", ("_arg1",), ("",), pa.binary()),
        ("COLLECT(n)", "histogram", ("n",), (), pa.map_(pa.int32(), pa.int64())),
        ("MAP_AGG(product, n)", "map_agg", ("product", "n"), (), pa.map_(pa.string(), pa.int32())),
        ("FIRST(product ORDER BY n)", "arg_min", ("product", "n"), (), pa.string()),
        ("FIRST_VALUE(product ORDER BY n DESC)", "arg_max", ("product", "n"), (), pa.string()),
        ("LAST(product ORDER BY n)", "arg_max", ("product", "n"), (), pa.string()),
        ("LAST(product ORDER BY n DESC)", "arg_min", ("product", "n"), (), pa.string()),
    ],
)
def test_a_call(
    text: str, function: str, args: tuple[str, ...], params: tuple[object, ...], type_: pa.DataType
) -> None:
    made = call(text)
    assert (made.function, made.args, made.params, made.type) == (function, args, params, type_)


@pytest.mark.parametrize(
    ("text", "function", "distinct"),
    [
        ("COUNT(DISTINCT n)", "count", True),
        ("COUNT(DISTINCT 1)", "count", True),
        ("SUM(DISTINCT n)", "sum", True),
        ("AVG(DISTINCT n)", "avg", True),
        ("MIN(DISTINCT n)", "min", False),
        ("BOOL_OR(DISTINCT n > 1)", "bool_or", False),
        ("COLLECT_LIST(DISTINCT n)", "collect_list", True),
        ("LISTAGG(DISTINCT product, ', ')", "string_agg", True),
        ("TOPKDISTINCT(n, 3)", "top_k", True),
        ("COUNT(n)", "count", False),
    ],
)
def test_distinct(text: str, function: str, distinct: bool) -> None:
    made = call(text)
    assert (made.function, made.distinct) == (function, distinct)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("COLLECT_LIST(n ORDER BY price)", (Order("price"),)),
        (
            "ARRAY_AGG(n ORDER BY price DESC, id NULLS LAST)",
            (Order("price", descending=True, nulls_last=True), Order("id", nulls_last=True)),
        ),
        ("COLLECT_LIST(n ORDER BY price DESC NULLS FIRST)", (Order("price", descending=True),)),
        ("STRING_AGG(product, ',' ORDER BY n)", (Order("n"),)),
        ("LISTAGG(product, ',') WITHIN GROUP (ORDER BY n)", (Order("n"),)),
        ("COLLECT_LIST(n ORDER BY UPPER(product))", (Order("_order1"),)),
        (
            "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY n DESC)",
            (Order("n", descending=True, nulls_last=True),),
        ),
        ("PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY n)", ()),
    ],
)
def test_order_inside(text: str, order: tuple[Order, ...]) -> None:
    assert call(text).order == order


def test_columns_of_an_order_are_kept_below() -> None:
    made = window("SELECT COLLECT_LIST(n ORDER BY price) FROM TUMBLE(orders, ts, 1 HOUR)")
    assert set(below(made)) == {"n", "price"}


def test_ignore_nulls_in_both_places_is_a_filter() -> None:
    texts = ("FIRST(n) IGNORE NULLS", "FIRST(n IGNORE NULLS)", "FIRST(n, TRUE)", "ANY_VALUE(n)")
    first, other = calls(*texts)
    assert first.where is not None and other.where is None
    made = window(
        "SELECT LATEST_BY_OFFSET(n), LAST(n) FILTER (WHERE id > 1) FROM TUMBLE(orders, ts, 1 HOUR)"
    )
    assert below(made)["_where1"] == "NOT n IS NULL"
    assert below(made)["_where2"] == "id > 1"


def test_ignore_nulls_goes_before_and_behind_a_filter() -> None:
    behind, *others = calls(
        "FIRST(n) FILTER (WHERE id > 1) IGNORE NULLS",
        "FIRST(n) IGNORE NULLS FILTER (WHERE id > 1)",
        "FIRST(n IGNORE NULLS) FILTER (WHERE id > 1)",
    )
    assert others == []  # the three are one
    assert behind.where is not None
    either = "SELECT FIRST(n) IGNORE NULLS FILTER (WHERE id > 1) FROM TUMBLE(orders, ts, 1 HOUR)"
    assert below(window(either))["_where1"] == "id > 1 AND NOT n IS NULL"


def test_count_if_and_filter() -> None:
    made = window(
        "SELECT COUNT_IF(n > 1) FILTER (WHERE id > 2) AS c FROM TUMBLE(orders, ts, 1 HOUR)"
    )
    assert below(made) == {"_where1": "n > 1 AND id > 2"}


def test_text_is_made_of_what_is_collected_to_text() -> None:
    made = window("SELECT STRING_AGG(n, ',') FROM TUMBLE(orders, ts, 1 HOUR)")
    assert below(made) == {"_arg1": "CAST(n AS STRING)"}


@pytest.mark.parametrize(
    ("text", "message", "legal"),
    [
        (
            "LISTAGG(UNHEX(product), ',')",
            "STRING_AGG of BINARY takes a BINARY between, not a STRING",
            "LISTAGG(value, X'2C')",
        ),
        (
            "LISTAGG(product, X'2C')",
            "STRING_AGG of STRING takes a STRING between, not a BINARY",
            "LISTAGG(value, ',')",
        ),
    ],
)
def test_what_is_between_is_of_the_type(text: str, message: str, legal: str) -> None:
    with pytest.raises(QueryError) as raised:
        window(f"SELECT {text} FROM TUMBLE(orders, ts, 1 HOUR)")
    assert (raised.value.message, raised.value.legal) == (message, legal)


def test_within_group_in_having_and_over() -> None:
    text = """SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR)
        HAVING PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY n) > 3"""
    assert filtered(plan(text)) == "_agg2 > 3"
    made = over(
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY n) FILTER (WHERE id > 1) "
        "OVER (ORDER BY ts ROWS 9 PRECEDING) AS p, SUM(DISTINCT n) OVER (ORDER BY ts) FROM orders"
    )
    assert [c.aggregate.function for c in made.calls] == ["percentile_cont", "sum"]
    assert made.calls[0].aggregate.where == "_where1"
    assert made.calls[1].aggregate.distinct


def test_lists_flow_through_expressions() -> None:
    made = plan(
        """SELECT SIZE(COLLECT_LIST(n)) AS a, COLLECT_LIST(n)[0] AS b,
             ARRAY_JOIN(COLLECT_LIST(product), '-') AS c, ARRAY_CONTAINS(COLLECT_SET(n), 3) AS d,
             SORT_ARRAY(COLLECT_SET(product)) AS e, ELEMENT_AT(COLLECT_LIST(price), 1) AS f,
             TOPK(n, 3) AS g
           FROM TUMBLE(orders, ts, 1 HOUR)"""
    )
    assert {column.name: str(column.type) for column in made.schema} == {
        "a": "int32",
        "b": "int32",
        "c": "string",
        "d": "bool",
        "e": "list<item: string>",
        "f": "decimal128(10, 2)",
        "g": "list<item: int32>",
    }


LISTS = [
    ("SIZE(COLLECT_LIST(n))", [3, 0, None]),
    ("GET(COLLECT_LIST(n), 0)", [3, None, None]),
    ("TRY_ELEMENT_AT(COLLECT_LIST(n), -1)", [2, None, None]),
    ("TRANSFORM(COLLECT_LIST(n), x -> x + 1)", [[4, 2, 3], [], None]),
    ("SORT_ARRAY(COLLECT_LIST(n))", [[1, 2, 3], [], None]),
    ("CARDINALITY(COLLECT_LIST(n))", [3, 0, None]),
    ("ARRAYS_OVERLAP(COLLECT_LIST(n), ARRAY(2, 9))", [True, False, None]),
    ("CONCAT_WS('-', TRANSFORM(COLLECT_LIST(n), x -> CAST(x AS STRING)))", ["3-1-2", "", ""]),
]


@pytest.mark.parametrize(("text", "values"), LISTS)
def test_values_of_lists(text: str, values: list[object]) -> None:
    made = plan(f"SELECT {text} AS x FROM TUMBLE(orders, ts, 1 HOUR)")
    assert isinstance(made, Project)
    (name,) = made.columns[0][1].inputs
    given = pl.DataFrame({name: [[3, 1, 2], [], None]}, schema={name: pl.List(pl.Int32)})
    assert evaluate(given, made.columns).frame["x"].to_list() == values


@pytest.mark.parametrize("name", ["EXPLODE", "POSEXPLODE"])
def test_a_row_stays_one_row_within_an_expression(name: str) -> None:
    error = mistake(f"SELECT SIZE({name}(ARRAY(n))) FROM orders")
    assert error.message == f"{name} makes several rows of one, and stands by itself"
    assert underlined(error) == name


def test_a_call_with_several_names_is_called_as_written() -> None:
    made = plan(
        "SELECT percentile_cont(0.5) within group (order by n), array_agg(n), SUM(n) + 1 "
        "FROM TUMBLE(orders, ts, 1 HOUR)"
    )
    names = ["percentile_cont(0.5) within group (order by n)", "array_agg(n)", "SUM(n) + 1"]
    assert list(columns(made)) == names
