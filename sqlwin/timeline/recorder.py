"""The recorder of one query: the frames of each batch become a `Batch`.

It keeps the event times of rows by their positions only where a row_key names rows, not windows.
Rows are judged late by the watermark before their batch, as the query judges them; without a window
none is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import islice

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.panes import WINDOW_END, ends_of, pane_of, start_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import OverAggregate, Stream, WindowAggregate, column_of
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import sources_of, tables_of, unranked, window_of
from sqlwin.plan.properties.processing_time import by_clock, clock_columns
from sqlwin.polars_frames import iso_columns
from sqlwin.runtime.rows.error_stream import LATE
from sqlwin.runtime.rows.render import cell
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.schema import CHANGELOG_NAMES, PART, RESERVED, SEQ, Column
from sqlwin.timeline.places import Places, Position
from sqlwin.timeline.recording import (
    MESSAGE,
    TIME,
    Arrival,
    Batch,
    Emission,
    Expired,
    Recording,
    Watermark,
)
from sqlwin.windows import Unit
from sqlwin.windows.group import Ending, Hop, Whole

NULL = "NULL"
MOST_WINDOWS = 1_000
"""Of one batch that are looked for before they are emitted."""

MOST_POSITIONS = 1_000_000
"""Of rows, whose event times are kept: an emission of an older one stands at the newest row."""


@dataclass
class Recorder:
    """title: of the picture. `batch` in the order of the run; positions: event times of rows."""

    query: Query
    title: str
    positions: dict[Position, int] = field(default_factory=dict)
    taken: int = 0
    number: int = 0

    def __post_init__(self) -> None:
        plan = self.query.plan
        self.places = Places.of(plan)
        self.streams = {stream.name: stream for stream in sources_of(plan)}
        self.tables = {table.name for table in tables_of(plan)}
        window = window_of(plan)
        own = None if window is None else unranked(window)
        self.keyed = not isinstance(own, WindowAggregate) or own.per_row or self.places.counted
        self.shape = own.window if isinstance(own, WindowAggregate) else None
        self.framed = isinstance(own, OverAggregate) or own is None

    @property
    def empty(self) -> Recording:
        """What is recorded, without its batches."""
        names = tuple(column.name for column in self.query.plan.schema)
        axis = MESSAGE if self.places.counted else TIME
        return Recording(self.title, names, (), axis, self.framed)

    def batch(
        self,
        label: str,
        taken: Iterable[tuple[str, pl.DataFrame]],
        results: pl.DataFrame,
        errors: pl.DataFrame,
        *,
        before: Mapping[str, int],
        after: Mapping[str, int],
        now: int | None = None,
        read: int | None = None,
    ) -> Batch:
        """taken: rows of streams as they are decoded. before, after: watermarks of streams.
        read: rows, where `taken` does not have them all."""
        self.number += 1
        arrivals = [
            each
            for name, rows in taken
            for each in self._arrivals(name, rows, before.get(name), now)
        ]
        return Batch(
            self.number,
            label,
            now,
            len(arrivals) if read is None else read,
            len(results),
            tuple(arrivals),
            tuple(Watermark(name, at) for name, at in after.items() if START < at < END),
            tuple(self._emissions(results)),
            tuple(_expired(errors)),
            self._found(arrivals),
        )

    def _arrivals(
        self, name: str, rows: pl.DataFrame, mark: int | None, now: int | None
    ) -> Iterable[Arrival]:
        if name in self.tables or rows.is_empty():
            return []
        stream = self.streams[name]
        times = self._times(stream, rows, now)
        if self.keyed:
            parts = rows.select(PART, SEQ).iter_rows()
            pairs = zip(parts, times, strict=True)
            self.positions |= {(name, *at): time for at, time in pairs if time is not None}
            excess = len(self.positions) - MOST_POSITIONS
            for oldest in list(islice(self.positions, max(0, excess))):
                del self.positions[oldest]
        if self.places.counted or isinstance(self.shape, Whole):
            mark = None
        late = [mark is not None and t is not None and t < mark for t in times]
        return [Arrival(name, *each) for each in zip(times, late, _rows(rows), strict=True)]

    def _times(self, stream: Stream, rows: pl.DataFrame, now: int | None) -> Sequence[int | None]:
        """Event times; or numbers of messages."""
        if self.places.counted:
            self.taken += len(rows)
            return range(self.taken - len(rows) + 1, self.taken + 1)
        if stream.ts is None or by_clock(stream):
            return [None if stream.ts is None else now] * len(rows)
        timed = _computed(stream, rows) if stream.ts not in rows.columns else rows
        known = dict(zip(timed[SEQ], timed[stream.ts].dt.timestamp("us"), strict=True))
        return [known.get(seq) for seq in rows[SEQ]]

    def _emissions(self, results: pl.DataFrame) -> Iterable[Emission]:
        names = list(CHANGELOG_NAMES.values())
        values = _rows(results.drop(names, strict=False))
        for change, row in zip(results.select(names).iter_rows(), values, strict=True):
            op, emit, revision, row_key = change
            place = self.places.place(row_key, row, self.positions)
            yield Emission(op, emit, revision, row_key, *place, tuple(row.values()))

    def _found(self, arrivals: Sequence[Arrival]) -> tuple[tuple[int, int], ...]:
        """Windows of time that rows of one stream are in, whether or not they are emitted."""
        if not isinstance(self.shape, Ending) or self.shape.unit is not Unit.RANGE:
            return ()
        if len(self.streams) > 1 or self.places.counted:
            return ()
        found: dict[tuple[int, int], None] = {}
        for at in (arrival.at for arrival in arrivals if arrival.at is not None):
            found |= dict.fromkeys(_holding(self.shape, at))
            if len(found) > MOST_WINDOWS:
                return ()
        return tuple(found)


def _holding(shape: Ending, at: int) -> list[tuple[int, int]]:
    """The windows that a row of this instant is in, of those that are there by it.

    >>> from sqlwin.windows.group import Cumulate, Hop
    >>> _holding(Hop(10, 5), 12), _holding(Cumulate(10, 5), 12)
    ([(5, 15), (10, 20)], [(10, 15), (10, 20)])
    >>> _holding(Cumulate(10, 5, only_on_update=True), 12)
    [(10, 15)]
    """
    pane = pl.DataFrame({"at": [at]}).select(pane_of(pl.col("at"), shape).alias("pane"))
    ends = ends_of(pane, "pane", shape)[WINDOW_END]
    if not isinstance(shape, Hop) and shape.only_on_update:
        ends = ends[:1]
    return [(start_of(end, shape), end) for end in ends]


def _computed(stream: Stream, rows: pl.DataFrame) -> pl.DataFrame:
    """With the computed columns but those of the clock; without rows for which they fail."""
    columns, clock = list(stream.columns), clock_columns(stream)
    for name, scalar in ((n, s) for n, s in stream.computed if n not in clock):
        there = tuple((c.name, column_of(c)) for c in columns if c.name in rows.columns)
        rows = evaluate(rows, (*there, (name, scalar)), keep=(PART, SEQ)).frame
        columns.append(Column(name, scalar.type))
    return rows


def _rows(frame: pl.DataFrame) -> list[dict[str, str]]:
    """Cells as text, without the columns that sqlwin added."""
    shown = iso_columns(frame.select(c for c in frame.columns if not c.startswith(RESERVED)))
    return [
        {name: NULL if value is None else cell(value) for name, value in row.items()}
        for row in shown.iter_rows(named=True)
    ]


def _expired(errors: pl.DataFrame) -> Iterable[Expired]:
    """Not the rows that count, though they correct nothing."""
    refused = errors.filter(~pl.col("reason").str.starts_with(LATE))
    for row in refused.with_columns(pl.col("ts").dt.timestamp("us")).iter_rows(named=True):
        yield Expired(row["stream"], row["ts"], row["reason"], row["row"])
