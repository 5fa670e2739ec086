"""Draws of steps whose rows have weights, for group windows."""

from __future__ import annotations

from hypothesis import strategies as st

from sqlwin.instants import MINUTE, SECOND
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.policies import Early, Late
from tests.support.operators.aggregators import aggregator
from tests.support.operators.changelogs import steps
from tests.support.operators.groups import windows


@st.composite
def operators(draw: st.DrawFn) -> WindowAggregator:
    keys = draw(st.sampled_from([(), ("k",), ("k", "b")]))
    subsets = [keys, keys[:1], ()]
    sets = draw(st.lists(st.sampled_from(subsets), unique=True) if keys else st.just([]))
    return aggregator(
        draw(windows()),
        keys,
        draw(st.sampled_from([("n", "total"), ("total", "least"), ("values",), ()])),
        tuple(sets),
        draw(st.booleans()),
        weighted=True,
        early=draw(st.sampled_from([None, *Early])),
        early_period=20 * SECOND,
        early_rows=2,
        late=draw(st.sampled_from(Late)),
        timeout=draw(st.sampled_from([None, 25 * SECOND])),
        retain=draw(st.sampled_from([None, 0, MINUTE, 5 * MINUTE])),
        retain_rows=draw(st.sampled_from([None, None, 1, 2, 4])),
    )


VALUES = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, None]), st.integers(0, 4))


STEPS = steps(
    VALUES,
    st.integers(0, 200).map(lambda n: n * SECOND),
    st.integers(0, 60).map(lambda n: n * SECOND),
    st.integers(0, 30).map(lambda n: n * SECOND),
)
