"""When a window that was touched goes out, by its policy.

>>> policy = Policy(retain=None, early=Early.ROWS, early_rows=3)
>>> wait_early(policy, Waiting(1), 1, now=7), wait_early(policy, Waiting(2), 1, now=7)
(Waiting(rows=2, due=None), Waiting(rows=3, due=7))
>>> wait_late(policy, False, Waiting(1, due=9), 1, now=7)  # it is due sooner than at 10 s
Waiting(rows=2, due=9)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlwin.policies import Early, Late, Policy, end_of_period


@dataclass(frozen=True)
class Waiting:
    """Rows not emitted yet, and when they are to be; None: not before something else happens."""

    rows: int = 0
    due: int | None = None


def wait_early(
    policy: Policy, known: Waiting, rows: int, now: int, again: bool = False
) -> Waiting | None:
    """Of an open window that `rows` more came to; None: nothing is kept of it. again: it was
    emitted before."""
    if policy.early is None:
        return None
    rows += known.rows
    if policy.early_once and again:
        return Waiting(rows, known.due)
    enough = bool(policy.early_rows) and rows >= policy.early_rows
    if policy.early is Early.ROWS:
        return _since(known, rows, now if enough else None)
    period = policy.early_period if policy.early is Early.EVERY and not enough else 0
    return _since(known, rows, end_of_period(now, period))


def wait_late(policy: Policy, closed: bool, known: Waiting, rows: int, now: int) -> Waiting | None:
    """Of a late window; closed: it is really full, not only shown so."""
    rows += known.rows
    if policy.late is Late.NEVER:
        return None if closed else Waiting(rows)
    period = policy.late_period if policy.late is Late.EVERY else 0
    return _since(known, rows, end_of_period(now, period))


def together(waiting: Iterable[Waiting]) -> Waiting:
    """Of several windows as if it were one: no row is forgotten, the first that is due counts.

    >>> together([Waiting(2, due=9), Waiting(1), Waiting(1, due=7)])
    Waiting(rows=4, due=7)
    """
    known = Waiting()
    for each in waiting:
        known = _since(known, known.rows + each.rows, each.due)
    return known


def _since(known: Waiting, rows: int, due: int | None) -> Waiting:
    """What waits for the end of a period waits no longer for a further change."""
    return Waiting(rows, min((d for d in (known.due, due) if d is not None), default=None))
