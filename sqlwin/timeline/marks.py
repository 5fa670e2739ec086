"""What of a recording is drawn, and where: a table of marks for each layer of the chart.

x is event time in milliseconds, or a number of a message. y is arrival: batch b has the band from
b to b + 1. In it rows come first, in their order, then the watermark moves, then emissions follow
in lanes, so that those of one batch do not hide each other.

>>> lanes([(0, 10), (5, 8), (10, 12)], gap=0)
[0, 1, 0]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlwin.instants import format_instant
from sqlwin.lazy_dataclass import dataclass
from sqlwin.timeline.recording import MESSAGE, Batch, Emission, Recording

T = TypeVar("T")
Marks = Mapping[str, list[dict[str, Any]]]
ROWS_TO, MARK_AT, EMIT_FROM, EMIT_TO = 0.40, 0.45, 0.50, 0.97
MOST_LANES = 12
WIDE = 860
"""Pixels of the axis that texts are fitted to."""
CHARACTER = 6.2
_INSTANT = re.compile(r"[+-]?\d{4,}-\d\d-\d\dT")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
MILLI = 1_000
LATE_ROW, ON_TIME, REFUSED, MARK = "late row", "row", "expired row", "watermark"
KINDS = (ON_TIME, LATE_ROW, REFUSED, MARK, "early", "full", "late")


@dataclass(frozen=True)
class Extent:
    """Of all places. low, high: in the units of the recording."""

    low: int
    high: int
    time: bool

    @classmethod
    def of(cls, recording: Recording) -> Extent:
        places = [at for batch in recording.batches for at in _places(batch)]
        low, high = min(places, default=0), max(places, default=1)
        return cls(low, high if high > low else low + 1, recording.axis != MESSAGE)

    def x(self, place: int) -> float:
        return place / MILLI if self.time else place

    def text(self, place: int) -> str:
        return format_instant(place) if self.time else str(place)

    def pixels(self, length: int) -> float:
        return length / (self.high - self.low) * WIDE

    @property
    def gap(self) -> int:
        """About the width of a symbol."""
        return (self.high - self.low) // 60


def marks(recording: Recording) -> dict[str, list[dict[str, Any]]]:
    """By the name of the layer."""
    extent = Extent.of(recording)
    newest: int | None = None
    made: dict[str, list[dict[str, Any]]] = {
        "bands": [], "windows": [], "watermarks": [], "rows": [], "expired": [], "emissions": []
    }  # fmt: skip
    for batch in recording.batches:
        made["bands"].append({"y": batch.number, "end": batch.number + 1})
        made["rows"] += _rows(batch, extent)
        made["expired"] += _expired(batch, extent)
        made["watermarks"] += _watermarks(batch, extent)
        newest = max((at for at in (newest, *_seen(batch)) if at is not None), default=None)
        made["emissions"] += _emissions(batch, recording.columns, extent, newest)
    made["windows"] = _windows(recording, extent)
    made["watermarks"] += _extended(made["watermarks"], recording)
    return made


def labels(recording: Recording) -> dict[str, str]:
    """Of the bands, by number of the batch."""
    return {str(batch.number): _label(batch) for batch in recording.batches}


def _label(batch: Batch) -> str:
    kind, _, rest = batch.label.partition(" ")
    if kind == "batch":
        return f"batch {batch.number}"
    if kind == "clock":
        return f"{batch.number}  clock {rest[11:19]}"
    return f"{batch.number}  {kind if kind == 'watermark' else batch.label}"


def lanes(spans: Sequence[tuple[int, int]], gap: int) -> list[int]:
    """A lane for each span, so that those of one lane do not meet."""
    ends: list[int] = []
    found = [0] * len(spans)
    for at in sorted(range(len(spans)), key=lambda at: spans[at]):
        low, high = spans[at]
        free = next((lane for lane, end in enumerate(ends) if end <= low), len(ends))
        lane = min(free, MOST_LANES - 1)
        ends[lane:] = [max(high, low + gap), *ends[lane + 1 :]]
        found[at] = lane
    return found


def most_lanes(made: Marks) -> int:
    return max((mark["lanes"] for mark in made["emissions"]), default=1)


# --- layers ------------------------------------------------------------------------------


def _places(batch: Batch) -> Iterator[int]:
    yield from _seen(batch)
    yield from (mark.at for mark in batch.watermarks)
    for emission in batch.emissions:
        yield from (at for at in (emission.start, emission.end) if at is not None)


def _seen(batch: Batch) -> Iterator[int]:
    yield from (row.at for row in batch.arrivals if row.at is not None)
    yield from (row.at for row in batch.expired if row.at is not None)


def _rows(batch: Batch, extent: Extent) -> Iterator[dict[str, Any]]:
    for within, row in _spread(batch.arrivals):
        if row.at is not None:
            what = LATE_ROW if row.late else ON_TIME
            mark = _mark(batch.number, within, what, row.stream, row.at, extent)
            yield {**mark, "row": _text(row.row)}


def _expired(batch: Batch, extent: Extent) -> Iterator[dict[str, Any]]:
    for within, row in _spread(batch.expired):
        if row.at is not None:
            mark = _mark(batch.number, within, REFUSED, row.stream, row.at, extent)
            yield {**mark, "reason": row.reason, "row": row.row}


def _spread(rows: Sequence[T]) -> Iterator[tuple[float, T]]:
    """Each with its height within the batch, from above."""
    for number, row in enumerate(rows):
        yield ROWS_TO * (number + 0.5) / len(rows), row


def _watermarks(batch: Batch, extent: Extent) -> Iterator[dict[str, Any]]:
    if extent.time:
        for mark in batch.watermarks:
            yield _mark(batch.number, MARK_AT, MARK, mark.stream, mark.at, extent)


def _mark(
    batch: int, within: float, what: str, stream: str, at: int, extent: Extent
) -> dict[str, Any]:
    return {
        "x": extent.x(at),
        "y": batch + within,
        "batch": batch,
        "what": what,
        "stream": stream,
        "at": extent.text(at),
    }


def _extended(drawn: list[dict[str, Any]], recording: Recording) -> list[dict[str, Any]]:
    """The line goes on to the end of the last band."""
    last = {mark["stream"]: mark for mark in drawn}
    end = max((batch.number for batch in recording.batches), default=0)
    return [{**mark, "batch": end, "y": end + 1.0} for mark in last.values()]


def _emissions(
    batch: Batch, columns: Sequence[str], extent: Extent, newest: int | None
) -> Iterator[dict[str, Any]]:
    spans = [(each, _span(each, newest)) for each in batch.emissions]
    there = [(each, *span) for each, span in spans if span is not None]
    narrow = [(e.at, e.at) if e.at is not None else (low, high) for e, low, high in there]
    found = lanes(narrow, extent.gap)
    height = max(found, default=0) + 1
    for (each, low, high), lane in zip(there, found, strict=True):
        x = each.at if each.at is not None else low
        yield {
            "x": extent.x(x),
            "start": extent.x(low),
            "end": extent.x(high),
            "y": batch.number + EMIT_FROM + (EMIT_TO - EMIT_FROM) * (lane + 0.5) / height,
            "batch": batch.number,
            "what": each.emit,
            "point": each.at is not None or low == high,
            "op": each.op,
            "revision": each.revision,
            "window": f"{extent.text(low)} to {extent.text(high)}" if low < high else "",
            "at": extent.text(x),
            "label": _fitted(each, columns, extent.pixels(high - low)),
            "lanes": height,
            **{f"c{number}": text for number, text in enumerate(each.values)},
        }


def _span(each: Emission, newest: int | None) -> tuple[int, int] | None:
    """Without a place in event time it stands at the newest row."""
    if each.start is None or each.end is None:
        return None if newest is None else (newest, newest)
    return each.start, each.end


def _fitted(each: Emission, columns: Sequence[str], pixels: float) -> str:
    """Values that are no instants, numbers with the names of their columns, as far as there is
    room in the bar."""
    pairs = zip(columns, each.values, strict=True)
    shown = [(name, text) for name, text in pairs if not _INSTANT.match(text)]
    bare = [text for _, text in shown]
    named = [f"{name} {text}" if _NUMBER.fullmatch(text) else text for name, text in shown]
    room = int((pixels - 10) / CHARACTER)
    wordings = (", ".join(named), ", ".join(bare), *bare[-1:])
    return next((text for text in wordings if len(text) <= room), "")


def _windows(recording: Recording, extent: Extent) -> list[dict[str, Any]]:
    last = max((batch.number for batch in recording.batches), default=0)
    return [
        {
            "start": extent.x(each.start),
            "end": extent.x(each.end),
            "y": each.opened,
            "until": last + 1 if each.closed is None else each.closed + EMIT_TO,
            "batch": each.opened,
            "state": "open" if each.closed is None else "full",
            "window": f"{extent.text(each.start)} to {extent.text(each.end)}",
            "rows": each.rows,
        }
        for each in recording.windows
    ]


def _text(row: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items())
