"""Places in an order, and WindowRank by definition: groups of one window placed among each other.

Worked example, ORDER BY total DESC: totals 7, 7, 5 have row_number 1, 2, 3, rank 1, 1, 3,
dense_rank 1, 1, 2. Of equal ones that row_number must tell apart, the keys decide,
NULL first.

>>> from types import SimpleNamespace
>>> greatest_first = SimpleNamespace(column="n", descending=True, nulls_last=True)
>>> rows = [{"n": 5}, {"n": 7}, {"n": 7}]
>>> [places(rows, (greatest_first,), f) for f in ("row_number", "rank", "dense_rank")]
[[3, 1, 2], [3, 1, 1], [2, 1, 1]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlwin.schema import POSITION, Order
from tests.reference.definitions.groups import GROUPING, Groups
from tests.reference.definitions.window import Window, key_text
from tests.reference.kernels.aggregates import ordered
from tests.reference.kernels.exact import ascending
from tests.reference.kernels.rows import Row


def places(rows: Sequence[Row], order: Sequence[Order], function: str) -> list[int]:
    """Of each row its row_number, rank or dense_rank from 1; ties by the order of `rows`."""
    marked = [{**row, "__at": at} for at, row in enumerate(rows)]
    sorted_rows = ordered(marked, order)
    keys = [tuple(ascending(row[by.column]) for by in order) for row in sorted_rows]
    found = {
        "row_number": [n + 1 for n in range(len(keys))],
        "rank": [keys.index(key) + 1 for key in keys],
        "dense_rank": [list(dict.fromkeys(keys)).index(key) + 1 for key in keys],
    }[function]
    at = {row["__at"]: place for row, place in zip(sorted_rows, found, strict=True)}
    return [at[n] for n in range(len(rows))]


@dataclass(frozen=True)
class Ranked:
    """WindowRank: a name for the place, its function and order, and within which keys."""

    groups: Groups
    name: str
    function: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]

    def __call__(self, taken: list[Row]) -> list[Window]:
        windows = self.groups(taken)
        return [replace(w, family=self._family(w), placed=self.placed) for w in windows]

    def _family(self, window: Window) -> str:
        bounds = tuple(name for name in ("window_start", "window_end") if name in window.keys)
        return key_text(window.keys, (*self.partition, *bounds))

    def placed(self, family: dict[str, Row]) -> dict[str, Row]:
        """The values of a whole family, its places among them."""
        place = POSITION if self.groups.per_row else ()
        names = [*place, *self.groups.keys, *((GROUPING,) if self.groups.sets else ())]
        in_order = sorted(family, key=lambda at: [ascending(family[at][key]) for key in names])
        found = places([family[at] for at in in_order], self.order, self.function)
        return {
            at: {**family[at], self.name: each} for at, each in zip(in_order, found, strict=True)
        }
