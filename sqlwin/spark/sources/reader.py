"""Reading a whole script: one offset for all its streams and its clock.

Rows never become rows of the JVM: a task decodes its pieces of files, runs the
input pipelines of all queries that read them, partitions the rows by bucket and gives
Spark one binary row for each bucket. Every task also sends a mark to every bucket,
so a bucket knows this batch's watermark in this batch.

There are four inputs behind one offset: files, steps of a test, none at all,
which only ticks, beside streaming DataFrames of the caller, and the state of a
checkpoint that is imported, which is one batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.runtime.files.pieces import Piece
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.imports import Importing, Imports, imported
from sqlwin.spark.checkpoint.progress import after
from sqlwin.spark.sources.listing import Listing
from sqlwin.spark.sources.offsets import Offset
from sqlwin.spark.sources.read import Reading, StepReading, Ticking, packed
from sqlwin.spark.sources.source import Settings
from sqlwin.spark.sources.step_source import StepSource
from sqlwin.spark.stages.program import Program, load


@dataclass
class Part(InputPartition):
    """What one task reads. Only the first of a batch carries the clock and the end."""

    reading: Reading | StepReading | Ticking | Importing

    def __post_init__(self) -> None:
        super().__init__(None)


class ScriptReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """bounded: the batch of available data was asked for; nothing newer is read.

    ticked: a batch of the clock alone was planned; a bounded run has one at most.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = Folder(settings.state)
        self.bounded = False
        self.steps = 0
        self.ticked = False

    @property
    def program(self) -> Program:
        return load(self.settings.program)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return Offset().dump()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._discover(self.settings.end)
        self.bounded = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        if not self.bounded:
            self._discover()
        at = self._known(start)
        then = self._next(at)
        return start if then is None else then.dump()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        first, last = self._known(start), self._known(end)
        if first == last:
            return []
        if self.settings.input == "files":
            return [Part(reading) for reading in self._readings(first, last)]
        ended = last.ended_since(first)
        if self.settings.input == "import":
            return [Part(Importing(path)) for path in Imports(self.folder).buckets()]
        if self.settings.input == "tick":
            return [Part(Ticking(self.settings.program, last.now, ended, first.batch == 0))]
        return [Part(reading) for reading in self._step_readings(last)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Part)
        found = partition.reading
        rows = imported(found) if isinstance(found, Importing) else packed(found)
        for row in rows:
            yield row.to_batch()

    def commit(self, end: dict[str, Any]) -> None:
        done = Offset.load(end)
        for listing in self.listings:
            listing.commit(done.files.get(str(listing.number), 0))

    def _known(self, offset: dict[str, Any]) -> Offset:
        found = Offset.load(offset)
        self.program.check_cut(found.cut, self.settings.input == "tick" and found.batch > 0)
        return found

    # What the next batch takes.

    def _next(self, at: Offset) -> Offset | None:
        if self.settings.input == "import":
            return None if at.batch else Imports(self.folder).offset()
        now = time.time_ns() // 1_000
        if self.settings.input == "tick":
            return self._tick(at, now)
        left = after(self.folder, at.batch)
        watermarks = {str(query): instant for query, instant in left.watermarks.items()}
        if self.settings.input == "steps":
            more = at.step < self.steps
            return at.then(at.now, step=at.step + 1, watermarks=watermarks) if more else None
        files, rest = self._files(at)
        end = self.settings.end and not rest and (files is not None or at.unread)
        due = left.deadline is not None and left.deadline <= now
        if files is None and not end:
            if not due or (self.bounded and self.ticked):
                return None
            self.ticked = True
        return at.then(now, files=files, watermarks=watermarks, end=end)

    def _tick(self, at: Offset, now: int) -> Offset | None:
        """Beside other sources: at most once in a bounded run, and there with the end."""
        due = not self.ticked if self.bounded else now >= at.now + self.settings.tick * 1_000_000
        if not due:
            return None
        self.ticked = True
        return replace(at.then(now, end=self.settings.end), cut=self.program.cut)

    def _files(self, at: Offset) -> tuple[dict[str, int] | None, bool]:
        """The pieces read after the next batch, None where there is no new one; any left?"""
        part = self.settings.batch_bytes // max(1, len(self.listings))
        for listing in self.listings:
            listing.check(at.files.get(str(listing.number), 0))
        reached = {
            str(listing.number): self._reached(listing, at.files.get(str(listing.number)), part)
            for listing in self.listings
        }
        streams = [each for each in self.listings if each.number not in self.program.tables]
        rest = any(reached[str(each.number)] < each.progress.end for each in streams)
        moved = any(count > at.files.get(number, 0) for number, count in reached.items())
        return (reached if moved else None), rest

    def _reached(self, listing: Listing, known: int | None, part: int) -> int:
        """Of a static table all pieces there are at first, and its later versions if it has any."""
        if listing.number not in self.program.tables:
            return listing.source.batch_end(listing.progress, known or 0, part)
        if known is None and not listing.known:
            name = self.program.streams[listing.number].name
            raise RunError(f"no file of the static table {name} is there")
        return listing.progress.end if known is None or listing.reloads else known

    def _discover(self, ends: bool = False) -> None:
        """ends: no more input is awaited. Of a static table nothing is, once it was read."""
        if self.settings.input == "steps":
            self.steps = StepSource(self.settings.base).count()
        for listing in self.listings:
            static = listing.number in self.program.tables
            whole = static or self.program.streams[listing.number].bounded
            listing.restore()
            if listing.reloads or not (whole and listing.known):
                listing.refresh(whole or ends)

    @property
    def listings(self) -> list[Listing]:
        """One for each stream that is read, in the order of the queries."""
        if not hasattr(self, "_listings"):
            self._listings = self._opened()
        return self._listings

    def _opened(self) -> list[Listing]:
        if self.settings.input != "files":
            return []
        opened = []
        for number, stream in enumerate(self.program.streams):
            base, piece = Path(self.settings.base), self.settings.piece_bytes
            opened.append(Listing(self.folder, number, source_of(stream), base, piece))
        return opened

    # What each task of a batch reads.

    def _readings(self, first: Offset, last: Offset) -> Iterator[Reading]:
        pieces: list[tuple[int, int, Piece]] = []
        reloaded: list[str] = []
        for listing in self.listings:
            listing.restore()
            lo, hi = (offset.files.get(str(listing.number), 0) for offset in (first, last))
            if listing.reloads and lo < hi:
                lo = hi - 1
                reloaded.append(self.program.streams[listing.number].name)
            pieces += [(listing.number, at, listing.piece(at)) for at in range(lo, hi)]
        parts = _shared(pieces, self.settings.tasks, lambda it: it[2].hi - it[2].lo) or [[]]
        for number, part in enumerate(parts):
            yield Reading(
                program=self.settings.program,
                pieces=tuple(part),
                watermarks={int(query): at for query, at in last.watermarks.items()},
                now=last.now,
                end=last.ended_since(first),
                control=number == 0,
                reloaded=tuple(reloaded),
            )

    def _step_readings(self, last: Offset) -> Iterator[StepReading]:
        touched = StepSource(self.settings.base).queries(last.step)
        watermarks = {int(query): at for query, at in last.watermarks.items()}
        for part in _shared(touched, self.settings.tasks, lambda _: 1):
            only = frozenset(part)
            yield StepReading(
                self.settings.program, self.settings.base, last.step, only, watermarks
            )


def _shared(items: list[Any], tasks: int, weigh: Callable[[Any], int]) -> list[list[Any]]:
    """At most `tasks` shares of about equal weight, none empty; neighbours stay together."""
    parts: list[list[Any]] = [[] for _ in range(tasks)]
    total, before = max(1, sum(map(weigh, items))), 0
    for item in items:
        middle = before + weigh(item) / 2
        parts[min(tasks - 1, int(middle * tasks / total))].append(item)
        before += weigh(item)
    return [part for part in parts if part]
