"""The aggregate functions as folds over columns.

>>> import polars as pl
>>> total = fold("total", "sum", ("x",), (pa.int32(),), pa.int64(), None)
>>> rows = pl.DataFrame({"k": ["a", "a", "b"], "x": [1, 2, None]}, schema_overrides={"x": pl.Int32})
>>> parts = rows.group_by("k", maintain_order=True).agg(total.lift())
>>> total.finish(parts).to_list()
[3, None]
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from sqlwin.kernels.folds.base import Call, Fold, polars_type
from sqlwin.kernels.folds.booleans import boolean
from sqlwin.kernels.folds.counts import Count
from sqlwin.kernels.folds.extremes import Extreme
from sqlwin.kernels.folds.means import Mean
from sqlwin.kernels.folds.moments import Moment
from sqlwin.kernels.folds.picks import AtEdge, ByArg
from sqlwin.kernels.folds.sums import Sum

__all__ = ["FOLDS", "Call", "Fold", "fold", "polars_type"]

FOLDS: dict[str, Callable[[Call], Fold]] = {
    "count": Count,
    "sum": Sum,
    "avg": Mean,
    "min": lambda call: Extreme(call, greatest=False),
    "max": lambda call: Extreme(call, greatest=True),
    "stddev_samp": lambda call: Moment(call, lost=1, root=True),
    "stddev_pop": lambda call: Moment(call, lost=0, root=True),
    "var_samp": lambda call: Moment(call, lost=1, root=False),
    "var_pop": lambda call: Moment(call, lost=0, root=False),
    "first": lambda call: AtEdge(call, last=False),
    "last": lambda call: AtEdge(call, last=True),
    "bool_and": boolean,
    "bool_or": boolean,
    "arg_min": lambda call: ByArg(call, greatest=False),
    "arg_max": lambda call: ByArg(call, greatest=True),
}


def fold(
    name: str,
    function: str,
    args: tuple[str, ...],
    arg_types: tuple[pa.DataType, ...],
    type: pa.DataType,
    where: str | None,
) -> Fold:
    """A canonical function name (`sqlwin.aggregates`) bound to columns.

    name: of the finished column and prefix of the accumulators. args: column names.
    type: of the result. where: a Boolean column, only rows where it is true take part.
    """
    return FOLDS[function](Call(name, function, args, arg_types, type, where))
