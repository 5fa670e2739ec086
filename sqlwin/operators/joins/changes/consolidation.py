"""Changes that are pending, and further changes of the same results: what is left of them.

A *change* is a row as `change_ledger` has it: `__sign` -1 where a result is no longer true, 1
where it is. Of one result what was emitted is what is pending to be retracted, if anything is
pending, and what is true is what came last. Where both are the same nothing is left.

>>> rows = {"__row_key": ["a", "b"], "__emit": "full", "__due": [5, 5], "__revision": [-1, 0]}
>>> own = pl.DataFrame({"x": [1, 2], "__sign": [1, -1], **rows})
>>> fresh = pl.DataFrame({"x": [1, 2], "__sign": [-1, 1], **rows})
>>> consolidated(own, fresh, ("x",)).height
0
"""

from __future__ import annotations

import polars as pl

from sqlwin.operators.emitter.schema import DUE, OLD, SIGN
from sqlwin.polars_frames import whole
from sqlwin.schema import EMIT, REVISION, ROW_KEY

DUE_BEFORE, REVISION_BEFORE, WORD_NOW, DUE_NOW = (
    "__due_before",
    "__revision_before",
    "__word_now",
    "__due_now",
)


def consolidated(own: pl.DataFrame, fresh: pl.DataFrame, values: tuple[str, ...]) -> pl.DataFrame:
    """What is pending of results that change once more: due when the first of it was, by the
    word of the last.

    own: what is pending of them, fresh: what changes; `values`: the columns that distinguish them.
    """
    if own.is_empty():
        return _without_same(fresh, values)
    minus, plus = fresh.filter(pl.col(SIGN) < 0), fresh.filter(pl.col(SIGN) > 0)
    first = minus.join(own, on=ROW_KEY, how="anti", maintain_order="left")
    both = pl.concat([own.filter(pl.col(SIGN) < 0).select(fresh.columns), first, plus])
    before = own.group_by(ROW_KEY).agg(
        pl.col(DUE).min().alias(DUE_BEFORE), pl.col(REVISION).first().alias(REVISION_BEFORE)
    )
    now = fresh.group_by(ROW_KEY).agg(
        pl.col(EMIT).first().alias(WORD_NOW), pl.col(DUE).min().alias(DUE_NOW)
    )
    joined = (
        whole(both)
        .join(whole(before), on=ROW_KEY, how="left", maintain_order="left")
        .join(whole(now), on=ROW_KEY, how="left", maintain_order="left")
    )
    pending = joined.with_columns(
        pl.col(WORD_NOW).alias(EMIT),
        pl.min_horizontal(DUE_NOW, DUE_BEFORE).alias(DUE),
        pl.coalesce(REVISION_BEFORE, REVISION).alias(REVISION),
    )
    return _without_same(pending.select(fresh.columns), values)


def _without_same(changes: pl.DataFrame, values: tuple[str, ...]) -> pl.DataFrame:
    """Without results that are what was emitted."""
    minus, plus = changes.filter(pl.col(SIGN) < 0), changes.filter(pl.col(SIGN) > 0)
    if minus.is_empty() or plus.is_empty():
        return changes
    old = minus.select(ROW_KEY, *(pl.col(name).alias(OLD + name) for name in values))
    same = [pl.col(name).eq_missing(pl.col(OLD + name)) for name in values]
    equal = plus.join(old, on=ROW_KEY).filter(pl.all_horizontal(same))
    return changes.join(equal, on=ROW_KEY, how="anti", maintain_order="left")
