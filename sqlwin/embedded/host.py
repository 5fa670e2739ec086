"""A query in this process: push rows, move time, take results. No JVM, no threads.

One `push` is one batch. Nothing here asks a clock: processing time is what
`advance(now=…)` last said, event time is what the rows and `advance(watermark=…)`
say. So a test decides when what is emitted. docs/embedded.md has the examples.

Invariant: what is written knows all outputs of the rows it has taken in: those sent,
those that wait, or, of a flush, those that were cleared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property

import polars as pl
import pyarrow as pa

from sqlwin.embedded.at import resumed, waiting, word, write
from sqlwin.embedded.board import Board
from sqlwin.embedded.refused import Refused
from sqlwin.embedded.sending import Callback, Sending
from sqlwin.errors import Incomplete, InputError, RunError
from sqlwin.operators.contract import Stores
from sqlwin.plan.ir.nodes import Query, Script, Stream
from sqlwin.runtime.files.source import decoded
from sqlwin.runtime.lowering.chain import Lowering, chain
from sqlwin.runtime.lowering.input_pipeline import Front
from sqlwin.runtime.lowering.input_pipelines import brought
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.rows.instants import Instant, micros
from sqlwin.runtime.rows.intake import Rows, frame_of, unknown_columns
from sqlwin.runtime.state_queries import Answers, Asking
from sqlwin.runtime.tasks.staged import StagedTask
from sqlwin.runtime.tasks.task import Output
from sqlwin.state.blobs import SqliteBlobs
from sqlwin.state.contract import Blobs
from sqlwin.state.segments import SEGMENT_ROWS


class EmbeddedQuery(Answers):
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
        self._explain, self._wording = explain, script.wording
        self._blobs, self._token = blobs, token
        self._at, going = resumed(blobs, script.queries[0])
        self._chain = chain(going, lowering)
        self._fronts: Sequence[Front] = self._chain.fronts
        self._task = StagedTask(self._chain, blobs, token, segment_rows, lazy)
        self._board = Board(self._task.back.nothing())
        self._board.add(waiting(blobs, self._task.back.nothing()))
        self._refused = Refused(self._chain.top.expired)
        self._sending = Sending(self._board)
        self._failure: BaseException | None = None
        self._closed = False

    # --- rows and time in ---

    def push(self, stream: str, rows: Rows) -> None:
        """Take one batch: a list of dicts, an Arrow table, a pandas or a Polars frame.

        Rows are positioned in the order they are pushed, unless the stream declares
        an OFFSET; those of a static table come before any other. Malformed, expired and
        timeless rows go to `expired()`. InputError where the query reads processing time and
        `advance` has not said any. InputDisabled after an output was refused; Incomplete
        while a lost message store is filled.
        """
        declared = self._declared(stream)
        self._ready("push")
        self._check_in_time(stream)
        self._check_clock()
        frame = frame_of(rows, declared.columns)
        unknown_columns(frame, declared.columns, stream)
        other = self._other(stream)
        watermark = self._task.watermark(stream)
        came = decoded(frame, self._at.came(other), declared, watermark)
        before = self._at
        self._at = before.moved(len(frame), other)  # a commit on the way has both
        try:
            self.take(stream, came.rows, came.errors)
        except Incomplete:
            self._at = before
            raise

    def take(self, stream: str, rows: pl.DataFrame, malformed: pl.DataFrame) -> None:
        """Take one batch of a stream that is decoded and has its positions."""
        self._ready("take")
        lost, watermark = self._task.missing(), self._task.watermark(stream)
        heard = len(rows) + len(malformed) > 0

        def step() -> Output:
            came = brought(self._fronts, stream, rows, watermark, lost, now=self._at.now)
            out = self._task.take(came.rows, came.marks, self._at.now, heard=heard)
            self._task.read(came.read)
            self._refused.add(malformed, came.errors)
            return out

        self._run(step)

    def advance(
        self, now: Instant | None = None, watermark: Mapping[str, Instant] | None = None
    ) -> None:
        """Move processing time, or the watermarks of streams; neither ever goes back."""
        self._ready("advance")
        reached = {self._declared(s).name: micros(at) for s, at in (watermark or {}).items()}
        if now is not None:
            self._at = self._at.later(micros(now))
        for name, mark in reached.items():
            self._step(watermark={name: mark})
        if now is not None:
            self._step()

    def timeout(self, now: Instant) -> None:
        """A timer: send from where sending stopped; when all is out, input is enabled
        and the policies are looked at."""
        self._alive("timeout")
        self._at = self._at.later(micros(now))
        self._deliver()
        if not self._sending.refused:
            self._step()

    def drain(self) -> None:
        """End of input: every open window is emitted full, every pending correction at once."""
        self._ready("drain")
        self._run(lambda: self._task.take({}, {}, self._at.now, end=True))

    # --- outputs ---

    def on_output(self, callback: Callback) -> None:
        """Send every output as a dict of its columns, those that wait first; see `Sending`."""
        self._alive("on_output")
        self._sending.callback = callback
        self._deliver()

    def results(self, clear: bool = True) -> pa.Table:
        """The outputs that wait: the columns, then op, emit, revision, row_key.

        clear: they wait no longer; False copies them and leaves them for `flush`.
        """
        waiting_ = self._board.fresh().to_arrow()
        if clear:
            self._sending.check_outside("results(clear=True)")
            self._board.drop()
        return waiting_

    def table(self) -> pa.Table:
        """The last revision of every row_key, less what was withdrawn."""
        return self._board.last().to_arrow()

    def expired(self, clear: bool = False) -> pa.Table:
        """The error stream since it was last cleared; columns as in docs/errors.md."""
        rows = self._refused.rows().to_arrow()
        if clear:
            self._refused.kept.clear()
        return rows

    def refused(self) -> dict[str, int]:
        """Rows not taken, by reason, those of EXPIRED COUNT among them."""
        return dict(self._refused.counts)

    def explain(self) -> str:
        """Operator, stores, message key, policies, lateness and retention."""
        return self._explain(self._chain.top.query)

    # --- state ---

    def flush(self) -> None:
        """Clear the outputs that wait; write window store, message store and positions together.

        What was erased from the store has then left its file and its log.

        InputDisabled where a callback has refused some of them: it is to get them.
        """
        self._ready("flush")
        self._write(self._task.back.nothing())
        self._board.drop()
        if isinstance(self._blobs, SqliteBlobs):
            self._blobs.settle()

    def close(self) -> None:
        """Close the store's file; nothing is written. Results that wait can be taken still,
        all else is refused. A query is a context manager, which closes it at the end.
        """
        self._closed = True
        if isinstance(self._blobs, SqliteBlobs):
            self._blobs.close()

    def __enter__(self) -> EmbeddedQuery:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def commit(self) -> None:
        """Write state, positions, clock and the outputs that wait; all of them or none."""
        self._alive("commit")
        self._write(self._board.fresh())

    def offsets(self) -> dict[str, dict[int, int]]:
        """By stream and source partition, the position that a replay has to begin at.

        After the loss of the message store that is the first of the earliest window.
        """
        pushed = {name: self._at.came(self._other(name)) for name in self._chain.streams}
        return {name: self._task.replay_from(name, rows) for name, rows in pushed.items()}

    # --- what is asked; `Answers` has the calls ---

    @cached_property
    def _asking(self) -> Asking:
        return Asking(self._chain.top)

    @contextmanager
    def _looking(self, keys: pl.DataFrame | None) -> Iterator[Sequence[Stores]]:
        """Asking for a key reads its state, which a TTL may go by."""
        self._unbroken()
        stores = self._task.whole()
        lives = stores.forgetting
        if lives is not None:
            lives.at(self._at.now, stores.closed)
        yield [stores]
        if lives is not None and keys is not None:
            lives.read(keys)

    def _check(self) -> None:
        self._task._check()

    def _step(self, watermark: Mapping[str, int] | None = None) -> None:
        self._alive()
        self._run(lambda: self._task.take({}, {}, self._at.now, watermark=watermark))

    def _run(self, step: Callable[[], Output]) -> None:
        """A step, and what follows from it. After a failure half of it may be done."""
        edge = self._task.edge()
        try:
            output = step()
        except Incomplete:
            raise  # what was put back is put back, and nothing else was taken
        except BaseException as failure:
            self._failure = failure
            raise
        self._board.add(output.results)
        self._refused.add(output.errors)
        self._deliver(moved=self._task.edge() != edge)

    def _deliver(self, moved: bool = False) -> None:
        """Send, and write after each sending; if something `moved`, in any case."""
        waits = self._sending.waiting
        try:
            self._sending.send()
        finally:
            if self._sending.callback is not None and (moved or self._sending.waiting < waits):
                self._write(self._board.fresh())

    def _write(self, outputs: pl.DataFrame) -> None:
        if self._blobs is None:
            return
        try:
            self._at = write(self._blobs, self._at, self._token, self._commit, outputs)
        except BaseException as failure:
            self._failure = failure  # the stores count as written what was not
            raise

    def _commit(self) -> None:
        self._task.commit()
        if self._blobs is not None:
            word(self._blobs, self._wording)

    def _ready(self, call: str) -> None:
        self._alive(call)
        self._sending.check_enabled()

    def _alive(self, call: str = "this") -> None:
        self._sending.check_outside(call)
        self._unbroken()

    def _unbroken(self) -> None:
        if self._closed:
            raise InputError("the query is closed")
        if self._failure is not None:
            why = str(self._failure) or type(self._failure).__name__
            raise RunError(f"the query has failed and takes nothing more: {why}")

    def _declared(self, stream: str) -> Stream:
        if stream not in self._chain.streams:
            known = " and ".join(map(repr, self._chain.streams))
            raise InputError(f"no stream {stream!r}; the query reads {known}")
        return self._chain.streams[stream]

    def _check_in_time(self, stream: str) -> None:
        """InputError for rows of a table once rows of a stream may have looked them up."""
        streams = [name for name in self._chain.streams if name not in self._chain.tables]
        begun = [name for name in streams if self._at.came(self._other(name))]
        if begun and stream not in streams:
            raise InputError(
                f"{stream} is a static table: its rows come before the first row of {begun[0]}"
            )

    def _check_clock(self) -> None:
        if self._chain.clock and not self._at.now:
            raise InputError(
                "the query reads processing time, and there is none yet: advance(now=…) comes "
                "before the first row"
            )

    def _other(self, stream: str) -> str | None:
        """As `At` calls a stream."""
        return None if stream == next(iter(self._chain.streams)) else stream
