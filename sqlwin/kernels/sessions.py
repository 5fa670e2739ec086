"""Which rows of a key make a session.

Whatever has a beginning and a *reach* may be put together: the instants of a key, each
reaching its gap further, or sessions that are known already. In order of beginning one
goes on with those before it iff it begins no later than the furthest of them reaches.

Worked example, a gap of 5, instants 0, 5, 11 of one key: 5 joins 0, which reaches to 5;
11 does not, for 5 reaches to 10.

>>> import numpy as np
>>> def ints(*values): return np.array(values, dtype=np.int64)
>>> one_key = np.array([True, False, False])
>>> runs_of(one_key, ints(0, 5, 11), ints(5, 10, 16)).tolist()
[0, 0, 1]
>>> cut_runs(ints(0, 0, 0), ints(0, 3, 5), ints(5, 8, 10), 5).tolist()  # MAX 5
[0, 0, 1]
"""

from __future__ import annotations

import numpy as np

from sqlwin.kernels.frames import Ints, Mask


def runs_of(first: Mask, begins: Ints, reach: Ints) -> Ints:
    """The number of each one's run, from 0, in order of (key, begins).

    first: where a key, or a part of it that joins nothing before it, begins.
    """
    if not len(begins):
        return begins.copy()
    apart = first.copy()
    apart[1:] |= begins[1:] > _furthest(first, reach)[:-1]
    runs: Ints = np.cumsum(apart, dtype=np.int64) - 1
    return runs


def cut_runs(runs: Ints, begins: Ints, reach: Ints, most: int) -> Ints:
    """The same with none longer than `most`, each part reaching as far as its own do.

    What begins `most` after its run did begins another; only runs so long are gone through.
    """
    changes = np.flatnonzero(np.diff(runs, prepend=-1))
    spans = np.maximum.reduceat(begins, changes) - begins[changes] if len(runs) else begins
    apart = np.zeros(len(runs), dtype=np.bool_)
    apart[changes] = True
    for run in changes[spans >= most]:
        last = np.searchsorted(runs, runs[run], side="right")
        starts = _parts(begins[run:last].tolist(), reach[run:last].tolist(), most)
        apart[run + np.array(starts, dtype=np.int64)] = True
    cut: Ints = np.cumsum(apart, dtype=np.int64) - 1
    return cut


def _parts(begins: list[int], reach: list[int], most: int) -> list[int]:
    """Where the parts of one run begin."""
    starts: list[int] = []
    end = furthest = begins[0] - 1
    for place, at in enumerate(begins):
        if at >= end or at > furthest:
            starts.append(place)
            end, furthest = at + most, at
        furthest = max(furthest, reach[place])
    return starts


def _furthest(first: Mask, reach: Ints) -> Ints:
    """The greatest reach so far, counted anew wherever `first` is true."""
    order = np.argsort(reach, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(reach))
    part = np.cumsum(first) * len(reach)
    furthest: Ints = reach[order][np.maximum.accumulate(rank + part) - part]
    return furthest
