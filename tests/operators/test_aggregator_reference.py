"""Any windows, sets and policies: each call emits what the definitions emit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import MINUTE, SECOND
from sqlwin.kernels import pane_ranges
from sqlwin.operators.windows import blocks
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.policies import Early, Late
from sqlwin.schema import TS
from sqlwin.state.contract import HORIZON
from tests.support.operators.aggregators import COLUMNS, aggregator
from tests.support.operators.driving import Defined, Driven, records, rows_of
from tests.support.operators.groups import specified, windows


@dataclass(frozen=True)
class Step:
    """rows: (k, b, v, seconds of event time). watermark, clock: seconds more than before."""

    rows: tuple[tuple[Any, ...], ...]
    watermark: int
    clock: int
    end: bool


@st.composite
def operators(draw: st.DrawFn) -> WindowAggregator:
    keys = draw(st.sampled_from([(), ("k",), ("k", "b")]))
    subsets = [keys, keys[:1], ()]
    sets = draw(st.lists(st.sampled_from(subsets), unique=True) if keys else st.just([]))
    return aggregator(
        draw(windows()),
        keys,
        draw(st.sampled_from([("n", "total"), ("total", "values"), ("values",)])),
        tuple(sets),
        draw(st.booleans()),
        early=draw(st.sampled_from([None, *Early])),
        early_period=20 * SECOND,
        early_rows=2,
        late=draw(st.sampled_from(Late)),
        timeout=draw(st.sampled_from([None, 25 * SECOND])),
        retain=draw(st.sampled_from([None, 0, MINUTE, 5 * MINUTE])),
        retain_rows=draw(st.sampled_from([None, None, 1, 4])),
    )


def steps() -> st.SearchStrategy[list[Step]]:
    row = st.tuples(
        st.sampled_from(["a", "b", None]),
        st.sampled_from([1, None]),
        st.integers(0, 9),
        st.integers(0, 400),
    )
    rows = st.lists(row, max_size=5).map(tuple)
    ends = st.sampled_from([False] * 7 + [True])
    return st.lists(
        st.builds(Step, rows, st.integers(0, 90), st.integers(0, 30), ends), min_size=1, max_size=9
    )


def admitted(rows: pl.DataFrame, driven: Driven, retain: int | None) -> pl.DataFrame:
    """What a host lets through, by the floors the operator tells."""
    late = pl.col(TS) < driven.watermark
    gone = late & (pl.col(TS) < (driven.watermark - retain if retain is not None else -(2**62)))
    horizons = driven.operator.horizons(driven.stores)
    keys = [name for name in horizons.columns if name != HORIZON]
    floored = (
        rows.join(horizons, on=keys, how="left", nulls_equal=True, maintain_order="left")
        if keys
        else rows.with_columns(pl.lit(horizons[HORIZON].max(), pl.Int64).alias(HORIZON))
    )
    return floored.filter(~gone, ~(late & (pl.col(TS) < pl.col(HORIZON).fill_null(-(2**62))))).drop(
        HORIZON
    )


SIZES = [(blocks.LONG, blocks.IN_A_WINDOW), (1, 1), (1, 2), (1, 4)]
"""Panes of a window of which blocks are made, and how many of these."""


@given(
    operators(),
    steps(),
    st.booleans(),
    st.sampled_from([0, pane_ranges.OVERLAP]),
    st.sampled_from(SIZES),
)
def test_each_call_emits_what_the_reference_emits(
    operator: WindowAggregator,
    taken: list[Step],
    restarts: bool,
    overlap: int,
    sizes: tuple[int, int],
) -> None:
    of_blocks = patch.multiple(blocks, LONG=sizes[0], IN_A_WINDOW=sizes[1])
    with patch.object(pane_ranges, "OVERLAP", overlap), of_blocks:
        _same(operator, taken, restarts)


def _same(operator: WindowAggregator, taken: list[Step], restarts: bool) -> None:
    fast, slow = Driven(operator, restarts), Defined(specified(operator))
    seq, watermark, now = 0, 0, 0
    for step in taken:
        rows = [(k, b, v, at * SECOND, 0, seq + n) for n, (k, b, v, at) in enumerate(step.rows)]
        seq, watermark, now = (
            seq + len(rows),
            watermark + step.watermark * SECOND,
            now + step.clock * SECOND,
        )
        batch = rows_of(COLUMNS, *rows)
        batches = [admitted(batch, driven, operator.policy.retain) for driven in (fast, slow)]
        assert batches[0].equals(batches[1])
        found, expected = (
            records(
                driven.step(kept if rows else None, now, watermark, step.end), list(operator.output)
            )
            for driven, kept in zip((fast, slow), batches, strict=True)
        )
        assert found == expected
        assert fast.deadline == slow.deadline
