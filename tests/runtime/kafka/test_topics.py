"""Several topics as one stream, by their names or by a pattern."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwin.embedded.run_progress import PROGRESS
from sqlwin.errors import RunError
from tests.support.kafka import Broker
from tests.support.runtime.topics import HOSTS, order, ran, written

pytestmark = pytest.mark.long

SEEN = """
CREATE STREAM orders (n BIGINT, ts TIMESTAMP, t STRING, p INT, o BIGINT, WATERMARK FOR ts AS ts)
WITH (
  connector = 'kafka', servers = '{servers}', {topics},
  metadata = 't = topic, p = partition, o = offset'
);
CREATE SINK out WITH (connector = 'files', path = 'out', changelog = 'append');
INSERT INTO out SELECT n, t, p, o FROM orders
"""
"""Rows and where they are of."""

LATE = """
CREATE STREAM orders (n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'kafka', servers = '{servers}', {topics}, 'max.records' = 2);
CREATE SINK out WITH (connector = 'files', path = 'out', changelog = 'append');
CREATE SINK bad WITH (connector = 'files', path = 'bad', changelog = 'append');
INSERT INTO out SELECT window_start, SUM(n) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end EMIT FINAL EXPIRED INTO bad
"""


def places(folder: Path) -> list[tuple[str, int, int, int]]:
    return sorted((row["t"], row["p"], row["o"], row["n"]) for row in written(folder))


@pytest.mark.parametrize("host", HOSTS)
def test_topics_that_a_pattern_finds_later(broker: Broker, tmp_path: Path, host: str) -> None:
    first, second, other = (f"{each}_{host}" for each in ("found_b", "found_a", "lost"))
    broker.topic(first, partitions=2)
    broker.topic(other)
    broker.send(first, order(0, 1), partition=1)
    broker.send(other, order(0, 99))
    text = SEEN.format(servers=broker.address, topics=f"'topic.pattern' = 'found_._{host}'")
    checkpoint = tmp_path / "checkpoint"
    assert ran(text, tmp_path, host, checkpoint=checkpoint).read == 1
    broker.topic(second)
    broker.send(second, order(0, 2), order(0, 3))
    broker.send(first, order(0, 4), partition=1)
    assert ran(text, tmp_path, host, checkpoint=checkpoint).read == 3
    assert places(tmp_path) == [
        (second, 0, 0, 2),
        (second, 0, 1, 3),
        (first, 1, 0, 1),
        (first, 1, 1, 4),
    ]


@pytest.mark.parametrize("host", HOSTS)
def test_errors_have_topic_partition_and_offset(broker: Broker, tmp_path: Path, host: str) -> None:
    """Malformed ones, which a reader knows, and expired ones, which a batch knows."""
    one, two = (broker.topic(f"errors_{each}_{host}", partitions=2) for each in ("one", "two"))
    for topic in (one, two):
        broker.send(topic, order(0, 1), order(9, 1), partition=1)
    broker.send(two, "{", partition=1)
    broker.send(two, order(5, 1), partition=1)
    text = LATE.format(servers=broker.address, topics=f"topic = '{one}, {two}'")
    ran(text, tmp_path, host, drain=True)
    found = sorted(written(tmp_path, "bad"), key=lambda row: row["position"])
    assert [(row["position"], row["reason"].split(":")[0]) for row in found] == [
        (f"{two}/1:2", "malformed"),
        (f"{two}/1:3", "expired"),
    ]
    assert [row["n"] for row in written(tmp_path)] == [2, 2]


def test_equal_offsets_of_two_topics_are_two_rows(broker: Broker, tmp_path: Path) -> None:
    """The replay key has the topic."""
    topics = [broker.topic(f"replay_{each}") for each in ("a", "b")]
    for topic in topics:
        broker.send(topic, order(0, 1), order(1, 1))
    text = LATE.format(servers=broker.address, topics=f"topic = '{', '.join(topics)}'")
    summary = ran(text, tmp_path, drain=True)
    assert (summary.read, [row["n"] for row in written(tmp_path)]) == (4, [2, 2])


def test_a_checkpoint_of_before_topics_had_numbers(broker: Broker, tmp_path: Path) -> None:
    """Its positions have an offset and nothing beside it."""
    topic, checkpoint = broker.topic("before", partitions=2), tmp_path / "checkpoint"
    text = LATE.format(servers=broker.address, topics=f"topic = '{topic}'")
    for part in (0, 1):
        broker.send(topic, order(0, 1), order(1, 1), partition=part)
    ran(text, tmp_path, checkpoint=checkpoint)
    _without_prints(checkpoint)
    for part in (0, 1):
        broker.send(topic, order(2, 1), partition=part)
    assert ran(text, tmp_path, checkpoint=checkpoint, drain=True).read == 2
    assert [row["n"] for row in written(tmp_path)] == [2, 2, 2]


def _without_prints(checkpoint: Path) -> None:
    import json

    from sqlwin.state.blobs.blobs import SqliteBlobs

    (file,) = checkpoint.glob("*.sqlite")
    blobs = SqliteBlobs(file)
    found = json.loads(blobs.get(PROGRESS))
    for stream in found["streams"].values():
        assert all(print.startswith("0:") for _, print in stream["files"].values())
        stream["files"] = {name: [offset, ""] for name, (offset, _) in stream["files"].items()}
    with blobs.transaction():
        blobs.put(PROGRESS, json.dumps(found).encode())
    blobs.close()


def test_a_pattern_without_a_topic_is_refused(broker: Broker, tmp_path: Path) -> None:
    text = SEEN.format(servers=broker.address, topics="'topic.pattern' = 'nothing.*'")
    with pytest.raises(RunError, match="stream orders: no topic matches 'nothing"):
        ran(text, tmp_path)


@pytest.mark.parametrize("losses", [False, True])
def test_a_topic_of_a_pattern_goes(broker: Broker, tmp_path: Path, losses: bool) -> None:
    goes, stays = (broker.topic(f"{each}_of_{losses}") for each in ("goes", "stays"))
    for topic in (goes, stays):
        broker.send(topic, order(0, 1))
    topics = f"'topic.pattern' = '(goes|stays)_of_{losses}'"
    loss = f", 'fail.on.data.loss' = '{str(not losses).lower()}'"
    text = SEEN.format(servers=broker.address, topics=topics + loss)
    ran(text, tmp_path, checkpoint=tmp_path / "checkpoint")
    broker.delete(goes)
    broker.send(stays, order(0, 2))
    if losses:
        assert ran(text, tmp_path, checkpoint=tmp_path / "checkpoint").read == 1
        return
    with pytest.raises(RunError, match=f"{goes}/0 is gone, and was read up to offset 1"):
        ran(text, tmp_path, checkpoint=tmp_path / "checkpoint")
