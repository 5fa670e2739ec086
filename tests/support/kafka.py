"""A Kafka broker for tests, which are skipped where there can be none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.skipping import skipping
from tools.servers import kafka
from tools.servers.kafka import Broker

__all__ = ["Broker", "running"]


@contextmanager
def running() -> Iterator[Broker]:
    with skipping(), kafka.running() as found:
        yield found
