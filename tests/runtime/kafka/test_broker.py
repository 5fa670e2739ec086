"""The broker of the tests, which is killed and has what was committed."""

from __future__ import annotations

import pytest

from tests.support.kafka import Broker

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
