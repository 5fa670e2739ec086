"""Sessions of rows that come, change and go: each call emits what the definitions emit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.plan.ir.nodes import WindowAggregate, WindowRank
from tests.support.operators.changelogs import Step, agree
from tests.support.operators.sessions import OWN
from tests.support.operators.weighted_sessions import STEPS, Window, both, plans, ranked


@given(plans(), STEPS, st.booleans(), st.booleans())
def test_each_call_emits_what_the_reference_emits(
    parsed: WindowAggregate, taken: list[Step], update_before: bool, restarts: bool
) -> None:
    compare(parsed, taken, update_before, restarts)


@given(ranked(), STEPS, st.booleans(), st.booleans())
def test_ranks_among_them_too(
    parsed: WindowRank, taken: list[Step], update_before: bool, restarts: bool
) -> None:
    compare(parsed, taken, update_before, restarts)


def compare(parsed: Window, taken: list[Step], update_before: bool, restarts: bool) -> None:
    operator, defined = both(parsed, update_before)
    agree(operator, defined, OWN, taken, restarts, defined.policy.retain)
