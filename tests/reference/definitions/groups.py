"""WindowAggregate by definition: rows are put into every window that holds them, once a set.

Worked example: GROUP BY GROUPING SETS ((k), ()) over TUMBLE. A row of key a in [0, 60)
makes two windows, `["a",0,0,60]` of the first set and `[null,1,0,60]` of the second;
their third part is GROUPING_ID, whose highest bit is the first key's, set where it
is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlwin.instants import format_instant
from sqlwin.schema import PART, POSITION, SEQ, TS
from sqlwin.windows import Unit
from sqlwin.windows.group import Aligned, CalendarWindow, Cumulate, GroupWindow, Whole
from sqlwin.windows.session import Session
from tests.reference.definitions.sessions import closed_at, placed
from tests.reference.definitions.values import (
    NUMBER,
    Value,
    instant,
    json_array,
    last_numbers,
    numbered,
)
from tests.reference.definitions.window import (
    Window,
    by_position,
    key_text,
    position,
    takes_part,
)
from tests.reference.kernels.rows import Row
from tests.reference.kernels.sessions import Span
from tests.reference.kernels.windows import windows_holding

GROUPING = "__grouping"


@dataclass(frozen=True)
class Groups:
    """Fields as of WindowAggregate. buckets: the keys within which RETAIN n ROWS counts.

    partition: of a session, its session key; other keys group the rows inside it.
    per_row: every row is a group of its own; its position comes before its keys. ordered:
    rows are numbered by event time.
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
    ordered: bool = False

    def __call__(self, taken: list[Row]) -> list[Window]:
        rows = numbered(by_position(taken) if self.ordered else taken, self._counted)
        counts = last_numbers(rows, self._counted)
        members: dict[tuple[str, Span], list[Row]] = defaultdict(list)
        groups: dict[str, dict[str, Any]] = {}
        taking = [row for row in rows if takes_part(row, self.where)]
        for group, row, held_by in self._placed(taking):
            name = key_text(group, self._names)
            groups.setdefault(name, group)
            for span in held_by:
                members[name, span].append(row)
        return [
            self._window(name, span, groups[name], self._ordered(held), counts)
            for (name, span), held in sorted(members.items(), key=_by_end)
            if self._there(span, held)
        ]

    def _there(self, span: Span, held: list[Row]) -> bool:
        """Of CUMULATE with emitOnlyOnUpdate: whether one of the rows is in the last step."""
        window = self.window
        if not (isinstance(window, Cumulate | CalendarWindow) and window.only_on_update):
            return True
        return any(span.end == min(end for _, end in aligned(row[TS], window)) for row in held)

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
    def _counted(self) -> tuple[str, ...]:
        """Within which keys messages are numbered: the gap of a session is messages of others."""
        return () if isinstance(self.window, Session) else self.partition

    def _placed(self, rows: list[Row]) -> Iterable[tuple[dict[str, Any], Row, list[Span]]]:
        """Each row in each of its groups, with the windows there that hold it."""
        for kept, number in self._sets():
            for row, held_by in self._held(rows, kept):
                yield self._group(row, kept, number), row, held_by

    def _held(self, rows: list[Row], kept: tuple[str, ...]) -> Iterable[tuple[Row, list[Span]]]:
        """kept: the keys of a set, which has sessions of its own."""
        if isinstance(self.window, Session):
            own = tuple(key for key in self.partition if key in kept)
            return placed(rows, self.window, own, self._measure)
        return [(row, aligned(row[self._measure], self.window)) for row in rows]

    @property
    def _names(self) -> tuple[str, ...]:
        place = POSITION if self.per_row else ()
        return (*place, *self.keys, *((GROUPING,) if self.sets else ()))

    def _sets(self) -> list[tuple[tuple[str, ...], int | None]]:
        """Which keys each has, and its number, None where there is but one, of all."""
        if not self.sets:
            return [(self.keys, None)]
        numbered = {grouping_id(self.keys, kept): kept for kept in self.sets}
        return [(kept, number) for number, kept in sorted(numbered.items())]

    def _group(self, row: Row, kept: tuple[str, ...], number: int | None) -> dict[str, Any]:
        """The keys of a row, NULL where the set leaves one out.

        Arguments are the row's own, so that MAX(k) is not NULL where k is left out.
        """
        if number is None:
            return {key: row[key] for key in self._names}
        return {**{key: row[key] if key in kept else None for key in self.keys}, GROUPING: number}

    def _window(
        self,
        name: str,
        span: Span,
        keys: dict[str, Any],
        held: list[Row],
        counts: dict[str, int],
    ) -> Window:
        bounds, reach = self._bounds(span), self._reach(span)
        counted = counts[key_text(held[0], self._counted)]
        place = self._place(span, keys, max(row[SEQ] for row in held))
        return Window(
            row_key=json_array([*self._known_by(keys), *bounds.values()]),
            full_at=lambda mark: self._full(span, counted if self.by_count else mark),
            frames=(frozenset(map(position, held)),),
            keys={**keys, **bounds},
            values=lambda: {
                **keys,
                **bounds,
                **{value.name: value.of(held, place) for value in self.values},
            },
            bucket=key_text(held[0], self.buckets),
            group=name,
            span=reach,
            last=reach.end - (not isinstance(self.window, Session)),
        )

    def _reach(self, span: Span) -> Span:
        """Of a session whose rows may get other numbers: as far as a row goes on with it."""
        window = self.window
        if not (self.ordered and isinstance(window, Session)) or window.gap is None:
            return span
        return Span(span.start, span.end + window.gap)

    def _full(self, span: Span, mark: int) -> bool:
        """mark: the watermark, or how many messages were counted."""
        if isinstance(self.window, Session):
            return closed_at(span, self.window, mark)
        # the n-th message fills a window of n: [1, 4) is full at message 3
        return span.end - 1 <= mark if self.by_count else span.end <= mark

    def _known_by(self, keys: dict[str, Any]) -> list[Any]:
        return [self.stream, keys[PART], keys[SEQ]] if self.per_row else list(keys.values())

    def _bounds(self, span: Span) -> dict[str, Any]:
        if isinstance(self.window, Whole):
            return {}
        start, end = span
        shown = (start, end) if self.by_count else (instant(start), instant(end))
        return dict(zip(("window_start", "window_end"), shown, strict=True))

    def _place(self, span: Span, keys: dict[str, Any], last: int) -> str:
        start, end = span
        if self.by_count and not self.ordered:
            return (
                f"the window from message {start}; its last row is {self.stream} at position {last}"
            )
        emitted = (start, end) if self.by_count else (format_instant(start), format_instant(end))
        bounds = f"[{emitted[0]}, {emitted[1]})"
        named = ", ".join(f"{key} = {value!r}" for key, value in keys.items())
        return (
            f"window {bounds}{' of ' + named if named else ''}; "
            f"the last row of the window is {self.stream} at position {last}"
        )


def aligned(at: int, window: Aligned) -> list[Span]:
    return [Span(start, end) for start, end in windows_holding(at, window)]


def _by_end(member: tuple[tuple[str, Span], list[Row]]) -> tuple[int, int, str]:
    (name, span), _ = member
    return span.end, span.start, name


def grouping_id(keys: tuple[str, ...], kept: tuple[str, ...]) -> int:
    """As SQL's GROUPING_ID.

    >>> grouping_id(("a", "b"), ("b",)), grouping_id(("a", "b"), ())
    (2, 3)
    """
    number = 0
    for key in keys:
        number = 2 * number + (key not in kept)
    return number
