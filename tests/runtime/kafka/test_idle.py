"""A partition without rows does not hold the watermark back once it is idle."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.kafka import Broker
from tests.support.runtime.topics import HOSTS, counted, order, written

pytestmark = pytest.mark.long
SECONDS = 240


@pytest.mark.parametrize("host", HOSTS)
def test_an_idle_partition_is_passed_over(broker: Broker, tmp_path: Path, host: str) -> None:
    """Minutes 1 to 4 close without a row of partition 1 after minute 0, and none comes at all."""
    topic = broker.topic(f"idle_{host}", partitions=2)
    broker.send(topic, order(0, 10), partition=1)
    broker.send(topic, *(order(minute, 1) for minute in range(6)), partition=0)
    marks, until = list[int](), time.monotonic() + SECONDS

    def on_batch(batch: Any) -> None:
        marks.extend(batch.watermarks.values())

    def stop() -> bool:
        return len(set(marks)) > 1 or time.monotonic() > until

    options = {"host": host, "follow": True, "on_batch": on_batch, "stop": stop}
    counted(broker, topic, tmp_path, ", 'idle.timeout' = '2 seconds'", **options)
    assert [row["n"] for row in written(tmp_path)] == [11, 1, 1, 1, 1], marks
    assert [mark // 60_000_000 % 60 for mark in sorted(set(marks))] == [0, 5]


def test_times_of_last_input_are_in_the_checkpoint(broker: Broker, tmp_path: Path) -> None:
    """The second run's partition 1 is idle before its first batch."""
    topic, known = broker.topic("idle_again", partitions=2), tmp_path / "checkpoint"
    more = ", 'idle.timeout' = '1 second'"
    for part in (0, 1):
        broker.send(topic, order(0, 1), partition=part)
    counted(broker, topic, tmp_path, more, checkpoint=known)
    broker.send(topic, order(2, 1), partition=0)
    time.sleep(1.1)
    counted(broker, topic, tmp_path, more, checkpoint=known)
    assert [row["n"] for row in written(tmp_path)] == [2]
