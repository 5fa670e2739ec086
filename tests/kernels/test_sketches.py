"""Sketches stay within their bounds, however they are merged; several fractions give a list."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from sqlwin.aggregates import signature
from sqlwin.kernels.folds import Fold, fold
from sqlwin.kernels.folds.full_state.quantiles import Quantile
from sqlwin.kernels.frames import Frames
from sqlwin.schema import Order

FRACTIONS = (0.0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0)
ROWS = 40_000
RANDOM = np.random.default_rng(7)
HUMP = RANDOM.random(ROWS) < 0.5
SHAPES = {
    "normal": RANDOM.normal(size=ROWS),
    "skewed": np.exp(5 * RANDOM.normal(size=ROWS)),
    "rising": np.arange(ROWS, dtype=np.float64),
    "falling": -np.arange(ROWS, dtype=np.float64),
    "two humps": np.where(HUMP, RANDOM.normal(size=ROWS) * 1e-6, 1e9 + RANDOM.normal(size=ROWS)),
    "heavy tail": RANDOM.zipf(1.3, size=ROWS).astype(np.float64),
    "two values": HUMP.astype(np.float64),
    "huge span": 10.0 ** RANDOM.uniform(-200, 200, size=ROWS),
}


def bound(function: str, type_: pa.DataType, params: tuple[Any, ...] = ()) -> Fold:
    known = signature(function)
    assert known is not None
    result = known.returns((type_,), listed=len(params) > 1)
    return fold("out", function, ("x",), (type_,), result, None, params)


def rows_of(values: Any) -> pl.DataFrame:
    table = pl.DataFrame({"x": values}).with_row_index("__seq")
    place = [pl.lit(0, pl.Int64).alias("__ts"), pl.lit(0, pl.Int32).alias("__part")]
    return table.with_columns(pl.col("__seq").cast(pl.Int64), *place)


def merged(fold_: Fold, table: pl.DataFrame, parts: int) -> pl.DataFrame:
    """Two levels of merges, some parts much larger than others."""
    table = table.with_columns(cut=(pl.col("__seq") ** 2 // 7) % parts)
    lifted = table.group_by("cut", maintain_order=True).agg(fold_.lift())
    halves = lifted.group_by(pl.col("cut") % 3, maintain_order=True).agg(fold_.merge())
    return halves.select(fold_.merge())


@pytest.mark.parametrize("shape", SHAPES)
def test_ranks_are_near_the_fractions(shape: str) -> None:
    digest = bound("approx_percentile", pa.float64(), FRACTIONS)
    table, ascending = rows_of(SHAPES[shape]), np.sort(SHAPES[shape])
    for accumulators in (table.select(digest.lift()), merged(digest, table, 100)):
        (found,) = digest.finish(accumulators).to_list()
        for p, value in zip(FRACTIONS, found, strict=True):
            low = np.searchsorted(ascending, value, "left") / ROWS
            high = np.searchsorted(ascending, value, "right") / ROWS
            assert low - 0.02 <= p <= high + 0.02, (p, value, low, high)
        assert (found[0], found[-1]) == (ascending[0], ascending[-1])


@pytest.mark.parametrize("distinct", [10, 300, 1000, 30_000])
def test_counts_are_near(distinct: int) -> None:
    values = [f"name {n % distinct}" for n in range(ROWS)]
    sketch, table = bound("approx_count_distinct", pa.string()), rows_of(values)
    for accumulators in (table.select(sketch.lift()), merged(sketch, table, 30)):
        (count,) = sketch.finish(accumulators).to_list()
        assert count == distinct if distinct <= 300 else abs(count / distinct - 1) < 0.032


def test_equal_rows_give_equal_bytes() -> None:
    table = rows_of(SHAPES["normal"])
    for sketch in (bound("approx_percentile", pa.float64(), (0.5,)),
                   bound("approx_count_distinct", pa.float64())):  # fmt: skip
        first, second = (merged(sketch, table, 20) for _ in range(2))
        assert first.equals(second)
        assert max(map(len, first.to_series())) < 16_384


def test_what_is_not_finite_has_its_place() -> None:
    values = [math.nan, 1.0, math.inf, -math.inf, 2.0, None, math.nan, -math.inf]
    fractions = (0.0, 0.28, 0.4, 0.57, 0.7, 0.9, 1.0)
    digest = bound("approx_percentile", pa.float64(), fractions)
    table = rows_of(values)
    for accumulators in (table.select(digest.lift()), merged(digest, table, 4)):
        (found,) = digest.finish(accumulators).to_list()
        assert found[:5] == [-math.inf, -math.inf, 1.0, 2.0, math.inf]
        assert all(map(math.isnan, found[5:]))
    none = table.filter(pl.col("x").is_null()).select(digest.lift())
    assert digest.finish(none).to_list() == [None]


def test_of_both_zeros_it_finds_one_whatever_the_order() -> None:
    """They are equal, so that a digest keeps either."""
    digest = bound("approx_percentile", pa.float64(), FRACTIONS)
    values = [0.0, -0.0, 1.0, -1.0, 5e-324] * 20
    for seed in range(20):
        table = rows_of(np.random.default_rng(seed).permutation(values))
        for accumulators in (table.select(digest.lift()), merged(digest, table, 4)):
            (found,) = digest.finish(accumulators).to_list()
            assert "-0.0" not in map(repr, found)


@pytest.mark.parametrize("params", [(0.0,), (0.3, 1.0)])
def test_a_single_number_among_nans_is_lost_as_in_spark(params: tuple[float, ...]) -> None:
    digest = bound("approx_percentile", pa.float64(), params)
    table = rows_of([math.nan, 1.0, math.nan, 2.0])
    for some in (table.head(2), table.head(3)):
        (found,) = digest.finish(merged(digest, some, 2)).to_list()
        assert all(map(math.isnan, found if len(params) > 1 else [found]))
    frames = Frames(np.array([0, 1, 1, 2, 0]), np.array([3, 2, 4, 4, 4]))
    shown = [str(value) for value in digest.slide(table, frames).to_list()]
    assert shown[1:3] == ["1.0", "1.0"] if len(params) == 1 else ["[1.0, 1.0]", "[1.0, nan]"]
    assert {shown[0], shown[3]} == {"nan" if len(params) == 1 else "[nan, nan]"}


def test_decimals_by_way_of_doubles() -> None:
    wide = pa.decimal128(38, 18)
    digest = bound("approx_percentile", wide, (0.0, 1.0))
    values = ["682749066160389043.257407688996290560", "99999999999999999999.999999999999999999"]
    table = rows_of(pl.Series(list(map(Decimal, values)), dtype=pl.Decimal(38, 18)))
    expected = [Decimal("682749066160389000"), None]
    frames = Frames(np.array([0]), np.array([2]))
    assert digest.finish(table.select(digest.lift())).to_list() == [expected]
    assert digest.slide(table, frames).to_list() == [expected]


def test_between_numbers_whose_difference_is_no_double() -> None:
    """low + (high - low) * rest, from the greatest with DESC; as in Spark."""
    table = rows_of([-1e308, 1e308])
    up, down = (
        fold(
            "out", "percentile_cont", ("x",), (pa.float64(),), pa.float64(), None, (0.3,), order=by
        )
        for by in ((), (Order("x", descending=True),))
    )
    assert up.finish(table.select(up.lift())).to_list() == [math.inf]
    assert down.finish(table.select(down.lift())).to_list() == [-math.inf]
    endless = rows_of([-math.inf, 1.0])
    assert math.isnan(up.finish(endless.select(up.lift())).item())


def test_several_fractions_exactly() -> None:
    table = rows_of([3, 1, 2, None, 5, 4])
    frames = Frames(np.array([0, 3, 3, 1]), np.array([6, 4, 3, 3]))
    cont = bound("percentile_cont", pa.int64(), (0.0, 0.5, 0.9))
    assert isinstance(cont, Quantile)
    assert cont.finish(table.select(cont.lift())).to_list() == [[1.0, 3.0, 4.6]]
    expected = [[1.0, 3.0, 4.6], None, None, [1.0, 1.5, 1.9]]
    got = cont.slide(table, frames)
    assert [None if row is None else [round(v, 9) for v in row] for row in got] == expected
    disc = bound("percentile_disc", pa.int64(), (1.0, 0.5))
    assert disc.slide(table, frames).to_list() == [[5, 3], None, None, [2, 1]]
