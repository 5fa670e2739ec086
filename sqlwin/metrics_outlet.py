"""Where `sqlwin run --metrics` puts the metrics: JSON lines of a file, or a port for Prometheus.

--metrics batches.jsonl          a line for each batch of each query
--metrics 9100                   http://localhost:9100/metrics, of this machine alone
--metrics 0.0.0.0:9100           for others, too
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sqlwin.errors import InputError
from sqlwin.runtime.connectors.metrics import OnMetrics, QueryMetrics, Totals

_PORT = re.compile(r"(?:(.*):)?(\d{1,5})", re.ASCII)
TEXT = "text/plain; version=0.0.4; charset=utf-8"
HERE = "127.0.0.1"


@contextmanager
def metrics_outlet(wanted: str) -> Iterator[OnMetrics]:
    """InputError for a file that cannot be written, or a port that cannot be listened on."""
    port = _PORT.fullmatch(wanted)
    try:
        with _served(port[1] or HERE, int(port[2])) if port else _file(Path(wanted)) as outlet:
            yield outlet
    except _Unopened as failure:
        message = f"--metrics {wanted} cannot be opened: {failure}"
        raise InputError(f"{message}; legal is a file, a port, or host:port") from failure


class _Unopened(Exception):
    pass


@contextmanager
def _file(path: Path) -> Iterator[OnMetrics]:
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as failure:
        raise _Unopened(failure.strerror) from failure

    def write(batch: QueryMetrics) -> None:
        file.write(batch.line() + "\n")
        file.flush()

    with file:
        yield write


@contextmanager
def _served(host: str, port: int) -> Iterator[OnMetrics]:
    totals = Totals()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.split("?")[0] in ("/", "/metrics")
            body = totals.text().encode() if found else b"/metrics\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", TEXT)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    try:
        server = ThreadingHTTPServer((host, port), Answers)
    except (OSError, OverflowError) as failure:
        raise _Unopened(getattr(failure, "strerror", None) or failure) from failure
    thread = threading.Thread(target=server.serve_forever, name="sqlwin-metrics", daemon=True)
    thread.start()
    try:
        yield totals.add
    finally:
        server.shutdown()
        server.server_close()
