"""A query in this process, step by step: what each step emits, sends and writes.

A step is one call of the task: rows of a stream, a time, a watermark, or the end. Its outputs are
buffered, sent to the callback if there is one, and written with the state that has them.

Invariant: committed state includes the outputs of all rows it has read: those sent,
those not sent yet, or, after a flush, those that were cleared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import polars as pl

from sqlwin.embedded.callback_delivery import CallbackDelivery
from sqlwin.embedded.checkpoint.query_position import (
    resumed,
    unsent_outputs,
    write,
    write_source_text,
)
from sqlwin.embedded.error_rows import ErrorRows
from sqlwin.embedded.output_buffer import OutputBuffer
from sqlwin.errors import Incomplete, InputError, RunError, StateError
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.lowering.chain import Lowering, chain
from sqlwin.runtime.lowering.input_pipeline import InputPipeline
from sqlwin.runtime.tasks.chain_task import ChainTask
from sqlwin.runtime.tasks.task import Output
from sqlwin.state.blobs.blobs import SqliteBlobs
from sqlwin.state.contract import Blobs


class QuerySteps:
    """A lowered query, its task, position and outputs. For the arguments see `EmbeddedQuery`."""

    def __init__(
        self,
        script: Script,
        lowering: Lowering,
        blobs: Blobs | None,
        token: str,
        segment_rows: int,
        lazy: bool,
    ) -> None:
        if len(script.queries) != 1:
            raise InputError(
                f"an embedded query is one SELECT, the script has {len(script.queries)}"
            )
        self._source_text, self._blobs, self._token = script.source_text, blobs, token
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

    def commit(self) -> None:
        """Write state, positions, clock and the outputs that wait; all of them or none."""
        self._check_usable("commit")
        self._write(self._outputs.fresh())

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
        if self._delivery.callback is None:
            return
        waits = self._delivery.unsent
        try:
            self._delivery.send()
        finally:
            if moved or self._delivery.unsent < waits:
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
