import re

import pytest

from sqlwin.aggregates import ALIASES, SIGNATURES
from sqlwin.plan.ir.nodes import Project
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import Cumulate, Hop
from tests.support.sql.cases import (
    HOUR,
    MINUTE,
    SECOND,
    below,
    columns,
    filtered,
    mistake,
    over,
    plan,
    window,
)

TEN = [
    "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
    "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10 minutes'))",
    "TUMBLE(orders, ts, 10 MINUTES)",
    "tumble(table orders, descriptor(ts), interval 10 minutes) AS t",
    "TUMBLE(DATA => TABLE orders, TIMECOL => DESCRIPTOR(ts), SIZE => '10' MINUTE)",
    "TUMBLE(orders, ts, '600' sec, 0 seconds)",
    "HOP(orders, ts, '10' min, '10' min)",
    "orders WINDOW TUMBLING (SIZE 10 MINUTES)",
    "orders o WINDOW TUMBLING (SIZE 10 MINUTES)",
    "orders OVER (ORDER BY ts RANGE '10' min PRECEDING ADVANCE BY '10' min)",
    "orders OVER (RANGE 600000 ms PRECEDING ADVANCE BY 600 s)",
    "orders [RANGE 10 MINUTES SLIDE 10 MINUTES]",
    "(SELECT * FROM orders) OVER (ORDER BY ts RANGE '10' min PRECEDING ADVANCE BY 10 min)",
]
TEN_GROUPS = [
    "TUMBLE(ts, INTERVAL '10' MINUTE)",
    "HOP(ts, INTERVAL '10' MINUTE, INTERVAL '10' MINUTE)",
    "window(ts, '10 minutes')",
    "WINDOW(ts, INTERVAL 10 MINUTES)",
]


@pytest.mark.parametrize("source", TEN)
def test_every_spelling_of_a_tumbling_window_is_one_plan(source: str) -> None:
    tail = "GROUP BY product, window_start, window_end"
    assert window(f"SELECT product, COUNT(*) AS c FROM {source} {tail}") == window(
        f"SELECT product, COUNT(*) AS c FROM {TEN[0]} {tail}"
    )


@pytest.mark.parametrize("group", TEN_GROUPS)
def test_windows_in_group_by_are_the_same_plan(group: str) -> None:
    made = window(f"SELECT product, COUNT(*) AS c FROM orders GROUP BY {group}, product")
    assert made == window(f"SELECT product, COUNT(*) AS c FROM {TEN[0]} GROUP BY product")


@pytest.mark.parametrize(
    "source",
    [
        "TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))",
        "orders WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 1 MINUTE)",
        "orders OVER (PARTITION BY product RANGE 1 HOUR PRECEDING ADVANCE BY 1 MINUTE)",
        "orders [PARTITION BY product RANGE 1 HOUR SLIDE 1 MINUTE]",
    ],
)
def test_hopping_windows(source: str) -> None:
    made = window(f"SELECT product, MAX(value) FROM {source} GROUP BY product")
    assert made.window == Hop(HOUR, MINUTE)
    assert made.keys == ("product",)
    assert made.partition == ()


def test_sparks_window_has_the_size_first() -> None:
    made = window("SELECT COUNT(*) FROM orders GROUP BY window(ts, '1 hour', '1 minute', '5 s')")
    assert made.window == Hop(HOUR, MINUTE, 5 * SECOND)


DAY = [
    "CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
    "TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY))",
    "cumulate(orders, ts, 1 hour, 24 hours) c",
    "CUMULATE(DATA => TABLE orders, TIMECOL => DESCRIPTOR(ts), "
    "STEP => INTERVAL '1' HOUR, SIZE => INTERVAL '1' DAY)",
    "CUMULATE(TABLE orders, DESCRIPTOR(ts), SIZE => 1 DAY, STEP => 1 HOUR)",
]


@pytest.mark.parametrize("source", DAY)
def test_cumulating_windows(source: str) -> None:
    made = window(
        f"SELECT product, window_start, window_end, COUNT(*) FROM {source} GROUP BY product"
    )
    assert made.window == Cumulate(24 * HOUR, HOUR)
    assert made.keys == ("product",)


