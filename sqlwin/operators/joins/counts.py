"""A number for each side of a join, such as its messages under ROWS, in a store of its own."""

from __future__ import annotations

import polars as pl

from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.joins.sides import Columns
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.state.combine import last_written

COUNTS = "counts"
_AT, _LEFT, _RIGHT = "__at", "__left", "__right"
_COUNTS: Columns = {_AT: pl.Int64(), _LEFT: pl.Int64(), _RIGHT: pl.Int64()}


def counts_of(name: str, words: str) -> StoreSpec:
    """Of a store of a number for each side."""
    layout = layout_of(name, _COUNTS, (), (_AT,), 1)
    return StoreSpec(layout, last_written(layout), words, ttl=None)


def read_counts(name: str, stores: Stores, none: int = 0) -> tuple[int, int]:
    """Of left and right; none: what they are before anything is written."""
    known = everything(stores, name)
    return (known[_LEFT][0], known[_RIGHT][0]) if len(known) else (none, none)


def write_counts(name: str, left: int, right: int, stores: Stores) -> None:
    record = {_AT: [0], _LEFT: [left], _RIGHT: [right]}
    stores[name].put(pl.DataFrame(record, schema=_COUNTS))
