"""OverAggregate by definition: every row has a frame for each call, found by looking at all.

A row is full at a watermark when all its frames are: one in RANGE that ends f after
the row, when the watermark is past its end and past the row; one in ROWS, when its
last row is there and the watermark is past it; a session, when the watermark is past its last row
by more than the gap; one without an end, never.

Rows of one instant are in the order of the call's further keys, then by position; peers are
those that are equal in all. Where the order does not begin with event time, all rows of a partition
are in the order of its keys, and no frame is ever full.

Worked example, COUNT(*) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING),
rows at 10, 20, 30, watermark 25: the row at 10 is full, its follower is at 20; the one at
20 is not, its follower at 30 may yet be another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlwin.schema import SEQ, TS, Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame
from tests.reference.definitions.values import (
    NUMBER,
    Value,
    instant,
    json_array,
    numbered,
    of_partition,
)
from tests.reference.definitions.window import MUTE, Window, by_position, key_text, position
from tests.reference.kernels.aggregates import ordered
from tests.reference.kernels.rows import Row
from tests.reference.kernels.windows import frame_of, groups_between, keyed_frame_of

Full = Callable[[int], bool]
Framed = tuple[Value, list[Row]]


@dataclass(frozen=True)
class OverCall:
    """keys: behind event time; where it is not timed, all there are."""

    value: Value
    partition: tuple[str, ...]
    frame: Frame
    keys: tuple[Order, ...] = ()
    timed: bool = True

    def framed(self, rows: list[Row], at: int) -> list[Row]:
        if self.timed:
            return frame_of(rows, at, self.frame, tuple(key.column for key in self.keys))
        return keyed_frame_of(rows, at, self.frame, self.keys)

    def full(self, rows: list[Row], at: int) -> Full:
        by = (TS, *(key.column for key in self.keys))
        return full_when(rows, at, self.frame, by) if self.timed else lambda mark: False


@dataclass(frozen=True)
class Overs:
    """OverAggregate. buckets: see Groups."""

    stream: str
    carried: tuple[str, ...]
    calls: tuple[OverCall, ...]
    by_arrival: bool = False
    per_instant: bool = False
    where: str | None = None
    buckets: tuple[str, ...] = ()

    def __call__(self, taken: list[Row]) -> list[Window]:
        if self.by_arrival:
            rows = numbered(taken, self._partition)
            taking = [r for r in rows if self.where is None or r[self.where] is True]
            return [self._counted(row, taking) for row in taking]
        windows = [self._window(row, taken) for row in by_position(taken) if MUTE not in row]
        return list({w.row_key: w for w in windows}.values())  # per_instant: of peers, the last

    @property
    def _partition(self) -> tuple[str, ...]:
        return self.calls[0].partition

    def _counted(self, row: Row, rows: list[Row]) -> Window:
        """A message's window: those of the last numbers up to its own; full at once."""
        reach = self.calls[0].frame.preceding
        first = 1 if reach is None else max(row[NUMBER] - reach, 1)
        own = of_partition(rows, row, self._partition)
        held = [r for r in own if first <= r[NUMBER] <= row[NUMBER]]
        bounds = {"window_start": first, "window_end": row[NUMBER] + 1}
        identity = [*(row[key] for key in self._partition), *bounds.values()]
        framed = [(call.value, held) for call in self.calls]
        return self._emitted(row, identity, bounds, framed, lambda mark: True)

    def _window(self, row: Row, rows: list[Row]) -> Window:
        framed: list[Framed] = []
        full: list[Full] = []
        for call in self.calls:
            own = in_window(of_partition(rows, row, call.partition), call.keys, call.timed)
            at = own.index(row)
            framed.append((call.value, call.framed(own, at)))
            full.append(call.full(own, at))
        bounds = self._bounds(row)
        identity, full_at = self._identity(row, bounds), partial(_all, full)
        return self._emitted(row, identity, bounds, framed, full_at)

    def _emitted(
        self,
        row: Row,
        identity: list[Any],
        bounds: dict[str, Any],
        framed: list[Framed],
        full_at: Full,
    ) -> Window:
        return Window(
            row_key=json_array(identity),
            full_at=full_at,
            frames=tuple(frozenset(map(position, held)) for _, held in framed),
            values=lambda: {
                **{name: row[name] for name in self.carried},
                **bounds,
                **{value.name: value.of(held, self._place(held, row)) for value, held in framed},
            },
            bucket=key_text(row, self.buckets),
            without=partial(self._passed, row),
        )

    def _passed(self, row: Row, mark: int) -> bool:
        """Of a row that is no more: whatever rows would follow it."""
        frames = [call.frame for call in self.calls if not call.frame.instant]
        ends = [frame.following for frame in frames]
        ahead = [frame for frame in frames if frame.unit is Unit.RANGE]
        reach = max((max(f.following or 0, 0) for f in ahead), default=0)
        timed = all(call.timed for call in self.calls)
        return timed and None not in ends and row[TS] + reach < mark

    def _place(self, held: list[Row], row: Row) -> str:
        """The last row of a frame is where to look."""
        return f"the frame of {self.stream} at position {(held or [row])[-1][SEQ]}"

    def _bounds(self, row: Row) -> dict[str, Any]:
        if not self.per_instant:
            return {}
        reach = self.calls[0].frame.preceding
        start = None if reach is None else instant(row[TS] - reach)
        return {"window_start": start, "window_end": instant(row[TS])}

    def _identity(self, row: Row, bounds: dict[str, Any]) -> list[Any]:
        if self.per_instant:
            return [*(row[key] for key in self._partition), *bounds.values()]
        _, part, seq = position(row)
        return [self.stream, part, seq]


def _all(full: list[Full], mark: int) -> bool:
    return all(each(mark) for each in full)


def in_window(rows: list[Row], keys: tuple[Order, ...], timed: bool = True) -> list[Row]:
    """Rows by event time, if timed, then the keys, then position."""
    found = ordered(by_position(rows), keys)
    return sorted(found, key=lambda row: row[TS]) if timed else found


def full_when(rows: list[Row], at: int, frame: Frame, by: tuple[str, ...] = (TS,)) -> Full:
    """From which watermark on no row that is not late can enter the frame of `rows[at]`."""
    if frame.instant:  # no row of another instant is in the partition
        return lambda mark: rows[at][TS] < mark
    if frame.following is None:
        return lambda mark: False
    reach = max(frame.following, 0)
    if frame.unit is Unit.RANGE:
        end = rows[at][TS] + reach
    elif frame.unit is Unit.SESSION:
        end = frame_of(rows, at, replace(frame, exclude=Exclude.NO_OTHERS))[-1][TS] + reach
    elif frame.unit is Unit.GROUPS:
        behind = [n for n in range(at, len(rows)) if groups_between(rows, at, n, by) == reach]
        if not behind:
            return lambda mark: False
        end = rows[behind[0]][TS]
    elif at + reach < len(rows):
        end = rows[at + reach][TS]
    else:
        return lambda mark: False
    return lambda mark: end < mark
