"""The lock of a checkpoint for as long as a streaming query runs on it.

A query that was started ends somewhere else: by `stop`, by a failure, with its session. A
thread waits for that and unlocks the checkpoint then. Whoever begins on the checkpoint next
in this process waits for the thread where the query has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pyspark.sql.streaming.query import StreamingQuery

from sqlwin.runtime.files.lock import locked

PATIENCE = 10.0
_waiting: dict[Path, tuple[StreamingQuery, threading.Thread]] = {}


@contextmanager
def held(checkpoint: Path) -> Iterator[None]:
    """The checkpoint for the block alone. RunError where another process or query has it."""
    _settle(checkpoint.resolve())
    with locked(checkpoint / "sqlwin", checkpoint):
        yield


def started(checkpoint: Path, start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """What `start` starts, which has the checkpoint until it ends. RunError as of `held`."""
    with ExitStack() as stack:
        stack.enter_context(held(checkpoint))
        query = start()
        lock = stack.pop_all()

    def wait() -> None:
        with lock, suppress(Exception):  # it is whoever has the query who hears how it ends
            query.awaitTermination()

    thread = threading.Thread(target=wait, name="sqlwin-lock", daemon=True)
    _waiting[checkpoint.resolve()] = query, thread
    thread.start()
    return query


def _settle(checkpoint: Path) -> None:
    """Of a query of this process that has ended the lock is gone, too."""
    if checkpoint in _waiting:
        query, thread = _waiting[checkpoint]
        if not _is_active(query):
            thread.join(PATIENCE)
            del _waiting[checkpoint]


def _is_active(query: StreamingQuery) -> bool:
    with suppress(Exception):  # its JVM is gone
        return bool(query.isActive)
    return False
