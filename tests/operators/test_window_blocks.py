"""Long windows read as blocks of panes: the same emissions as of the panes themselves."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import MINUTE, SECOND
from sqlwin.operators.windows import blocks
from sqlwin.operators.windows.blocks import blocks_of
from sqlwin.policies import Late
from sqlwin.windows import Unit
from sqlwin.windows.group import Cumulate, Hop
from tests.support.operators.aggregators import COLUMNS, aggregator
from tests.support.operators.driving import Driven, records, rows_of

Step = tuple[list[tuple[str, int]], int]
HOPS = st.sampled_from([(12, 1), (12, 2), (10, 4), (9, 3)])
"""Minutes of a window, and from one to the next."""


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Rows as keys and minutes about the watermark, late ones too, and minutes that it moves."""
    row = st.tuples(st.sampled_from("ab"), st.integers(-14, 4))
    found = draw(st.lists(st.tuples(st.lists(row, max_size=6), st.integers(0, 4)), max_size=12))
    return [([("a", 0), ("b", 3)], 12), *found]


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "retain": draw(st.sampled_from([None, 0, 5 * MINUTE])),
        "retain_rows": draw(st.sampled_from([None, None, 3])),
        "late": draw(st.sampled_from(Late)),
    }


@given(HOPS, steps(), st.booleans(), policies())
def test_windows_of_blocks_are_those_of_panes(
    hop: tuple[int, int], taken: list[Step], restarts: bool, policy: dict[str, Any]
) -> None:
    def emitted() -> list[list[tuple[object, ...]]]:
        window = Hop(hop[0] * MINUTE, hop[1] * MINUTE, 20 * SECOND)
        operator = aggregator(window, ("k",), ("n", "total"), **policy)
        driven, out, watermark = Driven(operator, restarts), [], 0
        for at, (minutes, moved) in enumerate(taken):
            rows = [
                (key, None, 7 * at + n, max(watermark + minute, 0) * MINUTE, 0, 7 * at + n)
                for n, (key, minute) in enumerate(minutes)
            ]
            watermark += moved
            found = driven.step(rows_of(COLUMNS, *rows), at, watermark * MINUTE, at % 5 == 4)
            out.append(records(found, list(operator.output)))
        return out

    with patch.multiple(blocks, LONG=1, IN_A_WINDOW=4):
        of_blocks = emitted()
    assert of_blocks == emitted()


@pytest.mark.parametrize(
    ("window", "weighted"),
    [
        (Hop(63 * MINUTE, MINUTE), False),
        (Hop(64 * MINUTE, MINUTE), True),
        (Hop(64, 1, unit=Unit.ROWS), False),
        (Cumulate(64 * MINUTE, MINUTE), False),
    ],
)
def test_other_windows_have_no_blocks(window: object, weighted: bool) -> None:
    assert blocks_of(Hop(64 * MINUTE, MINUTE), (), (), False) is not None
    assert blocks_of(window, (), (), weighted) is None
