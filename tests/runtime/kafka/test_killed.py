"""A process that follows a topic is killed amid a write to another: each result is there once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.spark_kills import killed_now, victims
from tests.support.kafka import Broker

pytestmark = pytest.mark.long

PRODUCTS, MINUTES, SECONDS = 2000, 5, 400
SCRIPT = """
CREATE STREAM orders (product STRING, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (
  connector = 'kafka', servers = '{servers}', topic = '{topic}', 'max.records' = {most}
);
CREATE SINK totals WITH (
  connector = 'kafka', servers = '{servers}', topic = '{topic}_out', changelog = 'append'
);
INSERT INTO totals SELECT window_start, product, SUM(n) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, product EMIT FINAL
"""


@contextmanager
def started(folder: Path, engine: str, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """None of its processes is there after the block."""
    run = [sys.executable, "-m", "sqlwin.cli", "run", str(folder / "q.sql"), "--engine", engine]
    running = subprocess.Popen(
        [*run, "--checkpoint", str(folder / "checkpoint"), *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield running
    finally:
        killed_now(victims(running.pid, "all"))
        running.communicate()


def until(running: subprocess.Popen[bytes], reached: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not reached():
        assert running.poll() is None, running.communicate()[1].decode()
        assert time.monotonic() < end


def offsets(broker: Broker, topic: str) -> tuple[int, int]:
    """Behind the last record, and behind the last one of a transaction that is over."""
    from confluent_kafka import IsolationLevel, TopicPartition
    from confluent_kafka.admin import OffsetSpec

    def end(level: IsolationLevel) -> int:
        wanted = {TopicPartition(topic, 0): OffsetSpec.latest()}
        (found,) = broker.admin.list_offsets(wanted, isolation_level=level).values()
        return int(found.result(30).offset)

    over = end(IsolationLevel.READ_COMMITTED)
    return end(IsolationLevel.READ_UNCOMMITTED), over


def send(broker: Broker, topic: str, minute: int) -> None:
    at = f"2024-01-01T09:{minute:02}:00Z"
    rows = ({"product": f"p{each}", "n": minute, "ts": at} for each in range(PRODUCTS))
    broker.send(topic, *map(json.dumps, rows))


@pytest.mark.parametrize(
    "engine", ["embedded", pytest.param("spark", marks=pytest.mark.spark(processes=True))]
)
def test_amid_a_write(broker: Broker, tmp_path: Path, engine: str) -> None:
    topic = broker.topic(f"amid_{engine}")
    out = broker.topic(f"{topic}_out")
    text = SCRIPT.format(servers=broker.address, topic=topic, most=PRODUCTS)
    (tmp_path / "q.sql").write_text(text)
    for minute in range(MINUTES):
        send(broker, topic, minute)

    def writes() -> bool:
        last, over = offsets(broker, out)
        return last > over

    with started(tmp_path, engine, "--follow") as first:
        until(first, writes)

    with started(tmp_path, engine, "--follow") as second:
        time.sleep(2)
        send(broker, topic, MINUTES)
        until(second, lambda: len(broker.read(out)) >= MINUTES * PRODUCTS)
        second.send_signal(signal.SIGTERM)
        _, said = second.communicate(timeout=SECONDS)
        assert second.returncode == 0, said.decode()

    with started(tmp_path, engine, "--drain") as last:
        _, said = last.communicate(timeout=SECONDS)
        assert last.returncode == 0, said.decode()
    found = Counter(record.value() for record in broker.read(out))
    assert set(found.values()) == {1}
    rows = [json.loads(value) for value in found]
    assert len(rows) == (MINUTES + 1) * PRODUCTS
    assert all(int(row["window_start"][14:16]) == row["n"] for row in rows)
