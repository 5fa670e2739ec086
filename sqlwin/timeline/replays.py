"""Recordings made here: of a golden, and of a query over the first rows of its own sources.

No sink is written. Of a query, the rows of each stream are cut into as many batches, and processing
time moves on by `pace` with each: by default the period of corrections, so that each is seen with
the batch after the row that caused it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import InputError, RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Script
from sqlwin.plan.properties.facts import sources_of, tables_of
from sqlwin.policies import DEFAULT_LATE_PERIOD
from sqlwin.runtime.rows.instants import micros
from sqlwin.testing.golden import START_OF_CLOCK, Golden, Step
from sqlwin.testing.in_process import do
from sqlwin.testing.opened import bound
from sqlwin.timeline.first_rows import first_rows
from sqlwin.timeline.recorder import Recorder
from sqlwin.timeline.recording import Batch, Recording

ROWS, BATCHES, PACE = 100_000, 120, DEFAULT_LATE_PERIOD


class _Observed(EmbeddedQuery):
    """Notes the rows that it takes, as they are decoded; those of its text it takes when made."""

    def __init__(self, script: Script) -> None:
        self.taken: list[tuple[str, pl.DataFrame]] = []
        super().__init__(script)

    def take_together(self, rows: Mapping[str, pl.DataFrame], malformed: pl.DataFrame) -> None:
        self.taken += rows.items()
        super().take_together(rows, malformed)

    def watermarks(self) -> dict[str, int]:
        timed = {name: each for name, each in self._chain.streams.items() if each.ts is not None}
        return {name: self._task.watermark(name) for name in timed}

    def now(self) -> int:
        return self._position.now


@dataclass
class Replay:
    """A query that is run step by step, each step a batch of the recording."""

    script: Script
    title: str
    clock: str = START_OF_CLOCK

    def __post_init__(self) -> None:
        self.query = _Observed(self.script)
        self.query.advance(now=self.clock)
        self.recorder = Recorder(self.script.queries[0], self.title)

    def take(self, step: Step) -> Batch:
        """RunError and InputError as of the query."""
        before = self.query.watermarks()
        do(self.query, step)
        return self._seen(f"{step.kind} {step.argument}".rstrip(), before)

    def push(self, label: str, rows: Mapping[str, pl.DataFrame], now: int) -> Batch:
        before = self.query.watermarks()
        self.query.advance(now=now)
        for name, part in rows.items():
            self.query.push(name, part)
        return self._seen(label, before)

    def drain(self) -> Batch:
        before = self.query.watermarks()
        self.query.drain()
        return self._seen("drain", before)

    def _seen(self, label: str, before: Mapping[str, int]) -> Batch:
        query = self.query
        taken, query.taken = query.taken, []
        results: pl.DataFrame = pl.from_arrow(query.results())  # type: ignore[assignment]
        errors: pl.DataFrame = pl.from_arrow(query.expired(clear=True))  # type: ignore[assignment]
        after = query.watermarks()
        return self.recorder.batch(
            label, taken, results, errors, before=before, after=after, now=query.now()
        )


def of_golden(golden: Golden) -> Recording:
    """A batch for each step, up to one that fails. QueryError where the query is refused;
    InputError where it has no steps."""
    if not golden.steps():
        raise InputError(f"{golden.name} has no steps: there is nothing to draw")
    replay = Replay(bound(golden), golden.head.get("title", golden.name), golden.clock)
    batches, notes = list[Batch](), list[str]()
    for step in golden.steps():
        try:
            batches.append(replay.take(step))
        except RunError as failure:
            notes.append(f"step {step.number} ends the query: {failure}")
            break
    return replace(replay.recorder.empty, batches=tuple(batches), notes=tuple(notes))


def of_query(
    script: Script,
    number: int,
    title: str,
    base: Path,
    rows: int = ROWS,
    batches: int = BATCHES,
    pace: int = PACE,
) -> Recording:
    """rows: of each stream, its first ones. pace: microseconds between two batches.

    InputError where a source cannot be read, or has no rows.
    """
    query = script.queries[number]
    replay = Replay(replace(script, statements=(query,)), title)
    found = {each.name: first_rows(each, base, rows) for each in sources_of(query.plan)}
    tables = {table.name for table in tables_of(query.plan)}
    for name in sorted(tables):
        replay.query.push(name, found.pop(name))
    now, seen = micros(replay.clock), list[Batch]()
    for part in _parts(found, batches):
        now += pace
        seen.append(replay.push("batch", part, now))
    seen.append(replay.drain())
    return replace(replay.recorder.empty, batches=tuple(seen))


def _parts(rows: Mapping[str, pl.DataFrame], batches: int) -> Iterator[dict[str, pl.DataFrame]]:
    """As many of each stream, the last ones shorter or empty."""
    sizes = {name: -(-len(frame) // batches) or 1 for name, frame in rows.items()}
    for at in range(batches):
        part = {name: frame[at * sizes[name] :][: sizes[name]] for name, frame in rows.items()}
        if any(len(frame) for frame in part.values()):
            yield {name: frame for name, frame in part.items() if len(frame)}
