"""A query in this process: push rows, move time, take results. No JVM, no threads.

One `push` is one batch. Nothing here asks a clock: processing time is what
`advance(now=…)` last said, event time is what the rows and `advance(watermark=…)`
say. So a test decides when what is emitted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from operator import index

import polars as pl
import pyarrow as pa

from sqlwin.embedded.board import Board
from sqlwin.errors import InputError, RunError
from sqlwin.instants import END, START, from_datetime, parse_instant
from sqlwin.plan.nodes import Query, Script, Stream
from sqlwin.runtime.files import decoded
from sqlwin.runtime.front import Front
from sqlwin.runtime.intake import Rows, frame_of, unknown_columns
from sqlwin.runtime.lower import Lowered, lower
from sqlwin.runtime.rejects import no_rejects
from sqlwin.runtime.task import Output, Task
from sqlwin.state.contract import Blobs
from sqlwin.state.segments import SEGMENT_ROWS

POSITION = "position"
Instant = int | datetime | str
"""Microseconds since the epoch, a datetime (UTC where it has no zone), or ISO 8601 text."""


class EmbeddedQuery:
    """One SELECT, running. See `sqlwin.query`.

    blobs: where `commit` writes; a query made with them goes on from there: with
    its state, its positions and its clock, not with results already emitted.
    token, segment_rows: see `Task`.
    """

    def __init__(
        self,
        script: Script,
        explain: Callable[[Query], str] = repr,
        lowering: Callable[[Query], Lowered] = lower,
        blobs: Blobs | None = None,
        token: str = "",
        segment_rows: int = SEGMENT_ROWS,
    ) -> None:
        if len(script.queries) != 1:
            raise InputError(
                f"an embedded query is one SELECT, the script has {len(script.queries)}"
            )
        self._explain = explain
        self._query = lowering(script.queries[0])
        self._front = Front(self._query)
        self._task = Task(self._query, blobs, token, segment_rows=segment_rows)
        self._board = Board(self._task.back.nothing())
        self._errors: list[pl.DataFrame] = []
        self._blobs = blobs
        self._pushed, self._now = _position(blobs)
        self._failure: RunError | None = None

    def push(self, stream: str, rows: Rows) -> None:
        """Take one batch: a list of dicts, an Arrow table, a pandas or a Polars frame.

        Rows are positioned in the order they are pushed, unless the stream declares
        an OFFSET. Malformed, expired and timeless rows go to `expired()`.
        """
        declared = self._declared(stream)
        frame = frame_of(rows, declared.columns)
        unknown_columns(frame, declared.columns, stream)
        watermark = self._task.clock.of(stream)
        came = decoded(frame, self._pushed, declared, watermark)
        self._pushed += len(frame)
        self.take(came.rows, came.errors)

    def take(self, rows: pl.DataFrame, malformed: pl.DataFrame) -> None:
        """Take one batch that is decoded and has its positions."""
        self._alive()
        taken = self._front.take(rows, self._task.clock.of(self._query.stream.name))
        self._errors += [frame for frame in (malformed, taken.errors) if len(frame)]
        self._run(lambda: self._task.take([taken.rows], [taken.marks], self._now))

    def advance(
        self, now: Instant | None = None, watermark: Mapping[str, Instant] | None = None
    ) -> None:
        """Move processing time, or the watermarks of streams; neither ever goes back."""
        self._now = max(self._now, micros(now)) if now is not None else self._now
        for stream, instant in (watermark or {}).items():
            self._declared(stream)
            self._step(watermark=micros(instant))
        if now is not None:
            self._step()

    def results(self) -> pa.Table:
        """What was emitted since the last call: the columns, then op, emit, revision, row_key."""
        return self._board.fresh().to_arrow()

    def table(self) -> pa.Table:
        """The last revision of every row_key, less what was withdrawn."""
        return self._board.last().to_arrow()

    def expired(self) -> pa.Table:
        """Expired and malformed rows so far: stream, reason, ts, watermark, position, row."""
        return pl.concat([no_rejects(), *self._errors]).to_arrow()

    def drain(self) -> None:
        """End of input: every open window is emitted full, every pending correction at once."""
        self._alive()
        self._run(lambda: self._task.take([], [], self._now, end=True))

    def explain(self) -> str:
        """Operator, stores, message key, policies, lateness and retention."""
        return self._explain(self._query.query)

    def commit(self) -> None:
        """Write state, position and clock into the blobs this query was made with.

        Blobs that can should have a transaction around it.
        """
        self._alive()
        self._task.commit()
        if self._blobs is not None:
            position = {"pushed": self._pushed, "now": self._now}
            self._blobs.put(POSITION, json.dumps(position).encode())

    def _check(self) -> None:
        self._task.stores._check()

    def _step(self, watermark: int | None = None) -> None:
        self._alive()
        self._run(lambda: self._task.take([], [], self._now, watermark=watermark))

    def _run(self, step: Callable[[], Output]) -> None:
        try:
            output = step()
        except RunError as failure:
            self._failure = failure
            raise
        self._board.add(output.results)

    def _alive(self) -> None:
        if self._failure is not None:
            raise RunError(f"the query has failed and takes nothing more: {self._failure}")

    def _declared(self, stream: str) -> Stream:
        if stream != self._query.stream.name:
            raise InputError(f"no stream {stream!r}; the query reads {self._query.stream.name!r}")
        return self._query.stream


def _position(blobs: Blobs | None) -> tuple[int, int]:
    """Rows pushed so far, and the processing time, as of the last commit."""
    if blobs is None or POSITION not in blobs.names():
        return 0, 0
    known = json.loads(blobs.get(POSITION))
    return known["pushed"], known["now"]


def micros(instant: Instant) -> int:
    """Microseconds of an instant in any accepted form; InputError for others."""
    if isinstance(instant, datetime):
        return from_datetime(instant)
    if isinstance(instant, str):
        try:
            return parse_instant(instant)
        except ValueError:
            raise InputError(f"{instant!r} is not an ISO 8601 instant") from None
    try:
        count = index(instant)
    except TypeError:
        count = None
    if count is None or isinstance(instant, bool):
        raise InputError(
            f"{instant!r} is no instant; legal is a count of microseconds, a datetime "
            f"or ISO 8601 text"
        )
    return min(max(count, START), END)
