"""BOOL_AND and BOOL_OR: the least and the greatest of false < true; NULL on nothing.

>>> import polars as pl, pyarrow as pa
>>> call = FoldCall("all", "bool_and", ("b",), (pa.bool_(),), pa.bool_())
>>> pl.DataFrame({"b": [True, None, False]}).select(boolean(call).lift()).item()
False
"""

from __future__ import annotations

from sqlwin.kernels.folds.base import FoldCall
from sqlwin.kernels.folds.picks.extremes import Extreme


def boolean(call: FoldCall) -> Extreme:
    return Extreme(call, greatest=call.function == "bool_or")
