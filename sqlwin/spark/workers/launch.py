"""What a local session starts as Python, and the fork server it asks."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from sqlwin.spark.workers.fork_client import SERVER


def worker_python() -> str:
    """What Spark starts as Python, see this folder."""
    launcher = Path(__file__).with_name("worker-python")
    return str(launcher) if os.access(launcher, os.X_OK) else sys.executable


LONGEST = 60
"""Bytes of the folder: a socket's path has 107 at most."""
_started: list[subprocess.Popen[bytes]] = []
"""The server of this process: at most one, which ends with it."""


def start_fork_server() -> None:
    """One that imports while the JVM starts, whose environment names it. Once in a process, whose
    stderr of now it has.

    Only on Linux: elsewhere libraries of the system forbid forks after they are loaded.
    """
    if _started or not sys.platform.startswith("linux") or worker_python() == sys.executable:
        return
    path = str(Path(tempfile.mkdtemp(prefix="sqlwin-workers-", dir=_folder())) / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(path)
        listening.listen(256)
        environment = {
            "PYTHONHASHSEED": "0",  # as Spark has it in its workers
            **os.environ,
            "PYTHONUNBUFFERED": "YES",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.fork_server", str(listening.fileno())],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listening.fileno()],
        )
    os.environ[SERVER] = path
    _started.append(process)
    atexit.register(end, process)


def _folder() -> str:
    """That of temporary files, or the system's where its name is too long for a socket's path."""
    named = tempfile.gettempdir()
    return named if len(os.fsencode(named)) <= LONGEST else "/tmp"


def end(process: subprocess.Popen[bytes]) -> None:
    """Its workers go on, and end with the JVM."""
    if process.stdin is not None:
        process.stdin.close()
    process.wait()
