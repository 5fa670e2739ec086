"""A side of a join at each instant keeps no row that was retracted, once its time is over."""

from __future__ import annotations

import polars as pl
import pytest

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores
from sqlwin.operators.relations.staying_side import StayingSide
from sqlwin.schema import PART, SEQ, TS, WEIGHT
from sqlwin.state.stores.memory import MemoryStore
from sqlwin.windows.stays import Stay

COLUMNS: dict[str, pl.DataType] = {"v": pl.Int64()}


def rows(seq: int, ts: int, weight: int) -> pl.DataFrame:
    made = pl.DataFrame({"v": [7], PART: [0], SEQ: [seq], TS: [ts], WEIGHT: [weight]})
    return made.cast({PART: pl.Int32, WEIGHT: pl.Int8})


@pytest.mark.parametrize("stay", [Stay(rows=2), Stay(), Stay(length=5)], ids=str)
def test_a_retracted_row_is_erased(stay: Stay) -> None:
    side = StayingSide("left", COLUMNS, (), stay, 0)
    stores = Stores({"left": MemoryStore(side.spec.layout, side.spec.combine)})
    for seq, ts, weight in ((0, 10, 1), (0, 10, -1), (1, 30, 1)):
        side.put(side.prepare(rows(seq, ts, weight)), stores)
    side.retire(side.staying(20, stores), 20, stores)
    kept = stores["left"].scan(START, END)
    assert kept[SEQ].to_list() == [1], "the one that waits"
