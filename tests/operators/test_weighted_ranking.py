"""Ranks in windows of rows that come, change and go: each call emits what is defined."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.operators.windows.aggregator import WindowAggregator
from tests.support.operators.changelogs import Step, agree
from tests.support.operators.ranking import COLUMNS
from tests.support.operators.weighted_ranking import STEPS, operators, specified


@given(operators(), STEPS, st.booleans())
def test_each_call_emits_what_the_reference_emits(
    operator: WindowAggregator, taken: list[Step], restarts: bool
) -> None:
    agree(operator, specified(operator), COLUMNS, taken, restarts)
