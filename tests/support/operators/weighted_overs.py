"""Draws of steps whose rows have weights, for OVER."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sqlwin.operators.over.operator import OverAggregator
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from tests.support.operators.changelogs import steps
from tests.support.operators.overs import (
    FUNCTIONS,
    PARTITIONS,
    calls,
    over,
    policies,
)


@st.composite
def operators(draw: st.DrawFn) -> OverAggregator:
    names = st.sampled_from(list(FUNCTIONS))
    policy: dict[str, Any] = {**draw(policies()), "weighted": True}
    if draw(st.sampled_from([True, False, False, False])):
        frame = Frame(Unit.RANGE, draw(st.sampled_from([None, 0, 2, 5])), 0)
        partition, chosen = draw(PARTITIONS), draw(st.lists(names, min_size=1, max_size=2))
        called = [(name, partition, frame) for name in chosen]
        return over(*called, per_instant=True, **policy)
    return over(*draw(calls()), **policy)


VALUES = st.tuples(
    st.sampled_from(["a", "a", "b", None]),
    st.sampled_from([1, None]),
    st.sampled_from([None, 1, 2, 3]),
)


STEPS = steps(VALUES, st.integers(-6, 8), st.sampled_from([0, 0, 1, 2, 3, 5, 9]), st.integers(0, 4))
