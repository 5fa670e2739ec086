"""Spark's own account of each batch of a streaming query, as it comes."""

from __future__ import annotations

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
COUNTED = "n"


class Account(StreamingQueryListener):
    """Every batch of the session's one query. counted: rows that a sink counted."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.counted = 0
        self.ended = Event()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        progress = event.progress
        started = datetime.fromisoformat(progress.timestamp.replace("Z", "+00:00")).timestamp()
        ended = started + progress.batchDuration / 1_000
        self.batches.append(Batch(started, ended, progress.numInputRows, dict(progress.durationMs)))
        for metrics in progress.observedMetrics.values():
            self.counted += metrics[COUNTED]

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        self.ended.set()

    def worked(self) -> list[Batch]:
        """The batches that ran; Spark also reports idle times. Events come after the end."""
        self.ended.wait(PATIENCE)
        return [batch for batch in self.batches if "addBatch" in batch.phases]
