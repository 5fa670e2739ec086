"""Changes that wait, and further changes of the same results: what is left of them.

A *change* is a row as `telling` has it: `__sign` -1 where a result is no longer true, 1 where
it is. Of one result what was told is what waits to be undone, if something waits, and what
is true is what came last. Where both are the same nothing is left.

>>> rows = {"__row_key": ["a", "b"], "__emit": "full", "__due": [5, 5], "__was": [-1, 0]}
>>> own = pl.DataFrame({"x": [1, 2], "__sign": [1, -1], **rows})
>>> fresh = pl.DataFrame({"x": [1, 2], "__sign": [-1, 1], **rows})
>>> merged(own, fresh, ("x",)).height
0
"""

from __future__ import annotations

import polars as pl

from sqlwin.operators.emitter.schema import DUE
from sqlwin.schema import EMIT, ROW_KEY

SIGN = "__sign"
WAS = "__was"


def merged(own: pl.DataFrame, fresh: pl.DataFrame, values: tuple[str, ...]) -> pl.DataFrame:
    """What waits of results that change once more.

    own: what waits of them, fresh: what changes; `values`: the columns that tell them apart.
    """
    if own.is_empty():
        return _without_same(fresh, values)
    minus, plus = fresh.filter(pl.col(SIGN) < 0), fresh.filter(pl.col(SIGN) > 0)
    first = minus.join(own, on=ROW_KEY, how="anti", maintain_order="left")
    both = pl.concat([own.filter(pl.col(SIGN) < 0).select(fresh.columns), first, plus])
    before = own.group_by(ROW_KEY).agg(
        pl.col(DUE).min().alias("__due_before"), pl.col(WAS).first().alias("__was_before")
    )
    word = fresh.group_by(ROW_KEY).agg(
        pl.col(EMIT).first().alias("__word"), pl.col(DUE).min().alias("__due_now")
    )
    joined = both.join(before, on=ROW_KEY, how="left", maintain_order="left").join(
        word, on=ROW_KEY, how="left", maintain_order="left"
    )
    emitted = joined.with_columns(
        pl.col("__word").alias(EMIT),
        pl.min_horizontal("__due_now", "__due_before").alias(DUE),
        pl.coalesce("__was_before", WAS).alias(WAS),
    )
    return _without_same(emitted.select(fresh.columns), values)


def _without_same(changes: pl.DataFrame, values: tuple[str, ...]) -> pl.DataFrame:
    """Without results that are what was told."""
    minus, plus = changes.filter(pl.col(SIGN) < 0), changes.filter(pl.col(SIGN) > 0)
    if minus.is_empty() or plus.is_empty():
        return changes
    both = minus.select(ROW_KEY, *values).join(
        plus.select(ROW_KEY, *values), on=ROW_KEY, suffix=" told"
    )
    same = [pl.col(name).eq_missing(pl.col(f"{name} told")) for name in values]
    equal = both.filter(pl.all_horizontal(same))
    return changes.join(equal, on=ROW_KEY, how="anti", maintain_order="left")
