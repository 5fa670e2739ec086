"""A query in this process: push rows, move time, take results. No JVM, no threads.

One `push` is one batch. Nothing here asks a clock: processing time is what
`advance(now=…)` last said, event time is what the rows and `advance(watermark=…)`
say. So a test decides when what is emitted. docs/embedded.md has the examples.

Input is in `query_input.py`, a step and what follows from it in `query_steps.py`; here is what
one reads of a query.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from functools import cached_property

import polars as pl

from sqlwin.embedded.async_results import Batches, Clock, processed
from sqlwin.embedded.callback_delivery import Callback
from sqlwin.embedded.query_input import QueryInput
from sqlwin.embedded.query_page import page
from sqlwin.instants import START
from sqlwin.operators.contract import Stores
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.polars_frames import arrow
from sqlwin.runtime.lowering.chain import Lowering
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.queryable_state import QueryableState
from sqlwin.runtime.rows.results import PlanText, Results
from sqlwin.runtime.state_queries import StateQueries
from sqlwin.state.contract import Blobs
from sqlwin.state.segments.store import SEGMENT_ROWS


class EmbeddedQuery(QueryInput, QueryableState):
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
        super().__init__(script, lowering, blobs, token, segment_rows, lazy)
        self._explain = explain
        self._take_inline()

    def __enter__(self) -> EmbeddedQuery:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

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
        outputs = Results(arrow(self._outputs.fresh()))
        if clear:
            self._outputs.drop()
        return outputs

    @cached_property
    def _no_results(self) -> Results:
        return Results(arrow(self._task.projection.nothing()))

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
        return Results(arrow(self._outputs.last()))

    def expired(self, clear: bool = False) -> Results:
        """The error stream since it was last cleared; columns as in docs/errors.md."""
        rows = Results(arrow(self._error_rows.rows()))
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

    def watermark(self, stream: str) -> datetime | None:
        """Of a stream; None before its first row, and of static tables."""
        named = self.stream(stream).name
        reached = START if named in self._chain.tables else self._task.watermark(named)
        return None if reached <= START else _datetime(reached)

    def pushed(self, stream: str) -> int:
        """How many rows of a stream were pushed, those of the error stream among them."""
        return self._position.rows_of(self._other(self.stream(stream).name))

    def deadlines(self) -> tuple[int | None, ...]:
        """When `advance(now=…)` next has something to do, in microseconds; of each operator."""
        return tuple(task.deadline() for task in self._task.tasks)

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


def _datetime(instant: int) -> datetime | None:
    """None beyond the years that Python counts."""
    with suppress(OverflowError):
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=instant)
    return None
