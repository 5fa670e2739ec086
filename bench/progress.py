"""Spark's own account of each batch of a streaming query, as it comes."""

from __future__ import annotations

import time
from datetime import datetime
from threading import Event

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from bench.measure import Batch

PATIENCE = 30.0


class Account(StreamingQueryListener):
    """Every batch of the session's one query; `seen` holds once the query has ended."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.ended = Event()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        progress = event.progress
        started = datetime.fromisoformat(progress.timestamp.replace("Z", "+00:00")).timestamp()
        ended = started + progress.batchDuration / 1_000
        self.batches.append(
            Batch(started, ended, progress.numInputRows, dict(progress.durationMs))
        )

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        self.ended.set()

    def all(self) -> list[Batch]:
        """All batches; events come a little after the query's end."""
        self.ended.wait(PATIENCE)
        time.sleep(0.2)
        return self.batches
