"""Rows that come, change and go: each call emits what the definitions emit of those there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.operators.over.operator import OverAggregator
from tests.support.operators.changelogs import Step, agree
from tests.support.operators.overs import (
    COLUMNS,
    specified,
)
from tests.support.operators.weighted_overs import STEPS, operators


@given(operators(), STEPS, st.booleans())
def test_each_call_emits_what_the_definitions_emit(
    operator: OverAggregator, taken: list[Step], restarts: bool
) -> None:
    retain = operator.policy.retain
    agree(operator, specified(operator), COLUMNS, taken, restarts, retain, ahead=True)
