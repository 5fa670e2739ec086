"""A process that is forked by a fork server: `fork_client.py SOCKET -m MODULE …`.

To Spark this process is the worker: it has its stdin, stdout and stderr, ends when it ends and as
it ended, and hands on the signals that end it. Where no server answers it becomes what
Spark would have started without one.

It sends the server its stdin, stdout and stderr with the length of a JSON text (four bytes), and
the text: arguments, environment, folder. The server answers with the number of the process (four
bytes), and once that has ended with its status (four bytes): an exit code, or the signal that
ended it, negative.

Invariant: the server sees this process end, even if it is killed, and ends the worker.

Nothing but the standard library is imported, and nothing of sqlwin, for this is to start at once.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

SERVER = "SQLWIN_FORK_SERVER"
"""The environment variable with the path of the server's socket."""
LAUNCHER = str(Path(__file__).with_name("worker-python"))
HANDED_ON = (signal.SIGTERM, signal.SIGHUP)
NUMBER = struct.Struct("!i")
STANDARD = 3
"""File descriptors of a request: stdin, stdout and stderr."""


@dataclass(frozen=True)
class Request:
    """arguments: those after `python -m`, the module first. folder: the working directory."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str


def send(connection: socket.socket, request: Request) -> None:
    text = json.dumps(asdict(request)).encode()
    socket.send_fds(connection, [NUMBER.pack(len(text))], list(range(STANDARD)))
    connection.sendall(text)


def received(connection: socket.socket) -> tuple[Request, list[int]]:
    """A request and its file descriptors. EOFError where the client has gone."""
    length, descriptors, *_ = socket.recv_fds(connection, NUMBER.size, STANDARD)
    if len(length) < NUMBER.size or len(descriptors) < STANDARD:
        raise EOFError
    (size,) = NUMBER.unpack(length)
    return Request(**json.loads(exactly(connection, size))), descriptors


def number(connection: socket.socket) -> int:
    """EOFError where the other side has gone."""
    found: int = NUMBER.unpack(exactly(connection, NUMBER.size))[0]
    return found


def exactly(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = connection.recv(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def main(path: str, arguments: list[str]) -> None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
        send(connection, Request(arguments, dict(os.environ), str(Path.cwd())))
        worker = number(connection)
    except (OSError, EOFError):
        del os.environ[SERVER]
        os.execv(LAUNCHER, [LAUNCHER, "-m", *arguments])

    def hand_on(received: int, _frame: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(worker, received)

    for each in HANDED_ON:
        signal.signal(each, hand_on)
    try:
        status = number(connection)
    except (OSError, EOFError):  # the server was killed
        hand_on(signal.SIGTERM, None)
        status = 1
    if status < 0:
        with suppress(OSError):  # SIGKILL has no other
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    if sys.argv[2:3] != ["-m"]:
        sys.exit("usage: fork_client.py SOCKET -m MODULE …")
    main(sys.argv[1], sys.argv[3:])
