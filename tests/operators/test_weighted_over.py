"""Rows that come, change and go: each call emits what the definitions emit of those there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.frames import Frame, Unit
from sqlwin.operators.over.operator import OverAggregator
from sqlwin.policies import Late
from tests.support.operators.changelogs import Act, Step, agree
from tests.support.operators.overs import (
    COLUMNS,
    over,
    reach_of,
    specified,
)
from tests.support.operators.weighted_overs import STEPS, operators


@given(operators(), STEPS, st.booleans())
def test_each_call_emits_what_the_reference_emits(
    operator: OverAggregator, taken: list[Step], restarts: bool
) -> None:
    retain = operator.policy.retain
    reach = reach_of(operator)
    agree(operator, specified(operator), COLUMNS, taken, restarts, retain, ahead=True, reach=reach)


@pytest.mark.parametrize("at", [-4, -2, 1])
def test_a_late_row_that_comes_at_another_instant_is_due_when_it_was(at: int) -> None:
    call = ("count", ("k",), Frame(Unit.RANGE, None, 0))
    operator = over(call, late=Late.EVERY, late_period=6, retain=None, weighted=True)
    taken = [
        Step((), 9, 4, False),
        Step((Act("insert", 0, ("a", 1, 2), -3, True),), 0, 0, False),
        Step((Act("replace", 0, ("b", 1, 2), at, False),), 0, 2, False),
        Step((), 3, 6, False),
    ]
    agree(operator, specified(operator), COLUMNS, taken, False, ahead=True)
