"""A schema registry for tests: schemas by number, and those of subjects, over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class SchemaRegistry:
    """schemas: their texts, from number 1. credentials: what a client has to give. subjects: of
    each the numbers of its schemas. requested: paths, in the order of requests."""

    url: str = ""
    credentials: str = ""
    schemas: list[str] = field(default_factory=list)
    subjects: dict[str, list[int]] = field(default_factory=dict)
    requested: list[str] = field(default_factory=list)

    def add(self, schema: Any) -> int:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        if text not in self.schemas:
            self.schemas.append(text)
        return self.schemas.index(text) + 1

    def answer(self, path: str, given: Any) -> tuple[int, Any]:
        self.requested.append(path)
        match path.strip("/").split("/"):
            case ["schemas", "ids", number] if 0 < int(number) <= len(self.schemas):
                return 200, {"schema": self.schemas[int(number) - 1]}
            case ["subjects", subject, "versions"]:
                number = self.add(given["schema"])
                self.subjects.setdefault(subject, []).append(number)
                return 200, {"id": number}
        return 404, {"error_code": 40403, "message": "Schema not found"}


@contextmanager
def running(credentials: str = "") -> Iterator[SchemaRegistry]:
    registry = SchemaRegistry(credentials=credentials)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(None)

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, given: Any) -> None:
            import base64

            wanted = "Basic " + base64.b64encode(registry.credentials.encode()).decode()
            allowed = not registry.credentials or self.headers["Authorization"] == wanted
            refusal = 401, {"error_code": 401, "message": "Unauthorized"}
            code, answer = registry.answer(self.path, given) if allowed else refusal
            body = json.dumps(answer).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
