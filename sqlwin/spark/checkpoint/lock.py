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
_locking: dict[Path, tuple[StreamingQuery, threading.Thread]] = {}


@contextmanager
def checkpoint_locked(checkpoint: Path) -> Iterator[None]:
    """Lock a checkpoint for the block. RunError where another process or query has locked it."""
    _settle(checkpoint.resolve())
    with locked(checkpoint / "sqlwin", checkpoint):
        yield


def started(checkpoint: Path, start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """The query that `start` starts, which locks the checkpoint until it ends.

    RunError as of `checkpoint_locked`.
    """
    with ExitStack() as stack:
        stack.enter_context(checkpoint_locked(checkpoint))
        query = start()
        lock = stack.pop_all()

    def wait() -> None:
        with lock, suppress(Exception):  # it is whoever has the query who hears how it ends
            query.awaitTermination()

    thread = threading.Thread(target=wait, name="sqlwin-lock", daemon=True)
    _locking[checkpoint.resolve()] = query, thread
    thread.start()
    return query


def _settle(checkpoint: Path) -> None:
    """Wait until the lock of a query of this process that has ended is released."""
    if checkpoint in _locking:
        query, thread = _locking[checkpoint]
        if not _is_active(query):
            thread.join(PATIENCE)
            del _locking[checkpoint]


def _is_active(query: StreamingQuery) -> bool:
    with suppress(Exception):  # its JVM is gone
        return bool(query.isActive)
    return False
