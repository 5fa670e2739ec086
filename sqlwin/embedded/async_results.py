"""Results as an asynchronous iterator: batches in, what each of them has emitted out.

Nothing runs besides: a batch is taken in when the consumer asks for more, so that a slow consumer
slows the source down, and no result waits in a queue. The work on a batch is done in the event
loop's own thread.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from contextlib import aclosing
from typing import Protocol

from sqlwin.errors import InputError
from sqlwin.runtime.rows.conform import Rows
from sqlwin.runtime.rows.instants import Instant
from sqlwin.runtime.rows.results import Results

Batch = tuple[str, Rows] | Rows
"""Rows of a named stream, or of the only one."""
Batches = AsyncIterable[Batch] | Iterable[Batch]
Clock = Callable[[], Instant]
"""Tells processing time; `lambda: datetime.now(timezone.utc)`, or what a test says."""


class Pushed(Protocol):
    """What is asked of the query."""

    @property
    def streams(self) -> tuple[str, ...]: ...

    def push(self, stream: str, rows: Rows) -> None: ...

    def advance(self, now: Instant) -> None: ...

    def drain(self) -> None: ...

    def results(self) -> Results: ...


async def processed(
    query: Pushed, batches: Batches, drain: bool, clock: Clock | None
) -> AsyncGenerator[Results, None]:
    """See `EmbeddedQuery.process`. What emits nothing yields nothing."""
    async with aclosing(_each(batches)) as every:
        async for batch in every:
            if clock is not None:
                query.advance(now=clock())
            query.push(*_named(batch, query.streams))
            if (results := query.results()).num_rows:
                yield results
    if drain:
        query.drain()
        if (results := query.results()).num_rows:
            yield results


def _named(batch: Batch, streams: tuple[str, ...]) -> tuple[str, Rows]:
    if isinstance(batch, tuple) and len(batch) == 2 and isinstance(batch[0], str):
        return batch
    if len(streams) == 1:
        return streams[0], batch
    raise InputError(f"a batch says whose it is: (name, rows), of {' or '.join(streams)}")


async def _each(batches: Batches) -> AsyncGenerator[Batch, None]:
    """Of a generator that is read only here: it is closed with this one."""
    if isinstance(batches, AsyncGenerator):
        async with aclosing(batches):
            async for batch in batches:
                yield batch
    elif isinstance(batches, AsyncIterable):
        async for batch in batches:
            yield batch
    else:
        for batch in batches:
            yield batch
