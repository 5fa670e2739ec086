"""A frame's value is the same in one range, in pieces, and with its first rows gone."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.folds import fold
from sqlwin.kernels.frames import Frames
from sqlwin.kernels.unions import Base, slide_all
from tests.support.draws import one_in

BIGINT = pa.int64()
CALLS: list[tuple[str, pa.DataType, dict[str, Any]]] = [
    ("count", BIGINT, {}),
    ("sum", BIGINT, {}),
    ("first", BIGINT, {}),
    ("max", BIGINT, {}),
    ("count", BIGINT, {"distinct": True}),
    ("median", pa.float64(), {}),
    ("mode", BIGINT, {}),
    ("collect_list", pa.list_(BIGINT), {}),
    ("nth_last", BIGINT, {"params": (2,)}),
]
RUN = st.tuples(
    st.lists(st.none() | st.integers(0, 3), max_size=5),  # gone
    st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=5),
)


@pytest.mark.parametrize(("function", "type_", "more"), CALLS)
@given(runs=st.lists(RUN, min_size=1, max_size=4), where=st.booleans(), data=st.data())
@one_in(2)
def test_what_is_gone_still_counts(
    function: str,
    type_: pa.DataType,
    more: dict[str, Any],
    runs: list[tuple[list[int | None], list[int | None]]],
    where: bool,
    data: st.DataObject,
) -> None:
    bound = fold("out", function, ("x",), (BIGINT,), type_, "w" if where else None, **more)
    every, gone, here, frames = _laid_out(runs, data)
    lo, cut, again, hi = (np.array(column, dtype=np.int64) for column in zip(*frames, strict=True))
    whole = slide_all(bound, every, [Frames(lo, cut), Frames(again, hi)])
    at = np.cumsum(~gone)  # rows at hand up to and with each
    index = np.append(0, at)
    base = bound.over(every, _runs_gone(runs))
    parts = [Frames(index[lo], index[cut]), Frames(index[again], index[hi])]
    of = np.repeat(np.arange(len(runs)), [len(kept) for _, kept in runs])
    short = slide_all(bound, here, parts, Base(base, of))
    assert whole.to_list() == short.to_list()


def _laid_out(
    runs: list[tuple[list[int | None], list[int | None]]], data: st.DataObject
) -> tuple[pl.DataFrame, np.ndarray, pl.DataFrame, list[tuple[int, int, int, int]]]:
    """All rows, which are gone, the others, and a frame in two pieces for each of these."""
    x = [value for gone, kept in runs for value in (*gone, *kept)]
    gone = np.array([n < len(g) for g, k in runs for n in range(len(g) + len(k))])
    every = pl.DataFrame({"x": x}, schema={"x": pl.Int64}).with_columns(
        pl.int_range(pl.len()).alias("__ts"),
        pl.lit(0, pl.Int32).alias("__part"),
        pl.int_range(pl.len()).alias("__seq"),
        (pl.int_range(pl.len()) % 3 != 0).alias("w"),
    )
    frames, start = [], 0
    for lost, kept in runs:
        for _ in kept:
            ends = st.integers(start + len(lost), start + len(lost) + len(kept))
            frames.append((start, *sorted(data.draw(st.tuples(ends, ends, ends)))))
        start += len(lost) + len(kept)
    return every, gone, every.filter(pl.Series(~gone)), frames


def _runs_gone(runs: list[tuple[list[int | None], list[int | None]]]) -> Frames:
    starts = np.cumsum([0, *(len(gone) + len(kept) for gone, kept in runs)])[:-1]
    return Frames(starts, starts + np.array([len(gone) for gone, _ in runs]))
