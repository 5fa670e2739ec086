"""A query in this process: push rows, move time, take results. No JVM, no threads.

One `push` is one batch. Nothing here asks a clock: processing time is what
`advance(now=…)` last said, event time is what the rows and `advance(watermark=…)`
say. So a test decides when what is emitted. docs/embedded.md has the examples.

Invariant: committed state includes the outputs of all rows it has read: those sent,
those not sent yet, or, after a flush, those that were cleared.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from functools import cached_property

import polars as pl

from sqlwin.embedded.async_results import Batches, Clock, processed
from sqlwin.embedded.callback_delivery import Callback, CallbackDelivery
from sqlwin.embedded.checkpoint.query_position import (
    resumed,
    unsent_outputs,
    write,
    write_source_text,
)
from sqlwin.embedded.error_rows import ErrorRows
from sqlwin.embedded.inline_rows import inline_streams
from sqlwin.embedded.output_buffer import OutputBuffer
from sqlwin.embedded.query_page import page
from sqlwin.errors import Incomplete, InputError, RunError, StateError
from sqlwin.instants import START
from sqlwin.operators.contract import Stores
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.plan.properties.processing_time import by_clock
from sqlwin.runtime.files.source import decoded
from sqlwin.runtime.lowering.chain import Lowering, chain
from sqlwin.runtime.lowering.changes import of_kind
from sqlwin.runtime.lowering.input_pipeline import InputPipeline
from sqlwin.runtime.lowering.input_pipelines import prepare_batch
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.rows.conform import Rows, frame_of, unknown_columns
from sqlwin.runtime.rows.instants import Instant, micros
from sqlwin.runtime.rows.results import PlanText, Results
from sqlwin.runtime.state_queries import QueryableState, StateQueries
from sqlwin.runtime.tasks.chain_task import ChainTask
from sqlwin.runtime.tasks.task import Output
from sqlwin.state.blobs.blobs import SqliteBlobs
from sqlwin.state.contract import Blobs
from sqlwin.state.segments.store import SEGMENT_ROWS


class EmbeddedQuery(QueryableState):
    """One SELECT, running. See `sqlwin.query`.

    *Standalone*: outputs wait until `results` takes them; `flush` clears them and writes
    state and positions together. *Automatic*: `on_output` sends each output as it comes.

    blobs: where state is kept; a query made with them goes on from there: with its
    state, its positions, its clock and the outputs that were not sent. token,
    segment_rows, lazy: see `Task`.
    """

    def __init__(
        self,
        script: Script,
        explain: Callable[[Query], str] = repr,
        lowering: Lowering = lower,
        blobs: Blobs | None = None,
        token: str = "",
        segment_rows: int = SEGMENT_ROWS,
        lazy: bool = False,
    ) -> None:
        if len(script.queries) != 1:
            raise InputError(
                f"an embedded query is one SELECT, the script has {len(script.queries)}"
            )
        self._explain, self._source_text = explain, script.source_text
        self._blobs, self._token = blobs, token
        self._position, going = resumed(blobs, script.queries[0])
        self._chain = chain(going, lowering)
        self._pipelines: Sequence[InputPipeline] = self._chain.pipelines
        self._task = ChainTask(self._chain, blobs, token, segment_rows, lazy)
        self._outputs = OutputBuffer(self._task.projection.nothing())
        self._outputs.add(unsent_outputs(blobs, self._task.projection.nothing()))
        self._error_rows = ErrorRows(self._chain.top.expired)
        self._delivery = CallbackDelivery(self._outputs)
        self._failure: BaseException | None = None
        self._closed = False
        self._take_inline()

    # --- rows and time in ---

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
        that are pushed have rows, for these come before rows of any stream."""
        for name in inline_streams(self._chain, self._begun):
            from sqlwin.runtime.inline.rows import placed
            from sqlwin.runtime.rows.error_stream import no_rejects

            rows = placed(self.stream(name))
            self._position = self._position.moved(max(1, len(rows)), self._other(name))
            self.take(name, rows, no_rejects())

    def _begun(self, name: str) -> bool:
        return self._position.rows_of(self._other(name)) > 0

    def take(self, stream: str, rows: pl.DataFrame, malformed: pl.DataFrame) -> None:
        """Take one batch of a stream that is decoded and has its positions."""
        self._check_accepts_input("take")
        lost, watermark = self._task.missing(), self._task.watermark(stream)
        has_rows = len(rows) + len(malformed) > 0

        def step() -> Output:
            batch = prepare_batch(
                self._pipelines, stream, rows, watermark, lost, now=self._position.now
            )
            out = self._task.take(batch.rows, batch.marks, self._position.now, has_rows=has_rows)
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

    # --- outputs ---

    def on_output(self, callback: Callback) -> None:
        """Send every output as a dict of its columns, unsent ones first."""
        self._check_usable("on_output")
        self._delivery.callback = callback
        self._deliver()

    def results(self, clear: bool = True) -> Results:
        """The outputs that wait: the columns, then op, emit, revision, row_key.

        clear: they wait no longer; False copies them and leaves them for `flush`.
        """
        if clear:
            self._delivery.check_outside("results(clear=True)")
        if not self._outputs.waits:  # most pushes of few rows end no window
            return self._no_results
        outputs = Results(self._outputs.fresh().to_arrow())
        if clear:
            self._outputs.drop()
        return outputs

    @cached_property
    def _no_results(self) -> Results:
        return Results(self._task.projection.nothing().to_arrow())

    def process(
        self, batches: Batches, drain: bool = True, clock: Clock | None = None
    ) -> AsyncGenerator[Results, None]:
        """Push each batch, and yield what it has emitted; at the end, what `drain` emits.

        batches: (name of a stream, rows), or rows alone where one stream is read; any iterable, or
        an asynchronous one. The next is asked for when the results of the one before are used up.
        Who stops early closes it: `async with contextlib.aclosing(…)`; an asynchronous generator
        of batches is then closed too.
        clock: is asked before each batch, for `advance(now=…)`; rows may be none.
        """
        return processed(self, batches, drain, clock)

    def table(self) -> Results:
        """The last revision of every row_key, less what was retracted."""
        return Results(self._outputs.last().to_arrow())

    def expired(self, clear: bool = False) -> Results:
        """The error stream since it was last cleared; columns as in docs/errors.md."""
        rows = Results(self._error_rows.rows().to_arrow())
        if clear:
            self._error_rows.pending.clear()
        return rows

    def refused(self) -> dict[str, int]:
        """Rows not taken, by reason, those of EXPIRED COUNT among them."""
        return dict(self._error_rows.counts)

    def explain(self) -> PlanText:
        """Operator, stores, message key, policies, lateness and retention."""
        return PlanText(self._explain(self._chain.top.query))

    def _repr_html_(self) -> str:
        return page(self)

    @property
    def streams(self) -> tuple[str, ...]:
        """Names of the streams and static tables that are read."""
        return tuple(self._chain.streams)

    def watermark(self, stream: str) -> datetime | None:
        """Of a stream; None before its first row, and of static tables."""
        named = self.stream(stream).name
        reached = START if named in self._chain.tables else self._task.watermark(named)
        return None if reached <= START else _datetime(reached)

    def pushed(self, stream: str) -> int:
        """How many rows of a stream were pushed, those of the error stream among them."""
        return self._position.rows_of(self._other(self.stream(stream).name))

    def stream(self, stream: str) -> Stream:
        """A stream or static table that is read, as it is declared. InputError for others."""
        if stream not in self._chain.streams:
            known = " and ".join(map(repr, self._chain.streams))
            raise InputError(f"no stream {stream!r}; the query reads {known}")
        return self._chain.streams[stream]

    def deadlines(self) -> tuple[int | None, ...]:
        """When `advance(now=…)` next has something to do, in microseconds; of each operator."""
        return tuple(task.deadline() for task in self._task.tasks)

    # --- state ---

    def flush(self) -> None:
        """Clear the outputs that wait; write window store, message store and positions together.

        What was erased from the store has then left its file and its log.

        InputDisabled where a callback has refused some of them: it is to get them.
        """
        self._check_accepts_input("flush")
        self._write(self._task.projection.nothing())
        self._outputs.drop()
        if isinstance(self._blobs, SqliteBlobs):
            self._blobs.settle()

    def close(self) -> None:
        """Close the store's file; nothing is written. Results that wait can be taken still,
        all else is refused. A query is a context manager, which closes it at the end.
        """
        was, self._closed = self._closed, True
        if isinstance(self._blobs, SqliteBlobs):
            if not was:
                with suppress(RunError, StateError):  # nothing is lost by it
                    self._blobs.settle()  # SQLite does so only if no other has the file open
            self._blobs.close()

    def __enter__(self) -> EmbeddedQuery:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def commit(self) -> None:
        """Write state, positions, clock and the outputs that wait; all of them or none."""
        self._check_usable("commit")
        self._write(self._outputs.fresh())

    def offsets(self) -> dict[str, dict[int, int]]:
        """By stream and source partition, the position that a replay has to begin at.

        After the loss of the message store that is the first of the earliest window.
        """
        pushed = {name: self._position.rows_of(self._other(name)) for name in self._chain.streams}
        return {name: self._task.replay_from(name, rows) for name, rows in pushed.items()}

    # --- state queries; `QueryableState` has the calls ---

    @cached_property
    def _state_queries(self) -> StateQueries:
        return StateQueries(self._chain.top)

    @contextmanager
    def _open_stores(self, keys: pl.DataFrame | None) -> Iterator[Sequence[Stores]]:
        """Asking for a key reads its state, which a TTL may go by."""
        self._check_running()
        stores = self._task.complete_stores()
        ttl = stores.ttl
        if ttl is not None:
            ttl.at(self._position.now, stores.watermark)
        yield [stores]
        if ttl is not None and keys is not None:
            ttl.read(keys)

    def _check(self) -> None:
        self._task._check()

    def _step(self, watermark: Mapping[str, int] | None = None) -> None:
        self._check_usable()
        self._run(lambda: self._task.take({}, {}, self._position.now, watermark=watermark))

    def _run(self, step: Callable[[], Output]) -> None:
        """A step, and what follows from it. After a failure half of it may be done."""
        written = self._delivery.callback is not None  # else only `commit` and `flush` write
        edge = self._task.edge() if written else None
        try:
            output = step()
        except Incomplete:
            raise  # what was put back is put back, and nothing else was taken
        except BaseException as failure:
            self._failure = failure
            raise
        self._outputs.add(output.results)
        self._error_rows.add(output.errors)
        self._deliver(moved=written and self._task.edge() != edge)

    def _deliver(self, moved: bool = False) -> None:
        """Send, and write after each sending; if something `moved`, in any case."""
        waits = self._delivery.unsent
        try:
            self._delivery.send()
        finally:
            if self._delivery.callback is not None and (moved or self._delivery.unsent < waits):
                self._write(self._outputs.fresh())

    def _write(self, outputs: pl.DataFrame) -> None:
        if self._blobs is None:
            return
        try:
            self._position = write(self._blobs, self._position, self._token, self._commit, outputs)
        except BaseException as failure:
            self._failure = failure  # the stores count as written what was not
            raise

    def _commit(self) -> None:
        self._task.commit()
        if self._blobs is not None:
            write_source_text(self._blobs, self._source_text)

    def _check_accepts_input(self, call: str) -> None:
        self._check_usable(call)
        self._delivery.check_enabled()

    def _check_usable(self, call: str = "this") -> None:
        self._delivery.check_outside(call)
        self._check_running()

    def _check_running(self) -> None:
        if self._closed:
            raise InputError("the query is closed")
        if self._failure is not None:
            why = str(self._failure) or type(self._failure).__name__
            raise RunError(f"the query has failed and takes nothing more: {why}")

    def _check_in_time(self, stream: str) -> None:
        """InputError for rows of a table once rows of a stream may have looked them up."""
        streams = [name for name in self._chain.streams if name not in self._chain.tables]
        begun = [name for name in streams if self._begun(name)]
        if stream in self._chain.both and self._begun(stream):
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


def _datetime(instant: int) -> datetime | None:
    """None beyond the years that Python counts."""
    with suppress(OverflowError):
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=instant)
    return None
