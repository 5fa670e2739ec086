"""Draws of windows with small sizes, steps and offsets."""

from __future__ import annotations

from hypothesis import strategies as st

from sqlwin.windows.group import Cumulate, Hop

OFFSETS = st.integers(-7, 7)


def timed() -> st.SearchStrategy[Hop | Cumulate]:
    hops = st.builds(
        lambda a, more, o: Hop(a + more, a, o), st.integers(1, 9), OFFSETS.map(abs), OFFSETS
    )
    runs = st.builds(
        lambda s, n, o: Cumulate(s * n, s, o), st.integers(1, 6), st.integers(1, 5), OFFSETS
    )
    return hops | runs
