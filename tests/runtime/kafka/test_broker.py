"""The broker of the tests, which is killed and has what was committed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support import kafka
from tests.support.kafka import Broker

LONG_AGO = 1704099600000

pytestmark = pytest.mark.long


def test_a_killed_broker_has_what_was_written(broker: Broker) -> None:
    broker.topic("kept", partitions=2)
    broker.send("kept", "a", "b", partition=1)
    broker.kill()
    broker.start()
    broker.send("kept", "c")
    found = [
        (record.partition(), record.offset(), record.value()) for record in broker.read("kept")
    ]
    assert found == [(0, 0, b"c"), (1, 0, b"a"), (1, 1, b"b")]


def test_records_of_years_ago_stay() -> None:
    def swept(_folder: Path, _port: int, _controller: int) -> str:
        return "log.retention.check.interval.ms=500\nlog.initial.task.delay.ms=500\n"

    with kafka.running(swept) as broker:
        broker.topic("short", **{"retention.ms": "1000"})
        broker.topic("old")
        for topic in ("short", "old"):
            broker.send(topic, "a", timestamp=LONG_AGO)
        until = time.monotonic() + 60
        while broker.read("short") and time.monotonic() < until:
            time.sleep(0.2)
        assert [len(broker.read(topic)) for topic in ("short", "old")] == [0, 1]
