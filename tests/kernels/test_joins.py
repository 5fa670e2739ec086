"""The kernel of joins, against all rows with all."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import END, START
from sqlwin.kernels.joins import coded, near, nearest

FAR = 2**61
POSITIONS = st.sampled_from([START, -FAR, -3, -1, 0, 0, 1, 2, 5, FAR, END])
SIDES = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, None]), POSITIONS), max_size=8
)
BOUNDS = st.sampled_from([None, 1 - END, -FAR, -2, 0, 1, 3, FAR, END - 2])


def frame(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"k": pl.String, "j": pl.Int64, "at": pl.Int64}, orient="row")


def equal(one: tuple[Any, ...], other: tuple[Any, ...], keys: int) -> bool:
    pairs = zip(one[:keys], other[:keys], strict=True)
    return all(a is not None and a == b for a, b in pairs)


@given(SIDES, SIDES, st.integers(0, 2), BOUNDS, BOUNDS, st.sampled_from([1, 3, 1000]))
def test_near_finds_each_pair_once(
    left: list[Any], right: list[Any], keys: int, low: int | None, high: int | None, most: int
) -> None:
    on = ["k", "j"][:keys]
    chunks = near(*coded(frame(left), frame(right), on, on, "at"), low, high, most)
    found = [pair for a, b in chunks for pair in zip(a.tolist(), b.tolist(), strict=True)]
    expected = [
        (n, m)
        for n, a in enumerate(left)
        for m, b in enumerate(right)
        if equal(a, b, keys)
        and (low is None or b[2] - a[2] >= low)
        and (high is None or b[2] - a[2] <= high)
    ]
    assert sorted(found) == expected


@given(SIDES, SIDES, st.integers(0, 2), st.booleans(), st.booleans())
def test_nearest_is_the_last_before_or_the_first_after(
    left: list[Any], right: list[Any], keys: int, backward: bool, strict: bool
) -> None:
    on = ["k", "j"][:keys]
    found = nearest(*coded(frame(left), frame(right), on, on, "at"), backward, strict)
    for a, row in zip(left, found.tolist(), strict=True):
        apart = [(b[2] - a[2], m) for m, b in enumerate(right) if equal(a, b, keys)]
        meet = [each for each in apart if (each[0] <= 0 if backward else each[0] >= 0)]
        meet = [each for each in meet if each[0] or not strict]
        assert row == (max(meet) if backward else min(meet))[1] if meet else row == -1
