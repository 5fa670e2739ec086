"""A batch of old rows brings thousands of slices; what it costs must not follow their number."""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.state.combine import last_written
from sqlwin.state.contract import Layout
from sqlwin.state.records import by_slice
from sqlwin.state.stores.memory import MemoryStore

LAYOUT = Layout("last", (("t", pl.Int64()), ("x", pl.Int64())), (), ("t",), 10)


def test_slices_are_settled_together() -> None:
    calls = []

    def counted(records: pl.DataFrame) -> pl.DataFrame:
        calls.append(len(records))
        return last_written(LAYOUT)(records)

    store = MemoryStore(LAYOUT, counted)
    for x in range(2):
        store.put(pl.DataFrame({"t": range(-5_000, 5_000, 5), "x": [x] * 2_000}))
    store.expire(-4_996)
    found = store.scan(-5_000, 5_000)
    assert found["t"].to_list() == list(range(-4_995, 5_000, 5))
    assert found["x"].unique().to_list() == [1]
    assert len(calls) == 1
    store._check()
    assert store.scan(-3, 12)["t"].to_list() == [0, 5, 10]


def test_a_slice_keeps_no_memory_of_the_rest_of_its_batch() -> None:
    """One row of the far future would keep all of them, long after they are evicted."""
    for times in (range(1_000), range(999, -1, -1)):
        records = pl.DataFrame({"t": times, "x": range(1_000)})
        batch = records["x"].to_numpy()
        for _, part in by_slice(LAYOUT, records):
            assert len(part) == 10
            assert not np.shares_memory(part["x"].to_numpy(), batch)
