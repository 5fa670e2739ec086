"""When runs are merged: by size, and always the newest ones.

A merge takes a run and *all* newer ones, so the result may stand in their place
and `combine` still sees older before newer. Runs are merged only when there is
one too many; then each older run joins in that is at most twice what is being
merged already.

With at most 3 runs, flushes of 1 row each leave runs of 1; 1 1; 1 1 1; then a
fourth is one too many and all join: 4; 4 1; 4 1 1; 7; 7 1; 7 1 1; and now 7 is
more than twice 3 and stays: 7 3; 7 3 1; 12. A run that joins ends up in one at
least half as large again. Only the newest run may be rewritten for less, when
all older ones are far larger: that is the price of a bound on what a read opens.
"""

from __future__ import annotations


def merge_from(rows: list[int], most: int) -> int:
    """The first run to be merged with all after it, so that at most `most` remain.

    rows: of each run, oldest first. The last run's own place: nothing to merge.

    >>> merge_from([1, 1, 1], 3), merge_from([1, 1, 1, 1], 3), merge_from([7, 1, 1, 1], 3)
    (2, 0, 1)
    """
    if len(rows) <= most:
        return len(rows) - 1
    first = most - 1
    while first > 0 and rows[first - 1] <= 2 * sum(rows[first:]):
        first -= 1
    return first
