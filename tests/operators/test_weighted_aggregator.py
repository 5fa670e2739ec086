"""Rows that come, change and go: each call emits what the definitions emit of those there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.operators.windows.aggregator import WindowAggregator
from tests.support.operators.aggregators import COLUMNS
from tests.support.operators.changelogs import Step, agree
from tests.support.operators.groups import specified
from tests.support.operators.weighted import STEPS, operators


@given(operators(), STEPS, st.booleans())
def test_each_call_emits_what_the_reference_emits(
    operator: WindowAggregator, taken: list[Step], restarts: bool
) -> None:
    agree(operator, specified(operator), COLUMNS, taken, restarts, operator.policy.retain)