def test_cumulating_windows_in_group_by() -> None:
    made = window(
        "SELECT CUMULATE_END(ts, INTERVAL '1' HOUR, INTERVAL '1' DAY), COUNT(*) "
        "FROM orders GROUP BY CUMULATE(ts, INTERVAL '1' HOUR, INTERVAL '1' DAY), product"
    )
    assert (made.window, made.keys) == (Cumulate(24 * HOUR, HOUR), ("product",))


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("TUMBLE(orders, ts, 1 HOUR, 5 MINUTES)", Hop(HOUR, HOUR, 5 * MINUTE)),
        ("TUMBLE(orders, ts, 1 HOUR, '-5' MINUTES)", Hop(HOUR, HOUR, -5 * MINUTE)),
        ("HOP(orders, ts, 1 MINUTE, 1 HOUR, 5 SECONDS)", Hop(HOUR, MINUTE, 5 * SECOND)),
        ("HOP(DATA => orders, TIMECOL => ts, OFFSET => 5 s, SIZE => 1 HOUR, SLIDE => 1 MINUTE)",
         Hop(HOUR, MINUTE, 5 * SECOND)),
        ("CUMULATE(orders, ts, 1 MINUTE, 1 HOUR, 5 SECONDS)", Cumulate(HOUR, MINUTE, 5 * SECOND)),
    ],
)  # fmt: skip
def test_offsets(source: str, meant: Hop | Cumulate) -> None:
    assert window(f"SELECT COUNT(*) FROM {source}").window == meant


def test_an_offset() -> None:
    assert window("SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR, 5 MINUTES)").window == Hop(
        HOUR, HOUR, 5 * MINUTE
    )


@pytest.mark.parametrize(
    ("source", "columns_"),
    [
        ("TUMBLE(orders, ts, 1 HOUR)", "window_start, window_end"),
        ("orders WINDOW TUMBLING (SIZE 1 HOUR)", "WINDOWSTART, WINDOWEND"),
    ],
)
def test_the_windows_columns(source: str, columns_: str) -> None:
    made = plan(f"SELECT {columns_}, COUNT(*) AS c FROM {source}")
    assert list(columns(made).values()) == ["window_start", "window_end", "c"]


def test_the_windows_columns_in_spark_and_in_legacy_flink() -> None:
    spark = plan("SELECT window.start, window.end FROM orders GROUP BY window(ts, '1 hour')")
    assert columns(spark) == {"start": "window_start", "end": "window_end"}
    legacy = plan(
        "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) AS s, TUMBLE_END(ts, INTERVAL '1' HOUR) AS e "
        "FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)"
    )
    assert columns(legacy) == {"s": "window_start", "e": "window_end"}


def test_window_time_is_the_last_instant_of_the_window() -> None:
    made = plan("SELECT window_time AS t, COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR)")
    assert columns(made)["t"] == "(window_end - INTERVAL '1' MICROSECOND)"


def test_a_query_over_a_window_in_full() -> None:
    made = plan(
        "SELECT product, window_start, ROUND(AVG(value * 2), 2) + 1 AS a, COUNT(*) "
        "FROM TUMBLE(orders, ts, 1 HOUR) WHERE id > 1 "
        "GROUP BY product, window_start, window_end HAVING COUNT(*) > 2"
    )
    operator = window(
        "SELECT product, window_start, ROUND(AVG(value * 2), 2) + 1 AS a, COUNT(*) "
        "FROM TUMBLE(orders, ts, 1 HOUR) WHERE id > 1 "
        "GROUP BY product, window_start, window_end HAVING COUNT(*) > 2"
    )
    assert columns(made) == {
        "product": "product",
        "window_start": "window_start",
        "a": "ROUND(_agg1, 2) + 1",
        "COUNT(*)": "_agg2",
    }
    assert filtered(made) == "_agg2 > 2"
    assert below(operator) == {"product": "product", "_arg1": "value * 2"}
    assert filtered(operator.input) == "id > 1"
    assert [(a.name, a.function, a.args) for a in operator.aggregates] == [
        ("_agg1", "avg", ("_arg1",)),
        ("_agg2", "count", ()),
    ]


@pytest.mark.parametrize(
    ("select", "group"),
    [
        ("UPPER(product) AS p", "UPPER(product)"),
        ("upper(product) AS p", "p"),
        ("UPPER(product) AS p", "1"),
        ("UPPER(o.product) AS p", "Upper(PRODUCT)"),
    ],
)
def test_group_by_an_expression_an_alias_or_an_ordinal(select: str, group: str) -> None:
    text = f"SELECT {select}, COUNT(*) AS c FROM TUMBLE(orders, ts, 1 HOUR) o GROUP BY {group}"
    assert window(text).keys == ("_key1",)
    assert below(window(text)) == {"_key1": "UPPER(product)"}
    assert columns(plan(text)) == {"p": "_key1", "c": "c"}


