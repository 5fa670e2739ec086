"""A script in this process, with its own sources and sinks.

One file is one batch. State, what was read, and the position in it are committed
together after the sinks have the batch; a batch that was cut short is done again
from the last commit, and sinks take it under the same number.
"""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl

from sqlwin.embedded.at import word
from sqlwin.errors import RunError
from sqlwin.plan.facts import fingerprint
from sqlwin.plan.nodes import Script
from sqlwin.runtime.files import listing, read
from sqlwin.runtime.front import Front
from sqlwin.runtime.kept import VERSION, check_version
from sqlwin.runtime.lower import lower
from sqlwin.runtime.options import RunOptions
from sqlwin.runtime.outlets import Outlet, outlets
from sqlwin.runtime.progress import Batch, Summary
from sqlwin.runtime.rejects import no_rejects
from sqlwin.runtime.sources import check_sources, source_path
from sqlwin.runtime.task import Output, Task
from sqlwin.state.blobs import SqliteBlobs

POLL_SECONDS = 0.5
PROGRESS = "progress"


def run(script: Script, options: RunOptions) -> Summary:
    """Run every query of a script to the end of its input, or for ever with `follow`."""
    check_sources(script, options)
    summary = Summary()
    runners = [_Runner(script, n, out, options) for n, out in enumerate(outlets(script, options))]
    try:
        _loop(runners, options, summary)
        for runner in runners:
            runner.finish(summary)
    except KeyboardInterrupt:
        if not options.follow:
            raise
    finally:
        for runner in runners:
            runner.close()
    return summary


def _loop(runners: list[_Runner], options: RunOptions, summary: Summary) -> None:
    while True:
        worked = [runner.step(summary) for runner in runners]
        if not any(worked):
            if not options.follow:
                return
            time.sleep(POLL_SECONDS)
            for runner in runners:
                runner.tick(summary)


@dataclass(frozen=True)
class _Progress:
    """plan: whose state it is. files: in the order they were found; done: how many were read."""

    plan: str
    files: list[str]
    done: int
    batch: int
    version: int = VERSION


class _Runner:
    """One query of a script."""

    def __init__(self, script: Script, number: int, outlet: Outlet, options: RunOptions) -> None:
        query = script.queries[number]
        self.options, self.wording = options, script.wording
        self.query = lower(query)
        self.plan = fingerprint(query)
        self.path = source_path(self.query.stream)
        self.outlet = outlet
        self.blobs = _blobs(options.checkpoint, number)
        self.front = Front(self.query)
        self.progress = self._restored()
        self.task = Task(self.query, self.blobs, uuid.uuid4().hex)
        self.deadline = self.task.deadline()

    def step(self, summary: Summary) -> bool:
        """Read the next file, if there is one."""
        files = self._found()
        at = self.progress.done
        if at == len(files):
            return False
        stream = self.query.stream
        watermark = self.task.clock.of(stream.name)
        came = read(files[at], at, stream, watermark)
        taken = self.front.take(came.rows, watermark)
        read_ = len(came.rows) + len(came.errors)
        output = self.task.take([taken.rows], [taken.marks], now(), heard=read_ > 0)
        errors = pl.concat([came.errors, taken.errors, output.errors])
        after = _Progress(self.plan, files, at + 1, self.progress.batch + 1)
        self._finish(output, errors, after, summary, read_)
        return True

    def tick(self, summary: Summary) -> None:
        """Emit the corrections whose period is over."""
        if self.deadline is not None and self.deadline <= now():
            self._without_rows(summary, end=False)

    def finish(self, summary: Summary) -> None:
        self._without_rows(summary, end=self.options.ends)

    def close(self) -> None:
        """What was taken since the last commit is taken again by the next run."""
        if self.blobs is not None:
            self.blobs.close()

    def _without_rows(self, summary: Summary, end: bool) -> None:
        output = self.task.take([], [], now(), end=end)
        known = self.progress
        after = replace(known, batch=known.batch + 1)
        self._finish(output, no_rejects(), after, summary, 0)

    def _finish(
        self, output: Output, errors: pl.DataFrame, after: _Progress, summary: Summary, read_: int
    ) -> None:
        batch = Batch(after.batch, read_, len(output.results), len(errors), output.watermarks)
        self.outlet.write(after.batch, output.results, errors)
        self.progress, self.deadline = after, output.deadline
        self._commit()
        summary.add(batch, errors)
        summary.replayed += output.replayed
        self.options.on_batch(batch)

    def _found(self) -> list[str]:
        """Files in the order they were found; new ones come after those known."""
        known = self.progress.files
        seen = set(known)
        return known + [f for f in listing(self.path, self.options.base) if f not in seen]

    def _commit(self) -> None:
        if self.blobs is None:
            return
        with self.blobs.transaction():
            self.task.commit()
            word(self.blobs, self.wording)
            self.blobs.put(PROGRESS, json.dumps(asdict(self.progress)).encode())

    def _restored(self) -> _Progress:
        if self.blobs is None or PROGRESS not in self.blobs.names():
            return _Progress(self.plan, [], 0, 0)
        found = json.loads(self.blobs.get(PROGRESS))
        check_version(PROGRESS, found.get("version", VERSION))
        known = _Progress(**found)
        if known.plan != self.plan:
            raise RunError(
                f"the checkpoint {self.options.checkpoint} belongs to another script; "
                f"give this one a directory of its own"
            )
        return known


def now() -> int:
    return time.time_ns() // 1_000


def file_of(checkpoint: Path, number: int) -> Path:
    return checkpoint / f"query-{number}.sqlite"


def _blobs(checkpoint: Path | None, number: int) -> SqliteBlobs | None:
    if checkpoint is None:
        return None
    file = file_of(checkpoint, number)
    try:
        checkpoint.mkdir(parents=True, exist_ok=True)
        return SqliteBlobs(file)
    except (OSError, sqlite3.Error) as error:
        raise RunError(f"cannot keep state in {file}: {error}") from error
