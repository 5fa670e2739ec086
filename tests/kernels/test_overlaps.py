"""Overlapping spans, against all with all."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.overlaps import overlapping

Spans = list[tuple[str | None, int, int]]
LENGTHS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6), st.integers(1, 2)), max_size=5)


def spans(key: str | None, lengths: list[tuple[int, int, int]]) -> Spans:
    """Apart by the first number, as long as the second, there as often as the third."""
    ends = accumulate(apart + long for apart, long, _ in lengths)
    return [
        (key, end - long, end)
        for end, (_, long, often) in zip(ends, lengths, strict=True)
        for _ in range(often)
    ]


SIDES = st.builds(
    lambda *parts: [span for key, own in zip("ab", parts, strict=False) for span in spans(key, own)]
    + spans(None, parts[2]),
    LENGTHS, LENGTHS, LENGTHS,
).flatmap(st.permutations)  # fmt: skip


def frame(rows: list[Any]) -> pl.DataFrame:
    schema = {"k": pl.String, "from": pl.Int64, "until": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


@given(SIDES, SIDES, st.sampled_from([1, 3, 1000]))
def test_each_pair_that_overlaps_is_found_once(left: Spans, right: Spans, most: int) -> None:
    ends = ["k"], ["k"], "from", "until"
    chunks = overlapping(frame(left), frame(right), *ends, most)
    found = [pair for a, b in chunks for pair in zip(a.tolist(), b.tolist(), strict=True)]
    expected = [
        (n, m)
        for n, (key, begin, end) in enumerate(left)
        for m, (other, first, last) in enumerate(right)
        if key is not None and key == other and begin < last and first < end
    ]
    assert sorted(found) == expected