def test_having_may_name_an_alias() -> None:
    text = "SELECT COUNT(*) AS c FROM TUMBLE(orders, ts, 1 HOUR) HAVING c > 1"
    assert filtered(plan(text)) == "c > 1"


def test_one_call_twice_is_computed_once() -> None:
    text = "SELECT SUM(n) AS s, SUM(n) / COUNT(*) AS m FROM TUMBLE(orders, ts, 1 HOUR)"
    assert [a.name for a in window(text).aggregates] == ["s", "_agg1"]
    assert columns(plan(text)) == {"s": "s", "m": "s / _agg1"}


def test_filter_of_an_aggregate_is_a_column_below() -> None:
    made = window(
        "SELECT COUNT(*) FILTER (WHERE value > 1) AS c, COUNT_IF(n > 2) AS d "
        "FROM TUMBLE(orders, ts, 1 HOUR)"
    )
    assert [(a.name, a.where) for a in made.aggregates] == [("c", "_where1"), ("d", "_where2")]
    assert below(made) == {"_where1": "value > 1", "_where2": "n > 2"}


# --- sliding windows and windows in ROWS ----------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "orders OVER (PARTITION BY product ORDER BY ts RANGE '2' min PRECEDING)",
        "orders OVER (PARTITION BY product RANGE INTERVAL '2' MINUTE PRECEDING)",
        "orders [PARTITION BY product RANGE 2 MINUTES]",
    ],
)
def test_a_sliding_window_in_time(source: str) -> None:
    made = over(f"SELECT product, SUM(value) AS s, window_start, window_end FROM {source}")
    assert (made.per_instant, made.by_arrival, made.window_columns) == (True, False, True)
    (call,) = made.calls
    assert call.frame == Frame(Unit.RANGE, 2 * MINUTE)
    assert call.partition == ("product",)
    assert made.policy.retain == 2 * MINUTE


def test_group_by_joins_partition_by() -> None:
    made = over(
        "SELECT n, product, COUNT(*) FROM orders OVER (PARTITION BY n ORDER BY ts "
        "RANGE 1 MINUTE PRECEDING) GROUP BY product"
    )
    assert made.calls[0].partition == ("n", "product")


@pytest.mark.parametrize("source", ["orders OVER (ROWS 3 PRECEDING)", "orders [ROWS 3]"])
def test_a_sliding_window_in_rows_holds_n_messages(source: str) -> None:
    made = over(f"SELECT SUM(value) FROM {source}")
    assert (made.per_instant, made.by_arrival, made.window_columns) == (False, True, True)
    assert made.calls[0].frame == Frame(Unit.ROWS, 2)
    assert made.policy.retain == 0


def test_where_does_not_change_what_a_window_in_rows_counts() -> None:
    sliding = over("SELECT MAX(value) FROM orders OVER (ROWS 3 PRECEDING) WHERE n > 2")
    assert sliding.where == "_where1"
    assert below(sliding) == {"_where1": "n > 2", "value": "value"}
    hopping = window(
        "SELECT product, COUNT(*) FILTER (WHERE value > 1) FROM orders OVER "
        "(PARTITION BY product ROWS 100 PRECEDING ADVANCE BY 10 ROWS) WHERE n > 2 "
        "GROUP BY id, product"
    )
    assert hopping.window == Hop(100, 10, 0, Unit.ROWS)
    assert (hopping.partition, hopping.keys) == (("product",), ("product", "id"))
    assert hopping.where == "_where1"
    assert hopping.aggregates[0].where == "_where2"


def test_a_subquerys_where_is_below_a_window_in_rows() -> None:
    made = over("SELECT MAX(value) FROM (SELECT * FROM orders WHERE n > 2) [ROWS 3]")
    assert made.where is None
    assert filtered(made.input) == "n > 2"


def test_names_of_below_do_not_collide() -> None:
    made = window(
        "SELECT _arg1 AS k, SUM(_arg1 + 1) AS s FROM "
        "TUMBLE((SELECT id AS _arg1, ts FROM orders), ts, 1 HOUR) GROUP BY _arg1"
    )
    assert isinstance(made.input, Project)
    assert below(made) == {"_arg1": "id", "_arg2": "id + 1"} or below(made) == {
        "id": "id",
        "_arg1": "id + 1",
    }
    names = [*columns(made.input), *(a.name for a in made.aggregates)]
    assert len(set(names)) == len(names)


