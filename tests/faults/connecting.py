"""How long a Python worker of Spark takes to connect on a busy machine.

`python -m tests.faults.connecting --loops 8` runs so many busy processes for each core, and
starts the worker that plans a source's batches: as PySpark does, and by `sqlwin.spark.early`.
Spark gives each 10 seconds.

With `--whole early` or `--whole plain` Spark starts them itself: a session is made while nothing
else runs, then a script is run on it again and again, with `early` or as PySpark does. What counts
is how many runs end, and how often Spark gave up waiting for a worker.
"""

from __future__ import annotations

import argparse
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlwin.errors import RunError
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.spark import run as running
from sqlwin.spark.session import local as session
from sqlwin.spark.workers.fork_client import SERVER
from sqlwin.spark.workers.launch import worker_python
from sqlwin.sql import script

RUNNER = "pyspark.sql.streaming.python_streaming_source_runner"
BUSY = "import time\nend = time.time() + {}\nwhile time.time() < end: pass"
PATIENCE = 10.0


@contextmanager
def busy(loops: int, seconds: float) -> Iterator[None]:
    """So many processes that want a core each; they end by themselves, too."""
    code = BUSY.format(seconds)
    running = [subprocess.Popen([sys.executable, "-S", "-c", code]) for _ in range(loops)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def seconds_to_connect(python: str) -> float:
    """From the start of the worker to its word that it is there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        environment = {
            **os.environ,
            "SQLWIN_WORKER_PYTHON": sys.executable,
            SERVER: "",
            "PYTHON_WORKER_FACTORY_PORT": port,
            "PYTHON_WORKER_FACTORY_SECRET": "x",
        }
        began = time.monotonic()
        worker = subprocess.Popen([python, "-m", RUNNER], env=environment, stderr=-3)
        with server.accept()[0] as connection:
            connection.recv(5)
            took = time.monotonic() - began
            connection.sendall(struct.pack("!i", 2) + b"ok")
        worker.kill()
        worker.wait()
    return took


SCRIPT = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders.jsonl', format = 'json');
SELECT product, SUM(value) AS total FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start;
"""
ROW = '{"product": "tea", "value": 1, "ts": "2024-01-01T09:00:10Z"}\n'


def whole(python: str, loops: int, starts: int, seconds: float) -> Iterator[str]:
    """So many runs of a script, or as many as begin within the time; what became of each."""
    given_up = runs = 0
    finished: Callable[..., None] = running.finished

    def counted(*given: Any) -> None:
        nonlocal given_up
        try:
            finished(*given)
        except RunError as error:
            given_up += running.UNCONNECTED in str(error)
            raise

    with (
        tempfile.TemporaryDirectory() as home,
        patch.object(session, "worker_python", lambda: python),
    ):
        (Path(home) / "orders.jsonl").write_text(ROW)
        spark = session.local_session()
        began = time.monotonic()
        with busy(loops, seconds + 300), patch.object(running, "finished", counted):
            while runs < starts and time.monotonic() - began < seconds:
                at, read, runs = time.monotonic(), 0, runs + 1
                with suppress(RunError):
                    read = running.run(script(SCRIPT), RunOptions(Path(home)), spark).read
                took = time.monotonic() - at
                ended = "ended" if read else "failed"
                yield f"run {runs} {ended}, in {took:.0f} s; workers given up so far: {given_up}\n"
        spark.stop()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Time how workers connect on a busy machine.")
    parser.add_argument("--loops", type=int, default=8, help="busy processes for each core")
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60, help="after which it is quiet again")
    parser.add_argument("--whole", choices=("early", "plain"), help="runs of a script on Spark")
    options = parser.parse_args(arguments)
    if options.whole:
        python = worker_python() if options.whole == "early" else sys.executable
        loops = options.loops * (os.cpu_count() or 1)
        for line in whole(python, loops, options.starts, options.seconds):
            sys.stdout.write(line)
            sys.stdout.flush()
        return 0
    pythons = {"as PySpark does": sys.executable, "early": worker_python()}
    with busy(options.loops * (os.cpu_count() or 1), options.seconds):
        found = [
            (name, seconds_to_connect(python))
            for _ in range(options.starts)
            for name, python in pythons.items()
        ]
    for name in pythons:
        took = [seconds for each, seconds in found if each == name]
        late = sum(seconds > PATIENCE for seconds in took)
        times = ", ".join(f"{seconds:.2f}" for seconds in took)
        sys.stdout.write(f"{name}: {times} s; {late} of {len(took)} too late\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
