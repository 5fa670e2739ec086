"""Where `sqlwin run --metrics` puts the metrics: JSON lines of a file, or a port for Prometheus.

--metrics batches.jsonl          a line for each batch of each query
--metrics 9100                   http://localhost:9100/metrics, of this machine alone
--metrics 0.0.0.0:9100           for others, too
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlwin.errors import InputError
from sqlwin.runtime.connectors.metrics import OnMetrics, QueryMetrics, Totals
from sqlwin.system.http_server import HERE, Answer, Unopened, serving

_PORT = re.compile(r"(?:(.*):)?(\d{1,5})", re.ASCII)
TEXT = "text/plain; version=0.0.4; charset=utf-8"


@contextmanager
def metrics_outlet(wanted: str) -> Iterator[OnMetrics]:
    """InputError for a file that cannot be written, or a port that cannot be listened on."""
    port = _PORT.fullmatch(wanted)
    try:
        with _served(port[1] or HERE, int(port[2])) if port else _file(Path(wanted)) as outlet:
            yield outlet
    except Unopened as failure:
        message = f"--metrics {wanted} cannot be opened: {failure}"
        raise InputError(f"{message}; legal is a file, a port, or host:port") from failure


@contextmanager
def _file(path: Path) -> Iterator[OnMetrics]:
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as failure:
        raise Unopened(failure.strerror) from failure

    def write(batch: QueryMetrics) -> None:
        file.write(batch.line() + "\n")
        file.flush()

    with file:
        yield write


@contextmanager
def _served(host: str, port: int) -> Iterator[OnMetrics]:
    totals = Totals()

    def answer(path: str, _: str) -> Answer:
        found = path.split("?")[0] in ("/", "/metrics")
        return 200 if found else 404, TEXT, totals.text() if found else "/metrics\n"

    with serving(host, port, "sqlwin-metrics", answer):
        yield totals.add
