"""A schema registry, as Confluent's: schemas by their numbers, over HTTP.

A schema never changes under its number, so it is kept for the process. A registry that is away is
waited for, as a broker is.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.kafka.client import CALL_SECONDS
from sqlwin.runtime.kafka.retries import PAUSE_SECONDS
from sqlwin.system.secrets import clear

TYPE = "application/vnd.schemaregistry.v1+json"
_CLIENT_ERRORS = range(400, 500)


class Unknown(ValueError):
    """The registry has no such schema."""


@dataclass(frozen=True)
class Registry:
    """credentials: `user:password`, or "". wait: seconds until a failure that may pass is final."""

    url: str
    credentials: str = field(default="", repr=False)
    wait: float = 30.0

    def schema(self, number: int) -> str:
        """Unknown where there is none; RunError where the registry does not answer."""
        return _schema(self, number)

    def register(self, subject: str, schema: str) -> int:
        """Its number, also where it is registered already. RunError where it is refused."""
        path = f"subjects/{quote(subject, safe='')}/versions"
        return int(self._asked(path, {"schema": schema})["id"])

    def _asked(self, path: str, given: Mapping[str, str] | None = None) -> Any:
        until = time.monotonic() + self.wait
        while True:
            try:
                return self._answer(path, given)
            except HTTPError as failure:
                if failure.code in _CLIENT_ERRORS or time.monotonic() > until:
                    raise RunError(self._failed(path, _words(failure))) from failure
            except (OSError, HTTPException, ValueError) as failure:
                if time.monotonic() > until:
                    raise RunError(self._failed(path, str(failure))) from failure
            time.sleep(PAUSE_SECONDS)

    def _answer(self, path: str, given: Mapping[str, str] | None) -> Any:
        data = None if given is None else json.dumps(given).encode()
        headers = {"Accept": TYPE, "Content-Type": TYPE}
        if self.credentials:
            secret = base64.b64encode(clear(self.credentials).encode()).decode()
            headers["Authorization"] = f"Basic {secret}"
        request = Request(f"{self.url.rstrip('/')}/{path}", data, headers)
        with urlopen(request, timeout=CALL_SECONDS) as answer:
            return json.loads(answer.read())

    def _failed(self, path: str, why: str) -> str:
        return f"the schema registry {self.url} does not answer {path}: {why}"


@lru_cache(maxsize=1024)
def _schema(registry: Registry, number: int) -> str:
    try:
        found = registry._asked(f"schemas/ids/{number}")
    except RunError as failure:
        cause = failure.__cause__
        if isinstance(cause, HTTPError) and cause.code == 404:
            raise Unknown(f"the schema registry has no schema {number}") from failure
        raise
    if found.get("schemaType", "AVRO") != "AVRO":
        raise Unknown(f"schema {number} is of {found['schemaType']}, not of Avro")
    return str(found["schema"])


def _words(failure: HTTPError) -> str:
    try:
        return str(json.loads(failure.read())["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"{failure.code} {failure.reason}"
