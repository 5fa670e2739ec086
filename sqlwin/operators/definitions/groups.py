"""WindowAggregate by definition: rows are put into every window that holds them, once a set.

Worked example: GROUP BY GROUPING SETS ((k), ()) over TUMBLE. A row of key a in [0, 60)
makes two windows, `["a",0,0,60]` of the first set and `[null,1,0,60]` of the second;
their third part is GROUPING_ID, whose highest bit is the first key's, set where it
is left out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlwin.instants import format_instant
from sqlwin.kernels.reference.rows import Row
from sqlwin.kernels.reference.windows import windows_holding
from sqlwin.operators.definitions.values import (
    NUMBER,
    Value,
    instant,
    json_array,
    last_numbers,
    numbered,
)
from sqlwin.operators.definitions.window import Window, by_position, key_text, position
from sqlwin.schema import PART, POSITION, SEQ, TS
from sqlwin.windows import GroupWindow, Unit, Whole

GROUPING = "__grouping"


@dataclass(frozen=True)
class Groups:
    """Fields as of WindowAggregate. buckets: the keys within which RETAIN n ROWS counts.

    per_row: every row is a group of its own; its position comes before its keys.
    """

    stream: str
    window: GroupWindow
    keys: tuple[str, ...]
    values: tuple[Value, ...]
    partition: tuple[str, ...] = ()
    where: str | None = None
    sets: tuple[tuple[str, ...], ...] = ()
    buckets: tuple[str, ...] = ()
    per_row: bool = False

    def __call__(self, taken: list[Row]) -> list[Window]:
        rows = numbered(taken, self.partition)
        counts = last_numbers(rows, self.partition)
        members: dict[tuple[str, int, int], list[Row]] = defaultdict(list)
        groups: dict[str, dict[str, Any]] = {}
        for row in rows:
            if self.where is None or row[self.where] is True:
                for group in self._groups(row):
                    name = key_text(group, self._names)
                    groups.setdefault(name, group)
                    for start, end in windows_holding(row[self._measure], self.window):
                        members[name, start, end].append(row)
        return [
            self._window(start, end, groups[name], self._ordered(held), counts)
            for (name, start, end), held in sorted(members.items(), key=lambda m: m[0][::-1])
        ]

    @property
    def by_count(self) -> bool:
        return self.window.unit is Unit.ROWS

    def _ordered(self, held: list[Row]) -> list[Row]:
        """Messages are numbered already: in the order that FIRST and LAST go by."""
        return held if self.by_count else by_position(held)

    @property
    def _measure(self) -> str:
        return NUMBER if self.by_count else TS

    @property
    def _names(self) -> tuple[str, ...]:
        place = POSITION if self.per_row else ()
        return (*place, *self.keys, *((GROUPING,) if self.sets else ()))

    def _groups(self, row: Row) -> list[dict[str, Any]]:
        """The keys of a row, once for each set: NULL where the set leaves one out.

        Arguments are the row's own, so that MAX(k) is not NULL where k is left out.
        """
        if not self.sets:
            return [{key: row[key] for key in self._names}]
        return [
            {**{key: row[key] if key in kept else None for key in self.keys}, GROUPING: number}
            for number, kept in sorted({grouping_id(self.keys, s): s for s in self.sets}.items())
        ]

    def _window(
        self,
        start: int,
        end: int,
        keys: dict[str, Any],
        held: list[Row],
        counts: dict[str, int],
    ) -> Window:
        bounds = self._bounds(start, end)
        counted = counts[key_text(held[0], self.partition)]
        place = self._place(start, end, keys, max(row[SEQ] for row in held))
        return Window(
            row_key=json_array([*self._known_by(keys), *bounds.values()]),
            # the n-th message fills a window of n: [1, 4) is full at message 3
            full_at=lambda mark: end - 1 <= counted if self.by_count else end <= mark,
            frames=(frozenset(map(position, held)),),
            keys={**keys, **bounds},
            values=lambda: {
                **keys,
                **bounds,
                **{value.name: value.of(held, place) for value in self.values},
            },
            bucket=key_text(held[0], self.buckets),
        )

    def _known_by(self, keys: dict[str, Any]) -> list[Any]:
        return [self.stream, keys[PART], keys[SEQ]] if self.per_row else list(keys.values())

    def _bounds(self, start: int, end: int) -> dict[str, Any]:
        if isinstance(self.window, Whole):
            return {}
        shown = (start, end) if self.by_count else (instant(start), instant(end))
        return dict(zip(("window_start", "window_end"), shown, strict=True))

    def _place(self, start: int, end: int, keys: dict[str, Any], last: int) -> str:
        if self.by_count:
            return (
                f"the window from message {start}; its last row is {self.stream} at position {last}"
            )
        span = f"[{format_instant(start)}, {format_instant(end)})"
        named = ", ".join(f"{key} = {value!r}" for key, value in keys.items())
        return (
            f"window {span}{' of ' + named if named else ''}; "
            f"the last row of the window is {self.stream} at position {last}"
        )


def grouping_id(keys: tuple[str, ...], kept: tuple[str, ...]) -> int:
    """As SQL's GROUPING_ID.

    >>> grouping_id(("a", "b"), ("b",)), grouping_id(("a", "b"), ())
    (2, 3)
    """
    number = 0
    for key in keys:
        number = 2 * number + (key not in kept)
    return number
