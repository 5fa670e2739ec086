"""What a query has said is folded as it comes, and the fold is the same at any pile."""

from __future__ import annotations

import polars as pl
import pytest

from sqlwin.embedded.board import Board

SCHEMA = {"v": pl.Int64, "op": pl.String, "revision": pl.Int32, "row_key": pl.String}
TOLD = [
    (1, "+I", 0, "a"),
    (2, "+I", 0, "b"),
    (3, "+U", 1, "a"),
    (2, "-D", 1, "b"),
    (4, "+U", 2, "a"),
    (5, "+I", 2, "b"),
    (5, "-D", 3, "b"),
]


@pytest.mark.parametrize("pile", [1, 2, 100])
def test_piles_change_nothing(pile: int) -> None:
    board = Board(pl.DataFrame(schema=SCHEMA), pile)
    for row in TOLD:
        board.add(pl.DataFrame([row], SCHEMA, orient="row"))
        assert board._piled <= max(pile, 2)
    assert board.last()["v"].to_list() == [4]
    assert board.fresh().rows() == TOLD
    board.drop(2)
    assert board.fresh().rows() == TOLD[2:]
    board.drop()
    assert board.fresh().is_empty()
