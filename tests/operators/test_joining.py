"""Joins: step by step what the definition says, for any rows, cuts, windows and policies."""

from __future__ import annotations

from collections import Counter

import polars as pl
from hypothesis import assume, given
from hypothesis import strategies as st

from sqlwin.instants import START
from sqlwin.schema import EMIT
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinWindow
from tests.support.operators.driving import records
from tests.support.operators.joining import agree
from tests.support.operators.joins import (
    KINDS,
    Fast,
    Joined,
    Source,
    Step,
    asofs,
    join,
    joins,
    steps,
    windows,
)


@given(joins(), steps(), st.booleans())
def test_each_call_of_a_window_join_emits_what_the_definition_emits(
    operator: Fast, taken: list[Step], restarts: bool
) -> None:
    agree(operator, taken, restarts)


@given(windows(), st.sampled_from(KINDS), steps(), st.sampled_from([1, 2]))
def test_retain_rows_loses_nothing_of_rows_that_are_on_time_in_windows_with_ends(
    match: JoinWindow, kind: str, taken: list[Step], rows: int
) -> None:
    assume(match.unit is Unit.RANGE and None not in (match.low, match.high))
    every, newest = (
        Joined(join(match, kind, retain=None, retain_rows=each)) for each in (None, rows)
    )
    source, watermark = Source(every.operator), 0
    for step in taken:
        left, right = source.batch(step, watermark, every.stores.watermark)
        watermark += step.watermark
        found, expected = (
            records(each.step(left, right, 0, watermark), [*each.operator.output])
            for each in (newest, every)
        )
        assert found == expected


@given(asofs(), steps(), st.booleans())
def test_each_call_of_an_asof_join_emits_what_the_definition_emits(
    operator: Fast, taken: list[Step], restarts: bool
) -> None:
    agree(operator, taken, restarts)


@given(st.sampled_from([">=", ">"]), st.sampled_from(KINDS[:2]), steps(), st.sampled_from([1, 2]))
def test_of_rows_that_it_takes_an_asof_join_with_retain_rows_emits_all_that_is_full_and_no_others(
    op: str, kind: str, taken: list[Step], rows: int
) -> None:
    """Looking back. A left row that was evicted is corrected no more."""
    every, newest = (Joined(join(AsOf(op), kind, retain=None, retain_rows=n)) for n in (None, rows))
    source, watermark = Source(every.operator), 0
    for step in taken:
        left, right = newest.unexpired(source.batch(step, watermark, START))
        watermark += step.watermark
        found, expected = (each.step(left, right, 0, watermark) for each in (newest, every))
        full = [each.filter(pl.col(EMIT) == "full") for each in (found, expected)]
        columns = [*every.operator.output]
        assert records(full[0], columns) == records(full[1], columns)
        assert not Counter(records(found, columns)) - Counter(records(expected, columns))
