"""The aggregate functions as folds over columns.

>>> import polars as pl
>>> total = fold("total", "sum", ("x",), (pa.int32(),), pa.int64(), None)
>>> rows = pl.DataFrame({"k": ["a", "a", "b"], "x": [1, 2, None]}, schema_overrides={"x": pl.Int32})
>>> parts = rows.group_by("k", maintain_order=True).agg(total.lift())
>>> total.finish(parts).to_list()
[3, None]

A process imports the folds that its query calls: those that most queries have are imported at
once, the others when a query first calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import pyarrow as pa

from sqlwin.aggregates.python import PythonAggregate
from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.picks.extremes import Extreme
from sqlwin.kernels.folds.python import Python
from sqlwin.kernels.folds.sums.counts import Count
from sqlwin.kernels.folds.sums.means import Mean, TryMean, mean_of_pairs
from sqlwin.kernels.folds.sums.sums import Sum, TrySum
from sqlwin.schema import Order

__all__ = ["FOLDS", "Fold", "FoldCall", "fold"]


Make = Callable[[FoldCall], Fold]


def _in(module: str, maker: str, **options: bool | int) -> Make:
    """A fold of a module that few queries need."""

    def make(call: FoldCall) -> Fold:
        found: Fold = getattr(import_module(f"{__name__}.{module}"), maker)(call, **options)
        return found

    return make


def _plain_or_distinct(plain: Make) -> Make:
    def make(call: FoldCall) -> Fold:
        if not call.distinct:
            return plain(call)
        from sqlwin.kernels.folds.full_state.distinct import distinct_of

        return distinct_of(call, plain)

    return make


def _by_arg(greatest: bool) -> Make:
    nearest = _in("full_state.collects", "nearest", greatest=greatest)
    one = _in("picks.first_last", "ByArg", greatest=greatest)
    return lambda call: nearest(call) if call.params else one(call)


_MOMENTS, _SHAPES, _PAIRS = "statistics.moments", "statistics.shapes", "statistics.pairs"
_MEDIAN = _plain_or_distinct(_in("full_state.quantiles", "Quantile", between=True))

FOLDS: dict[str, Make] = {
    "count": _plain_or_distinct(Count),
    "sum": _plain_or_distinct(Sum),
    "avg": _plain_or_distinct(Mean),
    "try_sum": _plain_or_distinct(TrySum),
    "try_avg": _plain_or_distinct(TryMean),
    "product": _plain_or_distinct(_in("sums.products", "Product")),
    "min": lambda call: Extreme(call, greatest=False),
    "max": lambda call: Extreme(call, greatest=True),
    "stddev_samp": _plain_or_distinct(_in(_MOMENTS, "Moment", lost=1, root=True)),
    "stddev_pop": _plain_or_distinct(_in(_MOMENTS, "Moment", lost=0, root=True)),
    "var_samp": _plain_or_distinct(_in(_MOMENTS, "Moment", lost=1, root=False)),
    "var_pop": _plain_or_distinct(_in(_MOMENTS, "Moment", lost=0, root=False)),
    "skewness": _plain_or_distinct(_in(_SHAPES, "Shape")),
    "kurtosis": _plain_or_distinct(_in(_SHAPES, "Shape")),
    **dict.fromkeys(("covar_samp", "covar_pop", "corr"), _in(_PAIRS, "Pair")),
    **dict.fromkeys(
        (
            *("regr_count", "regr_sxx", "regr_syy", "regr_sxy"),
            *("regr_slope", "regr_intercept", "regr_r2"),
        ),
        _in(_PAIRS, "Pair"),
    ),
    "regr_avgy": lambda call: mean_of_pairs(call, 0),
    "regr_avgx": lambda call: mean_of_pairs(call, 1),
    "first": _in("picks.first_last", "first"),
    "last": _in("picks.first_last", "AtEdge", last=True),
    "nth_value": _in("picks.ends", "Nth", last=False),
    "nth_last": _in("picks.ends", "Nth", last=True),
    "bool_and": _in("picks.booleans", "boolean"),
    "bool_or": _in("picks.booleans", "boolean"),
    "bit_and": _in("picks.bits", "Bits"),
    "bit_or": _in("picks.bits", "Bits"),
    "bit_xor": _plain_or_distinct(_in("picks.bits", "Bits")),
    "arg_min": _by_arg(greatest=False),
    "arg_max": _by_arg(greatest=True),
    "top_k": _in("picks.ends", "TopK"),
    "approx_count_distinct": _in("sketches.distinct_counts", "DistinctSketch"),
    "approx_percentile": _in("sketches.percentiles", "PercentileSketch"),
    "hll_sketch_agg": _in("sketches.hll", "HllSketch", union=False),
    "hll_union_agg": _in("sketches.hll", "HllSketch", union=True),
    "theta_sketch_agg": _in("sketches.theta", "ThetaSketch"),
    "theta_union_agg": _in("sketches.theta", "ThetaUnion"),
    "theta_intersection_agg": _in("sketches.theta", "ThetaIntersection"),
    "bitmap_construct_agg": _in("sketches.bitmaps", "Bitmap", bitmaps=False),
    "bitmap_or_agg": _in("sketches.bitmaps", "Bitmap", bitmaps=True),
    "bitmap_and_agg": _in("sketches.bitmaps", "Bitmap", bitmaps=True, both=True),
    **dict.fromkeys(
        (f"kll_sketch_agg_{of}" for of in ("bigint", "float", "double")),
        _in("sketches.kll", "KllSketch"),
    ),
    **dict.fromkeys(
        (f"kll_merge_agg_{of}" for of in ("bigint", "float", "double")),
        _in("sketches.kll", "KllMerge"),
    ),
    "median": _MEDIAN,
    "percentile_cont": _MEDIAN,
    "percentile_disc": _in("full_state.quantiles", "Quantile", between=False),
    "mode": _in("full_state.modes", "Mode"),
    "collect_list": _in("full_state.collects", "collected"),
    "collect_set": _in("full_state.collects", "Collect", distinct=True),
    "histogram": _in("full_state.maps", "entries", counted=True),
    "map_agg": _in("full_state.maps", "entries", counted=False),
    "string_agg": _in("full_state.collects", "collected", joined=True),
}


def fold(
    name: str,
    function: str | PythonAggregate,
    args: tuple[str, ...],
    arg_types: tuple[pa.DataType, ...],
    type: pa.DataType,
    where: str | None,
    params: tuple[Any, ...] = (),
    distinct: bool = False,
    order: Sequence[Order] = (),
    limit: int | None = None,
) -> Fold:
    """A canonical function name (`sqlwin.aggregates`), or a function in Python, bound to columns.

    name: of the finished column and prefix of the accumulators. args: column names.
    type: of the result. where: a Boolean column, only rows where it is true take part.
    params: constants. distinct: equal arguments count once. order: of the rows.
    limit: how many of the first of them are taken.
    """
    known = function if isinstance(function, str) else function.name
    how = (where, params, distinct, tuple(order), limit)
    call = FoldCall(name, known, args, arg_types, type, *how)
    return FOLDS[function](call) if isinstance(function, str) else Python(call, function)
