"""Rows and time that go into a query in this process, and what must hold of them."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sqlwin.embedded.inline_rows import inline_streams
from sqlwin.embedded.query_steps import QuerySteps
from sqlwin.errors import Incomplete, InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.processing_time import by_clock
from sqlwin.runtime.files.source import decoded
from sqlwin.runtime.lowering.changes import of_kind
from sqlwin.runtime.lowering.input_pipelines import of_streams, prepare_batch
from sqlwin.runtime.rows.conform import Rows, frame_of, unknown_columns
from sqlwin.runtime.rows.instants import Instant, micros
from sqlwin.runtime.tasks.task import Output


class QueryInput(QuerySteps):
    """Takes rows of its streams, watermarks and processing time, each as one step."""

    def push(self, stream: str, rows: Rows, op: str | None = None) -> None:
        """Take one batch: a list of dicts, an Arrow table, a pandas or a Polars frame.

        op: what each row of a changelog is, `+I`, `+U`, `-U` or `-D`; None: its own column says.

        Rows are positioned in the order they are pushed, unless the stream declares
        an OFFSET; those of a static table come before any other. Malformed, expired and
        timeless rows go to `expired()`. InputError where the query reads processing time and
        `advance` has not said any. InputDisabled after an output was refused; Incomplete
        while a lost message store is filled.
        """
        declared = self.stream(stream)
        self._check_accepts_input("push")
        self._check_in_time(stream)
        self._check_clock()
        frame = frame_of(rows, declared.columns)
        unknown_columns(frame, declared.columns, stream)
        if op is not None:
            frame = of_kind(frame, op, declared)
        other = self._other(stream)
        watermark = self._task.watermark(stream)
        decoded_rows = decoded(frame, self._position.rows_of(other), declared, watermark)
        before = self._position
        self._position = before.moved(len(frame), other)  # a commit on the way has both
        try:
            self.take(stream, decoded_rows.rows, decoded_rows.errors)
        except Incomplete:
            self._position = before
            raise
        if stream in self._chain.tables:
            self._take_inline()

    def _take_inline(self) -> None:
        """The rows that the query has itself, once: first those of tables; others when the tables
        that are pushed have rows, for these come before rows of any stream. Those of several come
        in one batch, for any of them may look up the others."""
        names = inline_streams(self._chain, self._begun)
        if names:
            from sqlwin.runtime.inline.rows import placed
            from sqlwin.runtime.rows.error_stream import no_rejects

            rows = {name: placed(self.stream(name)) for name in names}
            for name, own in rows.items():
                self._position = self._position.moved(max(1, len(own)), self._other(name))
            self.take_together(rows, no_rejects())

    def _begun(self, name: str) -> bool:
        return self._position.rows_of(self._other(name)) > 0

    def take(self, stream: str, rows: pl.DataFrame, malformed: pl.DataFrame) -> None:
        """Take one batch of a stream that is decoded and has its positions."""
        self.take_together({stream: rows}, malformed)

    def take_together(self, rows: Mapping[str, pl.DataFrame], malformed: pl.DataFrame) -> None:
        """As `take`, of several streams in one batch."""
        self._check_accepts_input("take")
        lost = self._task.missing()
        watermarks = {stream: self._task.watermark(stream) for stream in rows}
        has_rows = sum(map(len, rows.values())) + len(malformed) > 0

        def step() -> Output:
            now = self._position.now
            batch, *others = [
                prepare_batch(self._pipelines, stream, own, watermarks[stream], lost, now=now)
                for stream, own in rows.items()
            ]
            if others:
                batch = of_streams([batch, *others])
            out = self._task.take(batch.rows, batch.marks, now, has_rows=has_rows)
            self._task.read(batch.read)
            self._error_rows.add(malformed, batch.errors)
            return out

        self._run(step)

    def advance(
        self, now: Instant | None = None, watermark: Mapping[str, Instant] | None = None
    ) -> None:
        """Move processing time, or the watermarks of streams; neither ever goes back."""
        self._check_accepts_input("advance")
        reached = {self._moved(s): micros(at) for s, at in (watermark or {}).items()}
        if now is not None:
            self._position = self._position.later(micros(now))
        for name, mark in reached.items():
            self._step(watermark={name: mark})
        if now is not None:
            self._step()

    def timeout(self, now: Instant) -> None:
        """A timer: send from where sending stopped; when all is out, input is enabled
        and the policies are looked at."""
        self._check_usable("timeout")
        self._position = self._position.later(micros(now))
        self._deliver()
        if not self._delivery.refused:
            self._step()

    def drain(self) -> None:
        """End of input: every open window is emitted full, every pending correction at once."""
        self._check_accepts_input("drain")
        self._run(lambda: self._task.take({}, {}, self._position.now, end=True))

    @property
    def streams(self) -> tuple[str, ...]:
        """Names of the streams and static tables that are read."""
        return tuple(self._chain.streams)

    def stream(self, stream: str) -> Stream:
        """A stream or static table that is read, as it is declared. InputError for others."""
        if stream not in self._chain.streams:
            known = " and ".join(map(repr, self._chain.streams))
            raise InputError(f"no stream {stream!r}; the query reads {known}")
        return self._chain.streams[stream]

    def _check_in_time(self, stream: str) -> None:
        """InputError for rows of a table once rows of a stream may have looked them up."""
        if not self._chain.tables:
            return
        streams = [name for name in self._chain.streams if name not in self._chain.tables]
        lookups = self._chain.lookups.get(stream, frozenset())
        begun = [name for name in (*streams, *sorted(lookups)) if self._begun(name)]
        if stream in lookups and stream in begun:
            raise InputError(f"{stream} is joined with itself, so its rows come in one push")
        if begun and stream not in streams:
            raise InputError(
                f"{stream} is a static table: its rows come before the first row of {begun[0]}"
            )

    def _check_clock(self) -> None:
        if self._chain.clock and not self._position.now:
            raise InputError(
                "the query reads processing time, and there is none yet: advance(now=…) comes "
                "before the first row"
            )

    def _moved(self, stream: str) -> str:
        """The name of a stream whose watermark may be said; InputError of one of the clock."""
        declared = self.stream(stream)
        if by_clock(declared):
            raise InputError(
                f"{stream} goes by processing time: advance(now=…) moves its watermark"
            )
        return declared.name

    def _other(self, stream: str) -> str | None:
        """As `QueryPosition` calls a stream."""
        return None if stream == next(iter(self._chain.streams)) else stream
