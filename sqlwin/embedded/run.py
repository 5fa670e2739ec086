"""A script in this process, with its own sources and sinks.

One file, or what was appended to one, is one batch, the first with all files of static
tables. State, what was read, and the position in it are committed together after the sinks
have the batch; a batch that was cut short is done again from the last commit, and sinks take
it under the same number. A run that does not follow reads what there is when it begins.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import polars as pl

from sqlwin.embedded.at import WORDING, word
from sqlwin.embedded.clock import Clock
from sqlwin.embedded.folder import file_of, held, note
from sqlwin.embedded.place import PROGRESS, Place
from sqlwin.errors import InputError, RunError
from sqlwin.plan.ir.nodes import Script
from sqlwin.plan.properties.facts import fingerprint
from sqlwin.runtime.checkpoint.resumed import Differs, going_on, since_of
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.outlets import Outlet, outlets
from sqlwin.runtime.connectors.progress import Batch, Summary
from sqlwin.runtime.connectors.sources import check_sources, source_of
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.files.taken import Taken
from sqlwin.runtime.files.waiting import Waiting
from sqlwin.runtime.lowering.chain import chain
from sqlwin.runtime.lowering.input_pipelines import Brought, brought, in_turn, together
from sqlwin.runtime.rows.malformed import Malformed
from sqlwin.runtime.rows.rejects import no_rejects
from sqlwin.runtime.tasks.staged import StagedTask
from sqlwin.runtime.tasks.task import Output
from sqlwin.state.blobs import SqliteBlobs

__all__ = ["PROGRESS", "file_of", "now", "run"]

POLL_SECONDS = 0.5


def run(script: Script, options: RunOptions) -> Summary:
    """Run every query of a script to the end of its input, or for ever with `follow`."""
    check_sources(script, options)
    summary, malformed = Summary(), Malformed(options.max_errors, options.on_warning)
    outs = outlets(script, options)
    with held(options.checkpoint, len(outs)), ExitStack() as opened:
        numbered = enumerate(outs)
        runners = [_Runner(script, number, out, options, malformed) for number, out in numbered]
        for runner in runners:
            opened.callback(runner.close)
        if options.checkpoint is not None:
            note(options.checkpoint, len(outs))
        try:
            _loop(runners, options, summary)
            malformed.end()
            for runner in runners:
                runner.finish(summary)
        except KeyboardInterrupt:
            if not options.follow:
                raise
            _warn(_left(runners), options)
    return summary


def _loop(runners: list[_Runner], options: RunOptions, summary: Summary) -> None:
    waiting = Waiting()
    while True:
        worked = [runner.step(summary) for runner in runners]
        if not any(worked):
            if not options.follow:
                return
            time.sleep(POLL_SECONDS)
            for runner in runners:
                runner.tick(summary)
            if waiting.due(time.monotonic()):
                _warn(waiting.see(_left(runners), time.monotonic()), options)


def _left(runners: list[_Runner]) -> dict[str, int]:
    """What waits for its line end, see `Source.left`."""
    return {text: lo for runner in runners for text, lo in runner.left().items()}


def _warn(texts: Iterable[str], options: RunOptions) -> None:
    for text in texts:
        options.on_warning(text)


@dataclass(frozen=True)
class _Read:
    """Pieces of one stream. end: one more than the number of the last. rows: in them, also bad
    ones."""

    brought: Brought
    malformed: pl.DataFrame
    end: int
    rows: int

    def then(self, more: _Read) -> _Read:
        """Both, in this order."""
        return _Read(
            in_turn(self.brought, more.brought),
            pl.concat([self.malformed, more.malformed]),
            more.end,
            self.rows + more.rows,
        )


class _Runner:
    """One query of a script."""

    def __init__(
        self,
        script: Script,
        number: int,
        outlet: Outlet,
        options: RunOptions,
        malformed: Malformed,
    ) -> None:
        self.query, self.number = script.queries[number], number
        self.malformed = malformed
        self.options, self.wording = options, script.wording
        self.chain = chain(self.query)
        self.sources = {name: source_of(each) for name, each in self.chain.streams.items()}
        self.outlet = outlet
        self.blobs = _blobs(options.checkpoint, number)
        self.listed: set[str] = set()
        self.place = self._restored()
        self.task = StagedTask(self.chain, self.blobs, uuid.uuid4().hex)
        self.clock = Clock(self.blobs if self.chain.clock else None)
        self.deadline = self.task.deadline()

    def step(self, summary: Summary) -> bool:
        """Read the next file of each stream that has one, as one batch."""
        at = self.clock.of(self.place.batch + 1, now())
        found = {name: self._next(name, at) for name in self.chain.streams}
        read_ = {name: each for name, each in found.items() if each is not None}
        if not read_:
            return False
        rows = sum(each.rows for each in read_.values())
        came = together(each.brought for each in read_.values())
        self.clock.record(self.place.batch + 1, at)
        output = self.task.take(came.rows, came.marks, at, heard=rows > 0)
        malformed = [each.malformed for each in read_.values()]
        errors = pl.concat([*malformed, came.errors, output.errors])
        ends = {name: each.end for name, each in read_.items()}
        self._finish(output, errors, ends, summary, rows)
        return True

    def _next(self, name: str, at: int) -> _Read | None:
        """The next piece of a stream, if there is one; of a table all files, once. at: the time
        of the batch."""
        static, taken = name in self.chain.tables, self.place.streams[name]
        if static and self.place.batch:
            return None
        self._find(name, taken, static)
        left = taken.left()
        numbers = left if static else left[:1]
        parts = [self._read(name, number, taken.piece(number), at) for number in numbers]
        if static and not parts:
            where = dict(self.chain.streams[name].options).get("path")
            raise RunError(f"no file matches {where} of the static table {name}")
        return reduce(_Read.then, parts) if parts else None

    def _find(self, name: str, taken: Taken, static: bool) -> None:
        """What is there now, once nothing is left of what was found before."""
        if taken.left() or (name in self.listed and not self.options.follow):
            return
        self.listed.add(name)
        self.sources[name].find(taken, self.options.base, ends=static or self.options.ends)

    def _read(self, name: str, number: int, piece: Piece, at: int) -> _Read:
        watermark = self.task.watermark(name)
        source = self.sources[name]
        found = replace(piece, path=source.split(piece.path, self.options.base))
        came = source.read(found, number, watermark)
        for warning in came.warnings:
            self.options.on_warning(warning)
        through = brought(self.chain.fronts, name, came.rows, watermark, now=at)
        rows = len(came.rows) + len(came.errors)
        return _Read(through, came.errors, number + 1, rows)

    def tick(self, summary: Summary) -> None:
        """Emit the corrections whose period is over."""
        if self.deadline is not None and self.deadline <= now():
            self._without_rows(summary, end=False)

    def left(self) -> dict[str, int]:
        base, found = self.options.base, dict[str, int]()
        for name in self.chain.streams.keys() - self.chain.tables:
            found |= self.sources[name].left(self.place.streams[name], base)
        return found

    def finish(self, summary: Summary) -> None:
        _warn(self.left(), self.options)
        self._without_rows(summary, end=self.options.ends)

    def close(self) -> None:
        """What was taken since the last commit is taken again by the next run."""
        if self.blobs is not None:
            self.blobs.close()

    def _without_rows(self, summary: Summary, end: bool) -> None:
        output = self.task.take({}, {}, now(), end=end)
        self._finish(output, no_rejects(), {}, summary, 0)

    def _finish(
        self,
        output: Output,
        errors: pl.DataFrame,
        ends: Mapping[str, int],
        summary: Summary,
        read_: int,
    ) -> None:
        """ends: of what was read, by stream."""
        number = self.place.batch + 1
        batch = Batch(number, read_, len(output.results), len(errors), output.watermarks)
        self.malformed.see(self.number, number, read_, errors)
        self.outlet.write(number, output.results, errors)
        self.place.move(ends)
        self.deadline = output.deadline
        self._commit()
        summary.add(batch, errors)
        summary.replayed += output.replayed
        self.options.on_batch(batch)

    def _commit(self) -> None:
        if self.blobs is None:
            return
        with self.blobs.transaction():
            self.task.commit()
            word(self.blobs, self.wording)
            self.blobs.put(PROGRESS, self.place.dump())

    def _restored(self) -> Place:
        """Where the run stands; the query is as it goes on from there."""
        plan = fingerprint(self.query)
        if self.blobs is None or PROGRESS not in self.blobs.names():
            return Place.start(plan, self.chain.streams)
        known = Place.load(self.blobs.get(PROGRESS), self.chain.streams)
        text = self.blobs.get(WORDING) if WORDING in self.blobs.names() else None
        try:
            going = going_on(self.query, self.number, known.plan, known.since, text, self.blobs)
        except Differs as differs:
            raise RunError(
                f"the checkpoint {self.options.checkpoint} belongs to another script: {differs}; "
                f"give this one a directory of its own"
            ) from differs
        self.chain = chain(going)
        named = known.renamed(lambda name, file: self.sources[name].name(file, self.options.base))
        return replace(named, plan=plan, since=since_of(going))


def now() -> int:
    return time.time_ns() // 1_000


def _blobs(checkpoint: Path | None, number: int) -> SqliteBlobs | None:
    if checkpoint is None:
        return None
    file = file_of(checkpoint, number)
    try:
        return SqliteBlobs(file)
    except InputError as error:
        raise RunError(str(error)) from error
