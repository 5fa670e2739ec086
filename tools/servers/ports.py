"""A port on the loopback interface for a server."""

from __future__ import annotations

import random
import socket

FIRST, LAST = 10_000, 30_000
"""Below those that the system gives to clients and to servers that ask for any: while a server is
down between a kill and a restart, nobody else comes to listen where its clients look for it."""


def free_port() -> int:
    """One that nobody listened on a moment ago."""
    drawn = random.SystemRandom()
    while True:
        port = drawn.randrange(FIRST, LAST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
