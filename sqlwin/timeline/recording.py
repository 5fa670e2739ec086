"""A recorded run of one query: frozen values, in the order in which things happened.

A batch took rows in, then moved the watermarks, then emitted. Event times are microseconds; where
the axis is `message` they are numbers of messages, from 1, in the order of arrival.

>>> batch = Batch(1, "feed", emissions=(Emission("+I", "full", 0, "[]", 0, 60),))
>>> again = Batch(2, "clock", emissions=(Emission("-D", "late", 1, "[]", 0, 60),))
>>> Recording("q", (), (batch, again)).windows
(Window(start=0, end=60, opened=1, closed=1, rows=0),)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sqlwin.lazy_dataclass import dataclass

TIME, MESSAGE = "time", "message"


@dataclass(frozen=True)
class Arrival:
    """A row that a query took in. at: its event time; None: it has none. late: it is older than
    the watermark before its batch. row: its columns."""

    stream: str
    at: int | None
    late: bool = False
    row: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Watermark:
    """Of a stream, after a batch."""

    stream: str
    at: int


@dataclass(frozen=True)
class Emission:
    """start, end: the interval of the window, the frame or the pair; equal where it is one
    instant, None where it has no place in event time. at: the row of a frame. values: of the
    columns of the recording."""

    op: str
    emit: str
    revision: int
    row_key: str
    start: int | None = None
    end: int | None = None
    at: int | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expired:
    """A row of the error stream, whatever the reason."""

    stream: str
    at: int | None
    reason: str
    row: str


@dataclass(frozen=True)
class Window:
    """A window of event time, all keys together. opened: the batch of its first row, or else of its
    first emission. closed: the first batch that emitted it full; None: it is open. rows: in it."""

    start: int
    end: int
    opened: int
    closed: int | None = None
    rows: int = 0


@dataclass(frozen=True)
class Batch:
    """label: what it was, as `feed orders`. now: processing time, microseconds. read, emitted:
    rows, also those that are not kept here. found: windows that have rows, emitted or not."""

    number: int
    label: str
    now: int | None = None
    read: int = 0
    emitted: int = 0
    arrivals: tuple[Arrival, ...] = ()
    watermarks: tuple[Watermark, ...] = ()
    emissions: tuple[Emission, ...] = ()
    expired: tuple[Expired, ...] = ()
    found: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Recording:
    """query: the text of its script. columns: of what is emitted. framed: each emission has a frame
    of its own, so that there are no windows which several rows share. notes: what of the run is
    not here, and why."""

    title: str
    columns: tuple[str, ...] = ()
    batches: tuple[Batch, ...] = ()
    axis: str = TIME
    framed: bool = False
    notes: tuple[str, ...] = ()
    query: str = ""

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """Those that were emitted or have rows, by their start; of frames and pairs none."""
        if self.framed:
            return ()
        first: dict[tuple[int, int], int] = {}
        closed: dict[tuple[int, int], int] = {}
        for batch in self.batches:
            for each in (*batch.found, *(place for place, _ in _emitted(batch))):
                first.setdefault(each, batch.number)
            for place, emission in _emitted(batch):
                if emission.emit != "early":
                    closed.setdefault(place, batch.number)
        rows = _Rows.of(self.batches)
        return tuple(
            Window(*place, rows.first(place, first[place]), closed.get(place), rows.count(place))
            for place in sorted(first)
        )


def _emitted(batch: Batch) -> Iterator[tuple[tuple[int, int], Emission]]:
    """Emissions of windows, each with its bounds."""
    for emission in batch.emissions:
        low, high = emission.start, emission.end
        if low is not None and high is not None and low < high:
            yield (low, high), emission


@dataclass(frozen=True)
class _Rows:
    """Arrivals by event time, and the batch of each."""

    times: npt.NDArray[np.int64]
    batches: npt.NDArray[np.int64]

    @classmethod
    def of(cls, batches: tuple[Batch, ...]) -> _Rows:
        found = [(a.at, b.number) for b in batches for a in b.arrivals if a.at is not None]
        pairs = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
        return cls(pairs[:, 0], pairs[:, 1])

    def _within(self, place: tuple[int, int]) -> npt.NDArray[np.int64]:
        low, high = np.searchsorted(self.times, place)
        return self.batches[low:high]

    def count(self, place: tuple[int, int]) -> int:
        return len(self._within(place))

    def first(self, place: tuple[int, int], otherwise: int) -> int:
        return int(min(self._within(place), default=otherwise))
