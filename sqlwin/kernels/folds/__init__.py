"""The aggregate functions as folds over columns.

>>> import polars as pl
>>> total = fold("total", "sum", ("x",), (pa.int32(),), pa.int64(), None)
>>> rows = pl.DataFrame({"k": ["a", "a", "b"], "x": [1, 2, None]}, schema_overrides={"x": pl.Int32})
>>> parts = rows.group_by("k", maintain_order=True).agg(total.lift())
>>> total.finish(parts).to_list()
[3, None]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.bits import Bits
from sqlwin.kernels.folds.booleans import boolean
from sqlwin.kernels.folds.collects import Collect, collected, nearest
from sqlwin.kernels.folds.counts import Count
from sqlwin.kernels.folds.distinct import distinct_of
from sqlwin.kernels.folds.ends import Nth, TopK
from sqlwin.kernels.folds.extremes import Extreme
from sqlwin.kernels.folds.means import Mean, TryMean, mean_of_pairs
from sqlwin.kernels.folds.modes import Mode
from sqlwin.kernels.folds.moments import Moment
from sqlwin.kernels.folds.pairs import STATISTICS, Pair
from sqlwin.kernels.folds.picks import AtEdge, ByArg
from sqlwin.kernels.folds.python import Python
from sqlwin.kernels.folds.quantiles import Quantile
from sqlwin.kernels.folds.shapes import Shape
from sqlwin.kernels.folds.sketches import DistinctSketch, PercentileSketch
from sqlwin.kernels.folds.sums import Sum, TrySum
from sqlwin.python_aggregates import PythonAggregate
from sqlwin.schema import Order

__all__ = ["FOLDS", "Fold", "FoldCall", "fold"]


def _plain_or_distinct(plain: Callable[[FoldCall], Fold]) -> Callable[[FoldCall], Fold]:
    return lambda call: distinct_of(call, plain) if call.distinct else plain(call)


def _by_arg(call: FoldCall, greatest: bool) -> Fold:
    return nearest(call, greatest) if call.params else ByArg(call, greatest)


def _product(call: FoldCall) -> Fold:
    from sqlwin.kernels.folds.products import Product  # few queries need it

    return Product(call)


FOLDS: dict[str, Callable[[FoldCall], Fold]] = {
    "count": _plain_or_distinct(Count),
    "sum": _plain_or_distinct(Sum),
    "avg": _plain_or_distinct(Mean),
    "try_sum": _plain_or_distinct(TrySum),
    "try_avg": _plain_or_distinct(TryMean),
    "product": _plain_or_distinct(_product),
    "min": lambda call: Extreme(call, greatest=False),
    "max": lambda call: Extreme(call, greatest=True),
    "stddev_samp": _plain_or_distinct(lambda call: Moment(call, lost=1, root=True)),
    "stddev_pop": _plain_or_distinct(lambda call: Moment(call, lost=0, root=True)),
    "var_samp": _plain_or_distinct(lambda call: Moment(call, lost=1, root=False)),
    "var_pop": _plain_or_distinct(lambda call: Moment(call, lost=0, root=False)),
    "skewness": _plain_or_distinct(Shape),
    "kurtosis": _plain_or_distinct(Shape),
    **dict.fromkeys(STATISTICS, Pair),
    "regr_avgy": lambda call: mean_of_pairs(call, 0),
    "regr_avgx": lambda call: mean_of_pairs(call, 1),
    "first": lambda call: AtEdge(call, last=False),
    "last": lambda call: AtEdge(call, last=True),
    "nth_value": lambda call: Nth(call, last=False),
    "nth_last": lambda call: Nth(call, last=True),
    "bool_and": boolean,
    "bool_or": boolean,
    "bit_and": Bits,
    "bit_or": Bits,
    "bit_xor": _plain_or_distinct(Bits),
    "arg_min": lambda call: _by_arg(call, greatest=False),
    "arg_max": lambda call: _by_arg(call, greatest=True),
    "top_k": TopK,
    "approx_count_distinct": DistinctSketch,
    "approx_percentile": PercentileSketch,
    "median": _plain_or_distinct(lambda call: Quantile(call, between=True)),
    "percentile_cont": _plain_or_distinct(lambda call: Quantile(call, between=True)),
    "percentile_disc": lambda call: Quantile(call, between=False),
    "mode": Mode,
    "collect_list": collected,
    "collect_set": lambda call: Collect(call, distinct=True),
    "string_agg": partial(collected, joined=True),
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
