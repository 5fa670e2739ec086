"""Exact sums: integers and decimals as units of their last digit, in 128 bits.

A decimal of scale s is its value times 10**s, an integer: its units. Units of up
to 26 digits are summed in one Int128 lane: 10**12 rows cannot fill it. Wider
ones are cut into `high * 2**64 + low`, 0 <= low < 2**64, and the two lanes are
summed apart, so a total that left 38 digits on its way and came back is exact:
only the finished value must fit, whatever the order of the merges.

Lanes are kept as DECIMAL(38, 0), for Arrow has no Int128. Polars' own sums of
DECIMAL(38, s) in a group-by wrap silently, which is why they are not used bare.

>>> units = pl.Series([150, -5], dtype=pl.Int128)
>>> fitted(units, pa.decimal128(4, 2)).to_list()
[Decimal('1.50'), Decimal('-0.05')]
>>> fitted(units, pa.decimal128(2, 2))
Traceback (most recent call last):
    ...
sqlwin.kernels.exact.Overflow: row 0: the exact value does not fit decimal128(2, 2)
"""

from __future__ import annotations

import polars as pl
import pyarrow as pa

LANE = pl.Decimal(38, 0)
SPLIT = 2**64
ONE_LANE_DIGITS = 26


class Overflow(Exception):
    """A finished value does not fit its type; `row` counts the finished rows from 0.

    bad: which of all rows do not, as far as was looked.
    """

    def __init__(self, row: int, why: str, bad: pl.Series) -> None:
        super().__init__(f"row {row}: {why}")
        self.row, self.bad = row, bad


def i128(value: int) -> pl.Expr:
    return pl.lit(value, dtype=pl.Int128)


def low_of(units: pl.Expr) -> pl.Expr:
    return units & i128(SPLIT - 1)


def high_of(units: pl.Expr) -> pl.Expr:
    return units // i128(SPLIT)  # floors, so that low is never negative


def joined(high: pl.Series, low: pl.Series, type_: pa.DataType) -> pl.Series:
    """high * 2**64 + low, Int128; Overflow where that has more than 38 digits."""
    high, low = carried(high, low)
    limit = 10**38 // SPLIT + 2  # one more than needed above: low adds to a negative high
    refuse(high.to_frame("h").select(_beyond("h", limit)).to_series(), type_)
    return _select(h=high, low=low, out=pl.col("h") * i128(SPLIT) + pl.col("low"))


def carried(high: pl.Series, low: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The same total with 0 <= low < 2**64 again, after many lows were added up."""
    up = _select(h=high, low=low, out=pl.col("h") + high_of(pl.col("low")))
    return up, low.to_frame("low").select(low_of(pl.col("low"))).to_series()


def fitted(units: pl.Series, type_: pa.DataType) -> pl.Series:
    """Units (Int128) as values of an int64 or decimal128 type; Overflow(first row) beyond it."""
    if pa.types.is_decimal(type_):
        refuse(units.to_frame("u").select(_beyond("u", 10**type_.precision)).to_series(), type_)
        return _relabelled(units, type_)
    narrow = units.cast(pl.Int64, strict=False)
    if narrow.null_count() == units.null_count():
        return narrow
    refuse(narrow.is_null() & units.is_not_null(), type_)
    return narrow


def mean_half_up(
    high: pl.Series, low: pl.Series, count: pl.Series, grow: int, type_: pa.DataType
) -> pl.Series:
    """(high * 2**64 + low) * 10**grow / count, rounded half away from zero, exact.

    Long division, high digit first: the sum itself may be wider than 128 bits, the
    mean is not. count: Int64, NULL where the mean is NULL. 0 <= grow <= 18.
    """
    high, low = carried(high, low)
    n, ten = pl.col("n"), i128(10**grow)
    frame = pl.DataFrame({"h": high, "low": low, "n": count.cast(pl.Int128)})
    frame = frame.with_columns(q=pl.col("h") // n, t=pl.col("h") % n * i128(SPLIT) + pl.col("low"))
    frame = frame.with_columns(
        q=pl.col("q") * i128(SPLIT) + pl.col("t") // n, r=pl.col("t") % n * ten
    )
    limit = 10 ** (type_.precision - grow) + 1
    refuse(frame.select(_beyond("q", limit)).to_series(), type_)
    # q is floored, so r / n is what is left in either sign; a tie goes away from zero
    twice, n2 = pl.col("r") * i128(2), n * i128(2)
    below = pl.when(pl.col("q") < i128(0)).then(i128(0) - (n - twice) // n2)
    rounded = below.otherwise((twice + n) // n2)
    return fitted(frame.select(pl.col("q") * ten + rounded).to_series(), type_)


def refuse(bad: pl.Series, type_: pa.DataType) -> None:
    """Overflow at the first row where `bad` is true."""
    if bad.any():
        bad = bad.fill_null(False)
        row = bad.arg_max()
        assert row is not None
        raise Overflow(row, f"the exact value does not fit {type_}", bad)


def _beyond(name: str, limit: int) -> pl.Expr:
    return (pl.col(name) >= i128(limit)) | (pl.col(name) <= i128(-limit))


def _select(out: pl.Expr, **columns: pl.Series) -> pl.Series:
    return pl.DataFrame(columns).select(out).to_series()


def _relabelled(units: pl.Series, type_: pa.DataType) -> pl.Series:
    """The same 16 bytes a value, read with another scale; a cast would multiply."""
    lane = units.cast(LANE).to_arrow()
    buffers = pa.Array.from_buffers(type_, len(lane), lane.buffers(), offset=lane.offset)
    return pl.Series(units.name, buffers)
