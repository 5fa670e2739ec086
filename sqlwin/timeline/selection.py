"""A part of a recording: what was asked for, and no more than can be drawn.

Nothing is dropped without a note. Where there are too many marks, late rows, corrections and the
rows of the error stream stay, and of the others one in so many does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Generic, TypeVar

from sqlwin.errors import InputError
from sqlwin.instants import format_instant
from sqlwin.lazy_dataclass import dataclass
from sqlwin.timeline.recording import Arrival, Batch, Emission, Expired, Recording

MOST_MARKS = 3_000
"""Of rows, of emissions and of the error stream, each."""
T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """only: column to value, of rows and of results that have the column. since, until: event
    times, microseconds. batches: first and last number."""

    only: Mapping[str, str] = field(default_factory=dict)
    since: int | None = None
    until: int | None = None
    batches: tuple[int | None, int | None] = (None, None)

    def of(self, recording: Recording) -> Recording:
        """The recording cut to this part, with a note of what it is. InputError where neither rows
        nor results have a column of `only`."""
        known = _known(recording) if self.only else ()
        missing = next((name for name in self.only if name not in known), None)
        if missing is not None:
            raise InputError(f"--only: no column {missing}; there are {', '.join(known)}")
        batches = tuple(
            self._cut(batch, recording.columns)
            for batch in recording.batches
            if _within(batch.number, *self.batches)
        )
        notes = (*recording.notes, *self._notes())
        return replace(recording, batches=batches, notes=notes)

    def _cut(self, batch: Batch, columns: Sequence[str]) -> Batch:
        return replace(
            batch,
            arrivals=tuple(a for a in batch.arrivals if self._has(a.row) and self._at(a.at, a.at)),
            emissions=tuple(
                e
                for e in batch.emissions
                if self._has(dict(zip(columns, e.values, strict=True)))
                and self._at(e.start if e.at is None else e.at, e.end if e.at is None else e.at)
            ),
            expired=tuple(e for e in batch.expired if self._at(e.at, e.at)),
            watermarks=tuple(w for w in batch.watermarks if self._at(w.at, w.at)),
            found=tuple(place for place in batch.found if self._at(*place)),
        )

    def _has(self, row: Mapping[str, str]) -> bool:
        return all(row.get(name, value) == value for name, value in self.only.items())

    def _at(self, start: int | None, end: int | None) -> bool:
        """Whether an interval touches the part; what has no event time stays."""
        low = end is None or self.since is None or end >= self.since
        return low and (start is None or self.until is None or start <= self.until)

    def _notes(self) -> Iterable[str]:
        if self.only:
            yield "only " + ", ".join(f"{name} = {value}" for name, value in self.only.items())
        bounds = [("from", self.since), ("to", self.until)]
        times = [f"{word} {format_instant(at)}" for word, at in bounds if at is not None]
        if times:
            yield f"event time {' '.join(times)}"
        first, last = self.batches
        if self.batches != (None, None):
            yield f"batches {first or 'from the first'} to {last or 'the last'}"


def _known(recording: Recording) -> Sequence[str]:
    """Of results, and of rows."""
    names = dict.fromkeys(recording.columns)
    for batch in recording.batches:
        for row in batch.arrivals:
            names |= dict.fromkeys(row.row)
    return sorted(names)


def _within(number: int, low: int | None, high: int | None) -> bool:
    return (low is None or low <= number) and (high is None or number <= high)


def fitted(recording: Recording, most: int = MOST_MARKS) -> Recording:
    """With at most about `most` marks of each kind, and a note of what is left out."""
    batches = recording.batches
    rows = _step([a for b in batches for a in b.arrivals], _late, most)
    emitted = _step([e for b in batches for e in b.emissions], _correction, most)
    refused = _step([e for b in batches for e in b.expired], _no, most)
    if max(rows.every, emitted.every, refused.every) == 1:
        return recording
    cut = tuple(
        replace(
            batch,
            arrivals=tuple(rows.kept(batch.arrivals)),
            emissions=tuple(emitted.kept(batch.emissions)),
            expired=tuple(refused.kept(batch.expired)),
        )
        for batch in batches
    )
    notes = [
        *rows.note("rows", "every late one"),
        *emitted.note("emissions", "every correction"),
        *refused.note("rows of the error stream", ""),
    ]
    return replace(recording, batches=cut, notes=(*recording.notes, *notes))


def _late(row: Arrival) -> bool:
    return row.late


def _correction(emission: Emission) -> bool:
    return emission.emit == "late"


def _no(_: Expired) -> bool:
    return False


@dataclass
class _Sampled(Generic[T]):
    """One in `every`, and all that are `special` unless these are too many as well."""

    count: int
    every: int
    special: Callable[[T], bool]
    all_special: bool
    seen: int = 0

    def kept(self, values: Iterable[T]) -> Iterable[T]:
        for value in values:
            self.seen += 1
            if self.seen % self.every == 0 or (self.all_special and self.special(value)):
                yield value

    def note(self, what: str, special: str) -> Iterable[str]:
        if self.every > 1:
            rule = f"one in {self.every}"
            if special and self.all_special:
                rule = f"{special}, and one in {self.every} of the others"
            yield f"of {self.count:,} {what} not all are drawn: {rule}"


def _step(values: Sequence[T], special: Callable[[T], bool], most: int) -> _Sampled[T]:
    specials = sum(map(special, values))
    stays = specials <= most // 2
    room = most - specials if stays else most
    rest = len(values) - specials if stays else len(values)
    return _Sampled(len(values), max(1, -(-rest // room)), special, stays)
