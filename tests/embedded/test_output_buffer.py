"""What a query has said is folded as it comes, and the fold is the same at any pile."""

from __future__ import annotations

import polars as pl
import pytest

from sqlwin.embedded.output_buffer import OutputBuffer

SCHEMA = {"v": pl.Int64, "op": pl.String, "revision": pl.Int32, "row_key": pl.String}
EMISSIONS = [
    (1, "+I", 0, "a"),
    (2, "+I", 0, "b"),
    (3, "+U", 1, "a"),
    (2, "-D", 1, "b"),
    (4, "+U", 2, "a"),
    (5, "+I", 2, "b"),
    (5, "-D", 3, "b"),
]


@pytest.mark.parametrize("max_unfolded", [1, 2, 100])
def test_how_often_outputs_are_folded_changes_nothing(max_unfolded: int) -> None:
    outputs = OutputBuffer(pl.DataFrame(schema=SCHEMA), max_unfolded)
    for row in EMISSIONS:
        outputs.add(pl.DataFrame([row], SCHEMA, orient="row"))
        assert outputs._unfolded_rows <= max(max_unfolded, 2)
    assert outputs.last()["v"].to_list() == [4]
    assert outputs.fresh().rows() == EMISSIONS
    outputs.drop(2)
    assert outputs.fresh().rows() == EMISSIONS[2:]
    outputs.drop()
    assert outputs.fresh().is_empty()
