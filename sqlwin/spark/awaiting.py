"""Waiting for a streaming query to end: interrupted, stopped after a batch, failed, begun again."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JNetworkError
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from sqlwin.errors import RunError
from sqlwin.spark.session.local import log_file

UNCONNECTED = "Python worker failed to connect back"
JVM_ENDED = "the JVM of Spark has ended, see {}; the last commit stands: run it again"
POLL_SECONDS = 0.2
_TRACE = "Traceback (most recent call last)"
_RAISED = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)*(\S.*)", re.MULTILINE)


@contextmanager
def jvm_failures() -> Iterator[None]:
    """RunError where the JVM of Spark has ended, in whatever call."""
    try:
        yield
    except (Py4JNetworkError, ConnectionError) as failure:
        raise RunError(JVM_ENDED.format(log_file())) from failure


def _go_on() -> bool:
    return True


def finished(query: StreamingQuery, meanwhile: Callable[[], bool] = _go_on) -> None:
    """Wait for the end; RunError with the cause where the query failed. meanwhile: is called again
    and again; once it is False the query is stopped after its batch.

    An interruption stops the query first: raised within a call to the JVM, as Spark's own
    handler does it, it would cancel the batch and leave a broken connection.
    """
    try:
        with jvm_failures(), interruptions() as interrupted:
            while not query.awaitTermination(POLL_SECONDS):  # type: ignore[arg-type]
                if interrupted.is_set():
                    raise KeyboardInterrupt
                if not meanwhile():
                    _stop_after_batch(query)
    except KeyboardInterrupt:
        query.stop()
        raise
    except StreamingQueryException as failure:
        raise RunError(cause(str(failure))) from failure


def _stop_after_batch(query: StreamingQuery) -> None:
    """Once the batch under way is committed. One that has begun since is run again by the next
    start, under its number."""
    committed = _committed(query)
    while query.isActive and query.status["isTriggerActive"] and _committed(query) == committed:
        time.sleep(POLL_SECONDS / 4)
    query.stop()


def _committed(query: StreamingQuery) -> int | None:
    """The last batch that was."""
    progress = query.lastProgress
    return None if progress is None else progress.batchId


@contextmanager
def interruptions() -> Iterator[threading.Event]:
    """Set by Ctrl-C, which raises nothing then; in the main thread, which alone is interrupted."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def patiently(
    begin: Callable[[], StreamingQuery], meanwhile: Callable[[], bool] = _go_on, tries: int = 3
) -> None:
    """Run to the end, and go on where Spark gave up waiting for a Python worker.

    Its patience is 10 s and cannot be set, which a busy machine exceeds. The batch
    it left runs again, as after any other crash.
    """
    for left in reversed(range(tries)):
        try:
            finished(begin(), meanwhile)
            return
        except RunError as failure:
            if UNCONNECTED not in str(failure) or not left:
                raise


def cause(text: str) -> str:
    """Of a long trace the line of our own error, else Python's last one, else the first line.

    >>> cause("failed:\\nTraceback (most recent call last):\\n  File …\\nOSError: full\\n")
    'OSError: full'
    """
    own = [line for line in text.splitlines() if line.startswith("sqlwin.errors.")]
    if own:
        return own[-1].split(": ", 1)[-1]
    raised = _RAISED.findall(text)
    return raised[-1] if raised else text.splitlines()[0].partition(_TRACE)[0].rstrip(": ")
