"""What windows there are, by definition: the two plan nodes over a plain list of rows.

`groups` and `overs` give a reference operator its windows. Rows are in the order
they were taken, which numbers the messages of a tuple window.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa

from sqlwin.errors import OverflowInAggregate
from sqlwin.instants import EPOCH, format_instant, from_datetime
from sqlwin.kernels.reference import OutOfRange, Row, aggregate, frame_of, windows_holding
from sqlwin.operators.reference import NUMBER, Window, by_position, position
from sqlwin.schema import SEQ, TS
from sqlwin.windows import Frame, Hop, Unit


@dataclass(frozen=True)
class Value:
    """An aggregate call, as in the plan."""

    name: str
    function: str
    args: tuple[str, ...]
    type: pa.DataType
    where: str | None = None

    def of(self, rows: list[Row], place: str) -> Any:
        """place: of the window, for the message of an overflow."""
        try:
            return aggregate(self.function, self.args, self.type, rows, self.where)
        except OutOfRange:
            raise OverflowInAggregate(self.name, place) from None


@dataclass(frozen=True)
class Groups:
    """WindowAggregate. partition: of a tuple window, within which messages are counted."""

    stream: str
    hop: Hop
    keys: tuple[str, ...]
    values: tuple[Value, ...]
    partition: tuple[str, ...] = ()
    where: str | None = None

    def __call__(self, taken: list[Row]) -> list[Window]:
        rows = numbered(taken, self.partition)
        counts = _last_numbers(rows, self.partition)
        members: dict[tuple[str, int], list[Row]] = defaultdict(list)
        for row in rows:
            if self.where is None or row[self.where] is True:
                for start in windows_holding(row[self._measure], self.hop):
                    members[key_text(row, self.keys), start].append(row)
        windows = [self._window(at, by_position(held), counts) for (_, at), held in members.items()]
        return sorted(windows, key=lambda window: (window.end, window.row_key))

    @property
    def _measure(self) -> str:
        return NUMBER if self.hop.unit is Unit.ROWS else TS

    def _window(self, start: int, held: list[Row], counts: dict[str, int]) -> Window:
        end = start + self.hop.size
        by_count = self.hop.unit is Unit.ROWS
        keys = {key: held[0][key] for key in self.keys}
        shown = (start, end) if by_count else (instant(start), instant(end))
        bounds = dict(zip(("window_start", "window_end"), shown, strict=True))
        place = self._place(start, keys, max(row[SEQ] for row in held))
        return Window(
            row_key=json_array([*keys.values(), *bounds.values()]),
            # the n-th message fills a window of n: [1, 4) is full at message 3
            end=end - 1 if by_count else end,
            counted=counts[key_text(held[0], self.partition)],
            values=lambda: {
                **keys,
                **bounds,
                **{value.name: value.of(held, place) for value in self.values},
            },
            held=frozenset(map(position, held)),
        )

    def _place(self, start: int, keys: dict[str, Any], last: int) -> str:
        if self.hop.unit is Unit.ROWS:
            return (
                f"the window from message {start}; its last row is {self.stream} at position {last}"
            )
        span = f"[{format_instant(start)}, {format_instant(start + self.hop.size)})"
        named = ", ".join(f"{key} = {value!r}" for key, value in keys.items())
        return (
            f"window {span}{' of ' + named if named else ''}; "
            f"the last row of the window is {self.stream} at position {last}"
        )


@dataclass(frozen=True)
class Overs:
    """OverAggregate: (value, partition, frame) of each call."""

    stream: str
    carried: tuple[str, ...]
    calls: tuple[tuple[Value, tuple[str, ...], Frame], ...]
    by_arrival: bool = False
    per_instant: bool = False
    where: str | None = None

    def __call__(self, taken: list[Row]) -> list[Window]:
        _, partition, frame = self.calls[0]
        rows = numbered(taken, partition)
        if self.by_arrival:
            # a message's number stands for its instant, so that a frame is the last n numbers
            taking = [r for r in rows if self.where is None or r[self.where] is True]
            return [self._counted(row, taking, partition, frame) for row in taking]
        windows = [self._window(row, rows) for row in by_position(rows)]
        return list({w.row_key: w for w in windows}.values())  # per_instant: of peers, the last

    def _counted(
        self, row: Row, rows: list[Row], partition: tuple[str, ...], frame: Frame
    ) -> Window:
        number, reach = row[NUMBER], range(row[NUMBER] - frame.preceding, row[NUMBER] + 1)
        held = [other for other in of_partition(rows, row, partition) if other[NUMBER] in reach]
        place = f"the frame of {self.stream} at position {row[SEQ]}"
        bounds = {"window_start": max(reach.start, 1), "window_end": number + 1}
        carried = {name: row[name] for name in self.carried}
        return Window(
            row_key=json_array([*(row[key] for key in partition), *bounds.values()]),
            end=number,
            counted=number,
            values=lambda: {
                **carried,
                **bounds,
                **{value.name: value.of(by_position(held), place) for value, _, _ in self.calls},
            },
            held=frozenset(map(position, held)),
        )

    def _window(self, row: Row, rows: list[Row]) -> Window:
        framed = [(value, self._framed(row, rows, by, frame)) for value, by, frame in self.calls]
        bounds = self._bounds(row)
        carried = {name: row[name] for name in self.carried}
        return Window(
            row_key=json_array(self._identity(row, bounds)),
            end=row[TS] + 1,  # full when the watermark is past the instant
            counted=0,
            values=lambda: {
                **carried,
                **bounds,
                **{value.name: value.of(held, self._place(held)) for value, held in framed},
            },
            held=frozenset(position(other) for _, held in framed for other in held),
        )

    def _framed(
        self, row: Row, rows: list[Row], partition: tuple[str, ...], frame: Frame
    ) -> list[Row]:
        own = by_position(of_partition(rows, row, partition))
        return frame_of(own, own.index(row), frame)

    def _place(self, held: list[Row]) -> str:
        return f"the frame of {self.stream} at position {held[-1][SEQ]}"

    def _bounds(self, row: Row) -> dict[str, datetime]:
        if not self.per_instant:
            return {}
        _, _, frame = self.calls[0]
        start, end = row[TS] - frame.preceding, row[TS]
        return {"window_start": instant(start), "window_end": instant(end)}

    def _identity(self, row: Row, bounds: dict[str, datetime]) -> list[Any]:
        if self.per_instant:
            _, partition, _ = self.calls[0]
            return [*(row[key] for key in partition), *bounds.values()]
        _, part, seq = position(row)
        return [self.stream, part, seq]


def numbered(taken: Iterable[Row], partition: tuple[str, ...]) -> list[Row]:
    """Rows with `__number`: the how-many-th of its partition each is, in the order taken."""
    counts: dict[str, int] = defaultdict(int)
    rows: list[Row] = []
    for row in taken:
        key = key_text(row, partition)
        counts[key] += 1
        rows.append({**row, NUMBER: counts[key]})
    return rows


def _last_numbers(rows: list[Row], partition: tuple[str, ...]) -> dict[str, int]:
    return {key_text(row, partition): row[NUMBER] for row in rows}


def of_partition(rows: list[Row], row: Row, partition: tuple[str, ...]) -> list[Row]:
    key = key_text(row, partition)
    return [other for other in rows if key_text(other, partition) == key]


def key_text(row: Row, keys: tuple[str, ...]) -> str:
    """Equal iff the keys are; NULL equals NULL, NaN equals NaN, 0.0 equals -0.0."""
    return repr([row[key] + 0.0 if isinstance(row[key], float) else row[key] for key in keys])


def instant(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def json_array(values: list[Any]) -> str:
    return json.dumps(
        [_plain(value) for value in values], ensure_ascii=False, separators=(",", ":")
    )


_WORDS = {"nan": "NaN", "inf": "inf", "-inf": "-inf"}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_instant(from_datetime(value))
    if isinstance(value, date | Decimal):
        return str(value)
    if isinstance(value, float):  # -0.0 is 0.0; NaN and infinities are no JSON numbers
        return value + 0.0 if isfinite(value) else _WORDS[str(value)]
    return value.hex() if isinstance(value, bytes) else value
