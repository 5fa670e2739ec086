"""Random aggregate calls over the columns of `plans.COLUMNS`, as the binder makes them."""

from __future__ import annotations

from hypothesis import strategies as st

from sqlwin.aggregates import signature
from sqlwin.plan.ir.nodes import Aggregate
from sqlwin.schema import Order, Schema
from tests.properties.features import one_of

Call = tuple[
    str, tuple[str, ...], tuple[int | float | str, ...], bool, tuple[Order, ...], int | None
]
DESCENDING = Order("i", descending=True, nulls_last=True)


def _plain(*calls: tuple[str, ...]) -> list[Call]:
    return [
        (function, args, (), False, (), None) for function, *args in calls for args in [tuple(args)]
    ]


def _with(*calls: tuple[str, str, int | float | str]) -> list[Call]:
    return [(function, (arg,), (param,), False, (), None) for function, arg, param in calls]


def _distinct(*calls: tuple[str, str]) -> list[Call]:
    return [(function, (arg,), (), True, (), None) for function, arg in calls]


INCREMENTAL = [
    *_plain(
        ("count",), ("count", "i"), ("sum", "i"), ("sum", "d"), ("sum", "f"), ("avg", "i"),
        ("avg", "d"), ("avg", "f"), ("try_sum", "d"),
        ("min", "i"), ("max", "d"), ("max", "f"), ("min", "k"),
        ("max", "ts"), ("min", "b"), ("stddev_samp", "i"), ("var_pop", "f"), ("first", "i"),
        ("last", "k"), ("bool_and", "b"), ("bool_or", "b"), ("arg_min", "k", "i"),
        ("arg_max", "i", "f"), ("product", "f"), ("product", "i"),
    ),
    ("first", ("i",), (), False, (Order("k"), DESCENDING), None),
]  # fmt: skip
PAIRS = [
    *_plain(("covar_samp", "i", "f"), ("covar_pop", "d", "i"), ("corr", "i", "f")),
    *_with(("nth_value", "i", 2), ("nth_last", "k", 1), ("nth_last", "i", 3)),
]
VALUES = [
    *_plain(("median", "i"), ("median", "f"), ("median", "d"), ("mode", "k"), ("mode", "f")),
    *_with(("percentile_cont", "i", 0.3), ("percentile_disc", "d", 0.7), ("top_k", "f", 2)),
    *_plain(("collect_list", "i"), ("collect_set", "k"), ("collect_list", "f")),
    *_with(("string_agg", "k", "-")),
    *_plain(("histogram", "i"), ("histogram", "f"), ("map_agg", "i", "f")),
    ("map_agg", ("f", "i"), (), False, (DESCENDING,), None),
    *_distinct(("count", "k"), ("count", "f"), ("sum", "i"), ("sum", "d"), ("avg", "i")),
    *_distinct(
        ("collect_list", "i"),
    ),
    ("collect_list", ("k",), (), False, (DESCENDING,), None),
    ("collect_list", ("f",), (), False, (Order("k"), DESCENDING), None),
    ("collect_list", ("f",), (), False, (Order("k"), DESCENDING), 2),
    ("collect_list", ("i",), (), False, (), 1),
    ("collect_list", ("i",), (), True, (DESCENDING,), 2),
    ("string_agg", ("k",), ("",), False, (Order("b", nulls_last=True),), None),
    ("string_agg", ("k",), ("-",), False, (Order("f"),), 3),
    ("arg_max", ("k", "i"), (2,), False, (), None),
    ("arg_min", ("i", "f"), (3,), False, (), None),
]
SKETCHES = [
    *_plain(("approx_count_distinct", "i"), ("approx_count_distinct", "k")),
    *_with(("approx_percentile", "i", 0.5), ("approx_percentile", "f", 0.9)),
]


def aggregates(columns: Schema) -> st.SearchStrategy[list[Aggregate]]:
    calls = one_of(INCREMENTAL, pairs=PAIRS, values=VALUES * 2, sketches=SKETCHES)
    chosen = st.lists(st.tuples(calls, st.sampled_from([None, None, "b"])), min_size=1, max_size=3)
    return chosen.map(lambda picked: [_bound(columns, n, *both) for n, both in enumerate(picked)])


def _bound(columns: Schema, number: int, call: Call, where: str | None) -> Aggregate:
    function, args, params, distinct, order, limit = call
    types = {column.name: column.type for column in columns}
    known = signature(function)
    assert known is not None
    type_ = known.returns(tuple(types[arg] for arg in args), known.several and bool(params))
    assert type_ is not None
    return Aggregate(f"a{number}", function, args, type_, where, params, distinct, order, limit)
