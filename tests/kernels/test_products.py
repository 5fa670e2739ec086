"""A product has one value however its rows are cut: what leaves DOUBLE on the way comes back."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from sqlwin.kernels.folds import Fold
from sqlwin.kernels.frames import Frames
from tests.support.kernels.brute import bound

LEAST = 5e-324
GREATEST = 1.7976931348623157e308


def product() -> Fold:
    return bound("product", ("f64",), None)


def each_way(values: list[float]) -> list[float]:
    """Of all rows at once, of parts of one row and of three, and over a frame."""
    fold, table = product(), pl.DataFrame({"f64": values})
    found = [fold.finish(table.select(fold.lift())).item()]
    for length in (1, 3):
        cut = table.with_columns(cut=pl.int_range(pl.len()) // length)
        parts = cut.group_by("cut", maintain_order=True).agg(fold.lift())
        found.append(fold.finish(parts.select(fold.merge())).item())
    frames = Frames(np.array([0]), np.array([len(values)]))
    return [*found, fold.slide(table, frames).item()]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e200, 1e200, 1e-300], 1e100),
        ([1e-300, 1e-300, 1e300, -1e300], -1.0),
        ([1e300] * 3000 + [1e-300] * 3000, 1.0),
        ([LEAST, 2.0**1000, 2.0**74], 1.0),
        ([GREATEST, 0.5], GREATEST / 2),
        ([LEAST, 3.0], 3 * LEAST),
        ([1e200, 1e200], math.inf),
        ([-1e200, 1e200], -math.inf),
        ([1e-200, 1e-200], 0.0),
        ([1e200, 1e200, 0.0], 0.0),
        ([math.inf, -2.0, 1e-300], -math.inf),
    ],
    ids=str,
)
def test_what_leaves_the_range_comes_back(values: list[float], expected: float) -> None:
    for ordered in (values, values[::-1]):
        for found in each_way(ordered):
            assert found == pytest.approx(expected, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("values", [[math.inf, 0.0], [0.0, 1.0, -math.inf], [math.nan, 0.0]])
def test_zero_times_infinite_is_nan(values: list[float]) -> None:
    assert all(map(math.isnan, each_way(values)))


def test_integers_are_exact_as_far_as_a_double_is() -> None:
    values = [float(n) for n in range(1, 19)]
    assert each_way(values) == [math.factorial(18)] * 4
