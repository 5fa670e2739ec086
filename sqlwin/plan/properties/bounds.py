"""Sums of bounds in microseconds, of which some are none: a delay, the end of a window.

>>> plus(5, 1), plus(5, None), most([5, 1]), most([5, None])
(6, None, 5, None)
"""

from __future__ import annotations

from collections.abc import Iterable


def most(delays: Iterable[int | None]) -> int | None:
    found = list(delays)
    return None if None in found else max((d for d in found if d is not None), default=None)


def plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
