"""Bitmaps of BITMAP_CONSTRUCT_AGG, BITMAP_OR_AGG and BITMAP_AND_AGG, as Spark's."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from sqlwin.kernels.folds import fold

ONES = "FF" * 4096


def aggregated(name: str, values: list[Any]) -> str:
    """In parts of one value, merged; a NULL among them."""
    type_ = pa.int64() if name == "bitmap_construct_agg" else pa.binary()
    made = fold("out", name, ("x",), (type_,), pa.binary(), None)
    rows = pl.DataFrame({"x": pl.from_arrow(pa.array([*values, None], type_))})
    parts = rows.with_row_index("part").group_by("part").agg(made.lift())
    (found,) = made.finish(parts.select(made.merge())).to_list()
    assert made.finish(rows.select(made.lift())).to_list() == [found]
    return bytes(found).hex().upper()


@pytest.mark.parametrize(
    ("name", "values", "starts"),
    [
        ("bitmap_construct_agg", [0, 1, 2], "070000"),
        ("bitmap_construct_agg", [0, 0, 0], "010000"),
        ("bitmap_construct_agg", [*range(9)], "FF010000"),
        ("bitmap_or_agg", [b"\x10", b"\x20", b"\x40"], "700000"),
        ("bitmap_or_agg", [b"\x10", b"\x10", b"\x10"], "100000"),
        ("bitmap_or_agg", [b"\x70\xff"], "70FF00"),
        ("bitmap_or_agg", [b""], "000000"),
        ("bitmap_and_agg", [b"\xf0", b"\x70", b"\x30"], "300000"),
        ("bitmap_and_agg", [b"\xff", b"\xff", b"\xff"], "FF0000"),
        ("bitmap_and_agg", [b"\x70\xff"], "70FF00"),
        ("bitmap_and_agg", [b"", b"\xff"], "000000"),
    ],
)
def test_bits_of_spark(name: str, values: list[Any], starts: str) -> None:
    """Most are the examples that Spark describes its functions by."""
    assert aggregated(name, values) == starts.ljust(2 * 4096, "0")


def test_the_last_bit_and_what_is_beyond() -> None:
    last = "00" * 4095 + "80"
    assert aggregated("bitmap_construct_agg", [32767]) == last
    assert aggregated("bitmap_or_agg", [b"\xff" * 5000]) == ONES
    assert aggregated("bitmap_and_agg", [b"\xff" * 5000, bytes.fromhex(last)]) == last


def test_of_nothing() -> None:
    assert aggregated("bitmap_construct_agg", []) == aggregated("bitmap_or_agg", []) == "00" * 4096
    assert aggregated("bitmap_and_agg", []) == ONES
