"""A PostgreSQL for tests, which are skipped where there can be none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.skipping import skipping
from tools.servers import postgres
from tools.servers.postgres import Server

__all__ = ["Server", "running"]


@contextmanager
def running() -> Iterator[Server]:
    with skipping(), postgres.running() as found:
        yield found
