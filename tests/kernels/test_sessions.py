"""Runs of what reaches into each other, against a plain loop."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.sessions import cut_runs, runs_of

Instant = tuple[int, int, int, bool]
"""Key, when, how far it reaches, whether it begins a run whatever comes before."""


def instants() -> st.SearchStrategy[list[Instant]]:
    one = st.tuples(st.integers(0, 2), st.integers(-5, 25), st.integers(1, 6), st.booleans())
    each = st.lists(one, max_size=14, unique_by=lambda i: i[:2]).map(sorted)
    return each.map(lambda found: [(key, at, at + gap, new) for key, at, gap, new in found])


@given(instants(), st.none() | st.integers(1, 9))
def test_runs_are_those_of_a_loop(found: list[Instant], most: int | None) -> None:
    keys, at, reach, new = (np.array([i[n] for i in found]) for n in range(4))
    first = np.array([i == 0 or keys[i] != keys[i - 1] or new[i] for i in range(len(found))], bool)
    runs = runs_of(first, at.astype(np.int64), reach.astype(np.int64))
    if most is not None:
        runs = cut_runs(runs, at.astype(np.int64), reach.astype(np.int64), most)
    assert runs.tolist() == by_loop(found, most)


def by_loop(found: list[Instant], most: int | None) -> list[int]:
    runs: list[int] = []
    key = begun = furthest = 0
    for this, at, reach, new in found:
        apart = not runs or this != key or new or at > furthest
        if apart or (most is not None and at >= begun + most):
            runs.append(runs[-1] + 1 if runs else 0)
            key, begun, furthest = this, at, reach
        else:
            runs.append(runs[-1])
            furthest = max(furthest, reach)
    return runs


def test_what_reaches_to_the_very_end_of_time_is_no_overflow() -> None:
    at = np.array([0, 2**62], dtype=np.int64)
    reach = np.array([2**62 - 1, 2**62 + 5], dtype=np.int64)
    assert runs_of(np.array([True, False]), at, reach).tolist() == [0, 1]
