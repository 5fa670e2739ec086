"""The live page of a run: the chart of each query, and its metrics, while batches come.

A server of this machine alone, which ends with the run. `/` is the page, `/data?after=N` what there
is once the version is no longer N. The last batches are kept, and of them as many marks as a page
can take.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sqlwin.errors import InputError
from sqlwin.instants import END, START, format_duration, format_instant
from sqlwin.lazy_dataclass import dataclass
from sqlwin.pictures.charting import charting
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.metrics import QueryMetrics
from sqlwin.runtime.connectors.progress import BatchRows
from sqlwin.runtime.rows.error_stream import EXPIRED
from sqlwin.system.http_server import HERE, Answer, Unopened, serving
from sqlwin.timeline.marks import labels, marks
from sqlwin.timeline.observers import begun, named, recorded, recorders
from sqlwin.timeline.page import page
from sqlwin.timeline.recorder import Recorder
from sqlwin.timeline.recording import Batch, Recording
from sqlwin.timeline.selection import fitted

_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:\d{1,5})?", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
KEPT = 200
"""Batches."""
MOST_MARKS = 1_500
RATE_SECONDS = 10.0
"""Over which rows a second are counted."""


@dataclass
class _Query:
    """version: grows with each batch. totals: of rows by what became of them. cut: whether a batch
    had more rows than are kept."""

    recorder: Recorder
    about: Recording
    batches: deque[Batch] = field(default_factory=lambda: deque(maxlen=KEPT))
    reads: deque[tuple[float, int]] = field(default_factory=deque)
    totals: dict[str, int] = field(default_factory=dict)
    last: QueryMetrics | None = None
    version: int = 0
    cut: bool = False

    def keep(self, batch: Batch) -> None:
        alone = fitted(replace(self.recorder.empty, batches=(batch,)), MOST_MARKS)
        self.batches.append(alone.batches[0])
        self.cut = self.cut or bool(alone.notes)
        self.version += 1

    @property
    def recording(self) -> Recording:
        notes, numbers = list(self.about.notes), [batch.number for batch in self.batches]
        if numbers and numbers[0] > 1:
            notes.append(f"of {numbers[-1]:,} batches the last {len(numbers)} are drawn")
        if self.cut:
            kept = f"at most about {MOST_MARKS:,} rows are kept, and as many emissions"
            notes.append(f"of a batch {kept}")
        shown = replace(self.about, batches=tuple(self.batches), notes=tuple(notes))
        return fitted(shown, MOST_MARKS)

    def count(self, rows: BatchRows, batch: Batch, at: float) -> None:
        self.reads.append((at, rows.read))
        while at - self.reads[0][0] > RATE_SECONDS:
            self.reads.popleft()
        expired = sum(each.reason.startswith(EXPIRED) for each in batch.expired)
        refused = len(batch.expired) - expired
        counts = {"read": rows.read, "emitted": len(rows.results)}
        counts |= {"expired": expired, "refused": refused}
        for name, count in counts.items():
            self.totals[name] = self.totals.get(name, 0) + count

    def measure(self, metrics: QueryMetrics) -> None:
        late = sum(each.late for each in metrics.operators)
        self.totals["late"] = self.totals.get("late", 0) + late
        self.last = metrics

    def metrics(self) -> list[tuple[str, str]]:
        """Name and value, as the page shows them."""
        reads = list(self.reads)
        seconds = max(reads[-1][0] - reads[0][0], 0.001) if len(reads) > 1 else 1.0
        rate = sum(read for _, read in (reads[1:] or reads)) / seconds
        found = [("rows/s", f"{rate:,.0f}"), ("rows read", f"{self.totals.get('read', 0):,}")]
        found += [
            (name, f"{self.totals.get(name, 0):,}")
            for name in ("emitted", "late", "expired", "refused")
        ]
        return found + (_measured(self.last) if self.last is not None else [])


def _measured(metrics: QueryMetrics) -> list[tuple[str, str]]:
    """Watermarks, their lag, open windows and state."""
    found = []
    for name, mark in metrics.watermarks.items():
        if START < mark < END:
            behind = (metrics.at - mark) // 1_000_000 * 1_000_000
            found.append((f"watermark of {name}", format_instant(mark)[:19]))
            lag = " ".join(format_duration(max(0, behind)).split()[:4])
            found.append((f"lag of {name}", lag))
    opened = [each.windows_open for each in metrics.operators if each.windows_open is not None]
    stored = [each.state_rows for each in metrics.operators if each.state_rows is not None]
    found += [("open windows", f"{sum(opened):,}")] if opened else []
    return [*found, ("rows of state", f"{sum(stored):,}" if stored else "in memory")]


class Live:
    """Gets the batches of a run, and answers the page."""

    def __init__(self, script: Script, title: str, bounded: bool) -> None:
        charting()
        self.names, self.lock = named(script), threading.Lock()
        self.queries = [
            _Query(each, begun(each, script, bounded)) for each in recorders(script, title)
        ]

    def rows(self, rows: BatchRows) -> None:
        query = self.queries[rows.query]
        with self.lock:
            batch = recorded(query.recorder, rows)
            query.keep(batch)
            query.count(rows, batch, time.monotonic())

    def metrics(self, metrics: QueryMetrics) -> None:
        with self.lock:
            self.queries[metrics.query].measure(metrics)

    def page(self, number: int) -> str:
        with self.lock:
            found = self.queries[number].recording
        return page(found, found.query, live=True, others=self.names)

    def data(self, number: int, after: int) -> dict[str, Any]:
        query = self.queries[number]
        with self.lock:
            if query.version == after:
                return {"version": after}
            found, version, metrics = query.recording, query.version, query.metrics()
        return {
            "version": version,
            "marks": marks(found),
            "labels": labels(found),
            "notes": found.notes,
            "metrics": metrics,
        }


@contextmanager
def served(live: Live, port: int) -> Iterator[str]:
    """The address of the page. InputError for a port that cannot be listened on."""

    def answer(path: str, host: str) -> Answer:
        asked = urlsplit(path)
        given = {name: values[-1] for name, values in parse_qs(asked.query).items()}
        number, after = _number(given.get("query", "0")), _number(given.get("after", "0"))
        known = number is not None and number < len(live.queries) and asked.path in ("/", "/data")
        if not known or number is None or after is None or not _local(host):
            return 404, "text/plain; charset=utf-8", "/, /data\n"
        if asked.path == "/":
            return 200, "text/html; charset=utf-8", live.page(number)
        found = json.dumps(live.data(number, after), ensure_ascii=False)
        return 200, "application/json; charset=utf-8", found

    try:
        with serving(HERE, port, "sqlwin-ui", answer) as taken:
            yield f"http://{HERE}:{taken}/"
    except Unopened as failure:
        raise InputError(f"--ui {port} cannot be opened: {failure}") from None


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def _local(host: str) -> bool:
    """Whether a page of this machine asks, and no other under the name of another."""
    return _HOST.fullmatch(host) is not None
