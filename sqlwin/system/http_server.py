"""A server of HTTP in a thread of its own, for as long as a run goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HERE = "127.0.0.1"
Answer = tuple[int, str, str]
"""Status, media type, text."""


class Unopened(Exception):
    """The port cannot be listened on; the text says why."""


@contextmanager
def serving(
    host: str, port: int, called: str, answer: Callable[[str, str], Answer]
) -> Iterator[int]:
    """The port that is listened on: of 0 a free one. answer: to a path with its query, asked for
    under the name of a host. called: the name of the thread."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # few runs serve

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, text = answer(self.path, self.headers.get("Host", ""))
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    try:
        server = ThreadingHTTPServer((host, port), Answers)
    except (OSError, OverflowError) as failure:
        raise Unopened(getattr(failure, "strerror", None) or failure) from failure
    thread = threading.Thread(target=server.serve_forever, name=called, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
