"""Processes of the demo: the producer, and `sqlwin run`, which is killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

QUERY = Path(__file__).with_name("flights.sql")
REPO = Path(__file__).parents[2]


@dataclass
class Process:
    """log: what it said, from `began` on, in bytes. A process has a group of its own, so that
    Spark's JVM goes with it."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    began: int

    def batches(self) -> int:
        """How many it has committed, as its log has it."""
        return self.log.read_bytes()[self.began :].count(b"\nbatch ")

    def check(self) -> bool:
        """Whether it still runs. RuntimeError where it has failed."""
        code = self.process.poll()
        if code:
            said = self.log.read_text(errors="replace").strip().splitlines()[-5:]
            raise RuntimeError("\n".join([f"{self.name} ended with exit code {code}:", *said]))
        return code is None

    def wait(self, seconds: float) -> None:
        """Until it has ended well."""
        self.process.wait(seconds)
        self.check()

    def stop(self, seconds: float) -> None:
        """After its batch."""
        self.process.send_signal(signal.SIGTERM)
        self.wait(seconds)

    def kill(self) -> None:
        """At once, whatever it was at."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@contextmanager
def started(name: str, module: str, *arguments: str, log: Path) -> Iterator[Process]:
    """A module of Python, until the end of the block at most."""
    with log.open("ab") as out:
        began = out.tell()
        out.write(f"--- {module}\n".encode())
        out.flush()
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=REPO,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    running = Process(name, process, log, began)
    try:
        yield running
    finally:
        running.kill()


@dataclass(frozen=True)
class Run:
    """`sqlwin run` of the demo's query. home: has its checkpoint and its log."""

    home: Path
    engine: str
    servers: str
    url: str

    @contextmanager
    def started(self, *more: str) -> Iterator[Process]:
        given = ["--engine", self.engine, "--checkpoint", str(self.home / "state")]
        given += ["--param", f"servers={self.servers}", "--param", f"url={self.url}", *more]
        log = self.home / "run.log"
        with started("sqlwin run", "sqlwin.cli", "run", str(QUERY), *given, log=log) as process:
            yield process
