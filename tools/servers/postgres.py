"""A PostgreSQL server for tests and demos, from the binaries of a wheel or of the system.

It has a folder of its own, and a port that was free; `kill` is what a lost power supply does.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.servers.ports import free_port
from tools.servers.unavailable import Unavailable

NOBODY = "nobody"
MISSING = "no PostgreSQL is here; apt-get install postgresql"


def binaries() -> Path | None:
    """The folder of `initdb` and `pg_ctl`."""
    wheel = importlib.util.find_spec("pgserver")
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).parent / "pginstall" / "bin"
    found = shutil.which("pg_ctl") or next(
        (str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))), None
    )
    return Path(found).resolve().parent if found else None


@contextmanager
def running() -> Iterator[Server]:
    """One that is there for the block. Unavailable where there is none."""
    programs = binaries()
    if programs is None:
        raise Unavailable(MISSING)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        server = Server.started(Path(home), programs)
        try:
            yield server
        finally:
            server.stop()


@dataclass
class Server:
    """home: a folder of its own, which others may enter. PostgreSQL does not run as root."""

    home: Path
    programs: Path
    port: int = 0

    @classmethod
    def started(cls, home: Path, programs: Path) -> Server:
        if _root():
            programs = _copied(programs, home)
            shutil.chown(home, NOBODY)
        server = cls(home, programs, free_port())
        server._run("initdb", "-D", "data", "-A", "trust", "-U", "postgres", "-N")
        server.start()
        return server

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-F -h 127.0.0.1 -p {self.port} -k ''"
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop")

    def kill(self) -> None:
        """All of its processes, at once."""
        pid = int((self.home / "data" / "postmaster.pid").read_text().splitlines()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        processes = (pid, *map(int, children))
        for each in processes:
            os.kill(each, signal.SIGKILL)
        while any(map(_runs, processes)):
            time.sleep(0.01)
        (self.home / "data" / "postmaster.pid").unlink()  # nobody may have waited for it

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.programs / program), *arguments],
            cwd=self.home,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            user=NOBODY if _root() else None,
        )


def _copied(programs: Path, home: Path) -> Path:
    """Where anybody may run them: those of a wheel, and the libraries it has beside them."""
    wheel = programs.parents[1]
    libraries = wheel.with_name(f"{wheel.name}.libs")
    if not libraries.is_dir():
        return programs
    shutil.copytree(libraries, home / libraries.name)
    shutil.copytree(programs.parent, home / wheel.name / programs.parent.name)
    return home / wheel.name / programs.parent.name / programs.name


def _runs(process: int) -> bool:
    """It does not, too, where nobody has asked how it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _root() -> bool:
    return os.geteuid() == 0