TUMBLING = "FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)"


def test_hop_start_is_of_no_tumble() -> None:
    error = mistake(f"SELECT COUNT(*) {TUMBLING} HAVING HOP_START() IS NULL")
    assert error.message == "HOP_START must repeat the window of GROUP BY"


CALLS = {
    "count": "product",
    **dict.fromkeys(("bool_and", "bool_or"), "n > 1"),
    **dict.fromkeys(("arg_min", "arg_max", "map_agg"), "product, n"),
    **dict.fromkeys(("covar_samp", "covar_pop", "corr"), "value, n"),
    **{known.name: "value, n" for known in SIGNATURES if known.name.startswith("regr_")},
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), "n"),
    **dict.fromkeys(("nth_value", "nth_last", "top_k"), "value, 2"),
    "hll_sketch_agg": "n, 8",
    "hll_union_agg": "CAST(product AS BINARY), TRUE",
    **dict.fromkeys(("bitmap_construct_agg", "kll_sketch_agg_bigint"), "n"),
    "kll_sketch_agg_float": "CAST(n AS FLOAT), 100",
    "kll_sketch_agg_double": "CAST(n AS DOUBLE)",
    "theta_sketch_agg": "n, 26",
    "theta_union_agg": "CAST(product AS BINARY), 4",
    **{
        known.name: "CAST(product AS BINARY)"
        for known in SIGNATURES
        if re.match(r"kll_merge|bitmap_(and|or)|theta_intersection", known.name)
    },
    **dict.fromkeys(("approx_percentile", "percentile_cont", "percentile_disc"), "value, 0.9"),
}
"""Arguments where they are not one number."""


@pytest.mark.parametrize("name", [*(known.name for known in SIGNATURES), *ALIASES])
def test_every_aggregate_by_every_name(name: str) -> None:
    canonical = ALIASES.get(name, name)
    call = f"{name}({CALLS.get(canonical, 'value')})"
    (grouped,) = window(f"SELECT {call} FROM TUMBLE(orders, ts, 1 HOUR)").aggregates
    (each,) = over(f"SELECT {call} OVER (ORDER BY ts ROWS 3 PRECEDING) FROM orders").calls
    assert grouped.function == each.aggregate.function == canonical


def test_or_keeps_its_brackets_where_predicates_meet() -> None:
    inner = "(SELECT * FROM orders WHERE n = 1 OR n = 2)"
    made = window(f"SELECT COUNT(*) FROM TUMBLE({inner}, ts, 1 HOUR) WHERE id = 1 OR id = 2")
    assert filtered(made.input) == "(n = 1 OR n = 2) AND (id = 1 OR id = 2)"


@pytest.mark.parametrize(
    "call",
    [
        "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY{})",
        "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' WEEK, 'MONDAY'{})",
        "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '6' HOUR{})",
        "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' QUARTER{})",
        "HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '7' DAY{})",
        "CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '7' DAY{})",
    ],
)
def test_the_zone_of_set_is_as_if_it_were_written(call: str) -> None:
    query = "SELECT window_start, COUNT(*) AS n FROM {} GROUP BY window_start"
    default = "SET 'window.time-zone' = 'Asia/Tokyo'; "
    written = plan(query.format(call.format(", 'Asia/Tokyo'")))
    assert plan(default + query.format(call.format(""))) == written
    other = default.replace("Asia/Tokyo", "Europe/Berlin")
    assert plan(other + query.format(call.format(", 'Asia/Tokyo'"))) == written
    utc = default + "SET 'window.time-zone' = 'UTC'; "
    assert plan(utc + query.format(call.format(""))) == plan(query.format(call.format("")))


def test_hours_and_sessions_go_by_no_zone() -> None:
    default = "SET 'window.time-zone' = 'Asia/Tokyo'; "
    for call in (
        "TUMBLE(orders, ts, INTERVAL '12' HOUR)",
        "HOP(orders, ts, INTERVAL '6' HOUR, INTERVAL '1' DAY)",
        "SESSION(orders, ts, INTERVAL '1' DAY)",
    ):
        query = f"SELECT COUNT(*) AS n FROM {call} GROUP BY window_start, window_end"
        assert plan(default + query) == plan(query)
