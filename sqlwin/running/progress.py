"""How a run is going, on stderr: as lines for people, or as JSON for machines."""

from __future__ import annotations

import json
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

import polars as pl

from sqlwin.instants import END, START, format_instant
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.connectors.progress import Batch, Summary

SHOWN_ERRORS = 5


class Progress:
    """One line a batch, the first few rows of the error stream, a summary."""

    def __init__(self, err: TextIO) -> None:
        self.err = err
        self.began = time.monotonic()
        self.shown = 0
        self.warned: set[str] = set()

    def running(self) -> AbstractContextManager[object]:
        """Around the run."""
        return nullcontext()

    def metrics(self, more: OnMetrics | None) -> OnMetrics | None:
        """What takes the metrics of each batch, which go to `more`."""
        return more

    def starting(self, engine: str) -> None:
        self._say(f"starting {engine} …")

    def started(self, engine: str, seconds: float) -> None:
        self._say(f"{engine} is up after {seconds:.1f} s")

    def serving(self, address: str) -> None:
        self._say(f"live page: {address}")

    def batch(self, batch: Batch) -> None:
        marks = ", ".join(
            f"{stream} at {format_instant(w)}"
            for stream, w in batch.watermarks.items()
            if START < w < END
        )
        self._say(
            f"batch {batch.number}: {batch.read:,} rows read, {batch.emitted:,} results"
            + (f", {batch.refused:,} to the error stream" if batch.refused else "")
            + (f"; watermark of {marks}" if marks else "")
        )

    def errors(self, rows: pl.DataFrame) -> None:
        for row in rows.head(max(0, SHOWN_ERRORS - self.shown)).iter_rows(named=True):
            self._say(f"  {row['stream']} {row['position']}: {row['reason']}: {row['row']}")
        self.shown += len(rows)

    def warning(self, text: str) -> None:
        """Each once, as two queries may read one file."""
        if text not in self.warned:
            self.warned.add(text)
            self._say(f"warning: {text}")

    def done(self, summary: Summary) -> None:
        seconds = time.monotonic() - self.began
        self._say(
            f"done: {summary.read:,} rows read, {summary.emitted:,} results in {seconds:.1f} s"
        )
        for reason, count in sorted(summary.refused.items()):
            self._say(f"  error stream: {count:,} rows, {reason}")
        if summary.replayed:
            self._say(f"  {summary.replayed:,} messages were known already")

    def stopped(self, line: str) -> None:
        self._say(line)

    def _say(self, line: str) -> None:
        print(line, file=self.err, flush=True)


class JsonProgress(Progress):
    """The same as JSON, an object a line: time, level, event, and what the event has."""

    def starting(self, engine: str) -> None:
        self._event("info", "starting", engine=engine)

    def started(self, engine: str, seconds: float) -> None:
        self._event("info", "started", engine=engine, seconds=round(seconds, 1))

    def serving(self, address: str) -> None:
        self._event("info", "serving", address=address)

    def batch(self, batch: Batch) -> None:
        marks = batch.watermarks.items()
        self._event(
            "info",
            "batch",
            batch=batch.number,
            rows_read=batch.read,
            rows_emitted=batch.emitted,
            rows_refused=batch.refused,
            watermarks={name: format_instant(w) for name, w in marks if START < w < END},
        )

    def errors(self, rows: pl.DataFrame) -> None:
        for row in rows.head(max(0, SHOWN_ERRORS - self.shown)).iter_rows(named=True):
            known = {name: row[name] for name in ("stream", "position", "reason", "row")}
            self._event("warning", "refused", **known)
        self.shown += len(rows)

    def done(self, summary: Summary) -> None:
        self._event(
            "info",
            "done",
            rows_read=summary.read,
            rows_emitted=summary.emitted,
            refused=dict(summary.refused),
            replayed=summary.replayed,
            seconds=self._seconds(),
        )

    def _seconds(self) -> float:
        return round(time.monotonic() - self.began, 1)

    def warning(self, text: str) -> None:
        if text not in self.warned:
            self.warned.add(text)
            self._event("warning", "warning", message=text)

    def stopped(self, line: str) -> None:
        self._event("info", "stopped", message=line)

    def _event(self, level: str, event: str, **more: object) -> None:
        at = format_instant(time.time_ns() // 1_000)
        self._say(json.dumps({"time": at, "level": level, "event": event, **more}))
