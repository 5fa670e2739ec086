"""Many calls over many groups at once; in halves where that raises, down to one of each.

>>> def quotients(calls, groups):
...     return {(call, group): call // group for call in calls for group in groups}
>>> found = by_halves([6, 8], [0, 2], quotients, ZeroDivisionError)
>>> found[6, 2], found[8, 2], found[8, 0]
(3, 4, {'!': 'integer division or modulo by zero'})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from tests.functions.canonical import Json

T = TypeVar("T")

Cells = dict[tuple[str, int], Json]


def by_halves(
    calls: Sequence[str],
    groups: Sequence[int],
    values: Callable[[Sequence[str], Sequence[int]], Cells],
    raised: type[Exception],
) -> Cells:
    """`values` of all; what is `raised` for one call and one group is that cell's error."""
    if not calls or not groups:
        return {}
    try:
        return values(calls, groups)
    except raised as failure:
        if len(calls) == len(groups) == 1:
            return {(calls[0], groups[0]): {"!": str(failure).split("\n")[0]}}
    if len(calls) > 1:
        parts = [(half, groups) for half in _halves(calls)]
    else:
        parts = [(calls, half) for half in _halves(groups)]
    return {
        cell: value for part in parts for cell, value in by_halves(*part, values, raised).items()
    }


def _halves(of: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    middle = len(of) // 2
    return of[:middle], of[middle:]
