"""How long a Python worker of Spark takes to connect on a busy machine.

`python -m tests.faults.connecting --loops 8` runs so many busy processes for each core, and
starts the worker that plans a source's batches: as PySpark does, and by `sqlwin.spark.early`.
Spark gives each 10 seconds.
"""

from __future__ import annotations

import argparse
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlwin.spark.session import worker_python

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


def main(arguments: list[str]) -> int:
    asked = argparse.ArgumentParser(description="Time how workers connect on a busy machine.")
    asked.add_argument("--loops", type=int, default=8, help="busy processes for each core")
    asked.add_argument("--starts", type=int, default=3)
    asked.add_argument("--seconds", type=float, default=60, help="after which it is quiet again")
    options = asked.parse_args(arguments)
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
