"""A Kafka broker for tests, which are skipped where there can be none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.skipping import skipping
from tools.servers import kafka
from tools.servers.kafka import Broker, Settings
from tools.servers.ports import free_port

__all__ = ["Broker", "free_port", "running"]


@contextmanager
def running(more: Settings | None = None) -> Iterator[Broker]:
    with skipping(), kafka.running(more) as found:
        yield found
