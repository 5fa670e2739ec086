"""The live page of a run: the chart of each query, and its metrics, while batches come.

A server of this machine alone, which ends with the run. `/` is the page, `/data?after=N` what there
is once the version is no longer N. The last batches are kept, and of them as many marks as a page
can take.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sqlwin.charting import charting
from sqlwin.errors import InputError
from sqlwin.instants import END, START, format_duration, format_instant
from sqlwin.plan.ir.nodes import Script
from sqlwin.runtime.connectors.metrics import QueryMetrics
from sqlwin.runtime.connectors.progress import BatchRows
from sqlwin.runtime.rows.error_stream import EXPIRED
from sqlwin.timeline.marks import labels, marks
from sqlwin.timeline.observers import begun, named, recorded, recorders
from sqlwin.timeline.page import page
from sqlwin.timeline.recorder import Recorder
from sqlwin.timeline.recording import Batch, Recording
from sqlwin.timeline.selection import fitted

HERE = "127.0.0.1"
HOSTS = (HERE, "localhost")
KEPT = 200
"""Batches."""
MOST_MARKS = 1_500
RATE_SECONDS = 10.0
"""Over which rows a second are counted."""


@dataclass
class _Query:
    """version: grows with each batch. totals: of rows by what became of them."""

    recorder: Recorder
    about: Recording
    batches: deque[Batch] = field(default_factory=lambda: deque(maxlen=KEPT))
    reads: deque[tuple[float, int]] = field(default_factory=deque)
    totals: dict[str, int] = field(default_factory=dict)
    last: QueryMetrics | None = None
    version: int = 0

    @property
    def recording(self) -> Recording:
        notes, numbers = list(self.about.notes), [batch.number for batch in self.batches]
        if numbers and numbers[0] > 1:
            notes.append(f"of {numbers[-1]:,} batches the last {len(numbers)} are drawn")
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

    def __init__(self, script: Script, title: str, counted: bool) -> None:
        charting()
        self.names, self.lock = named(script), threading.Lock()
        self.queries = [
            _Query(each, begun(each, script, counted)) for each in recorders(script, title)
        ]

    def rows(self, rows: BatchRows) -> None:
        query = self.queries[rows.query]
        with self.lock:
            batch = recorded(query.recorder, rows)
            query.batches.append(batch)
            query.count(rows, batch, time.monotonic())
            query.version += 1

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

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            given = {name: values[-1] for name, values in parse_qs(asked.query).items()}
            number, after = given.get("query", "0"), given.get("after", "0")
            known = number.isdecimal() and int(number) < len(live.queries) and after.isdecimal()
            local = self.headers.get("Host", "").rpartition(":")[0] in HOSTS
            if not (known and local and asked.path in ("/", "/data")):
                self._send(404, "text/plain", "/, /data\n")
            elif asked.path == "/":
                self._send(200, "text/html", live.page(int(number)))
            else:
                found = live.data(int(number), int(after))
                self._send(200, "application/json", json.dumps(found, ensure_ascii=False))

        def _send(self, code: int, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    try:
        server = ThreadingHTTPServer((HERE, port), Answers)
    except (OSError, OverflowError) as failure:
        why = getattr(failure, "strerror", None) or failure
        raise InputError(f"--ui {port} cannot be opened: {why}") from None
    thread = threading.Thread(target=server.serve_forever, name="sqlwin-ui", daemon=True)
    thread.start()
    try:
        yield f"http://{HERE}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
