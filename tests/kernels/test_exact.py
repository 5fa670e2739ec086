"""Exact sums and means at the edges of 38 digits."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.exact import SPLIT, Overflow, fitted, joined, mean_half_up
from sqlwin.kernels.folds import fold
from sqlwin.kernels.ranks import ranked
from tests.support.kernels.brute import decimal_of

TOP = 10**38 - 1
UNITS = st.sampled_from([TOP, -TOP, 0, 1, -1, SPLIT, -SPLIT, SPLIT - 1]) | st.integers(-TOP, TOP)


def lanes(totals: list[int]) -> tuple[pl.Series, pl.Series]:
    high = pl.Series([total // SPLIT for total in totals], dtype=pl.Int128)
    return high, pl.Series([total % SPLIT for total in totals], dtype=pl.Int128)


@given(UNITS)
def test_lanes_join_to_what_was_split(units: int) -> None:
    whole = joined(*lanes([units]), pa.decimal128(38, 0))
    assert fitted(whole, pa.decimal128(38, 0)).to_list() == [Decimal(units)]


@pytest.mark.parametrize("total", [TOP + 1, -TOP - 1, 4 * TOP, -4 * TOP])
def test_beyond_38_digits(total: int) -> None:
    type_ = pa.decimal128(38, 0)
    with pytest.raises(Overflow) as raised:
        fitted(joined(*lanes([1, total]), type_), type_)
    assert raised.value.row == 1


@given(st.lists(UNITS, min_size=1, max_size=5), st.sampled_from([0, 2, 4]))
def test_mean_is_exact_and_half_goes_away_from_zero(values: list[int], grow: int) -> None:
    type_, total = pa.decimal128(38, grow), sum(values)
    count = pl.Series([len(values)])
    try:
        expected = decimal_of(Fraction(total, len(values)), type_)
    except OverflowError:
        with pytest.raises(Overflow):
            mean_half_up(*lanes([total]), count, grow, type_)
        return
    assert mean_half_up(*lanes([total]), count, grow, type_).to_list() == [expected]


def test_half_goes_away_from_zero_in_both_signs() -> None:
    high, low = lanes([5, -5, 3, -3, 7, -7])
    got = mean_half_up(high, low, pl.Series([2, 2, 2, 2, 4, 4]), 0, pa.decimal128(5, 0))
    assert [int(value) for value in got] == [3, -3, 2, -2, 2, -2]


def test_decimal_sums_past_128_bits_come_back() -> None:
    wide = pa.decimal128(38, 0)
    top, bottom = Decimal(TOP), Decimal(-TOP)
    table = pl.DataFrame(
        {"d": [top] * 5 + [bottom] * 4, "k": [0] * 9}, schema_overrides={"d": pl.Decimal(38, 0)}
    )
    total = fold("total", "sum", ("d",), (wide,), wide, None)
    assert total.finish(table.group_by("k").agg(total.lift())).to_list() == [top]
    with pytest.raises(Overflow):
        total.finish(table.head(2).group_by("k").agg(total.lift()))


def test_a_sum_must_fit_the_type_of_the_result() -> None:
    narrow = pa.decimal128(3, 2)
    total = fold("total", "sum", ("d",), (narrow,), narrow, None)
    table = pl.DataFrame({"d": [Decimal("9.99"), Decimal("0.01")]}, schema={"d": pl.Decimal(3, 2)})
    assert total.finish(table.head(1).select(total.lift())).to_list() == [Decimal("9.99")]
    with pytest.raises(Overflow):
        total.finish(table.select(total.lift()))


def test_ranks_of_floats() -> None:
    codes, values = ranked(pl.Series([float("nan"), 0.0, -0.0, None, float("inf"), float("nan")]))
    assert codes.tolist() == [2, 0, 0, 3, 1, 2]
    assert str(values.to_list()) in ("[0.0, inf, nan, None]", "[-0.0, inf, nan, None]")


def test_ranks_of_texts_go_by_bytes() -> None:
    codes, values = ranked(pl.Series(["b", None, "\U0001f600", "a", "\uffff", "b"]))
    assert codes.tolist() == [1, 4, 3, 0, 2, 1]
    assert values.to_list() == ["a", "b", "\uffff", "\U0001f600", None]
