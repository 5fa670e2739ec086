"""Topics as sources, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sqlwin.embedded.run import run
from sqlwin.errors import RunError
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from tests.support.kafka import Broker
from tests.support.runtime.topics import COUNTS, counted, order, written

pytestmark = pytest.mark.long
SPARK = pytest.mark.spark


def test_partitions_are_read_abreast(broker: Broker, tmp_path: Path) -> None:
    """Batches of two records: the first partition's times do not pass those of the second."""
    topic = broker.topic("abreast", partitions=3)
    broker.send(topic, *(order(minute, 1) for minute in range(9)), partition=0)
    broker.send(topic, *(order(minute, 10) for minute in range(9)), partition=1)
    summary = counted(broker, topic, tmp_path, ", 'max.records' = 3")
    assert (summary.read, summary.batches, dict(summary.refused)) == (18, 10, {})
    assert [row["n"] for row in written(tmp_path)] == [11] * 9


def test_a_run_goes_on_where_the_last_one_ended(broker: Broker, tmp_path: Path) -> None:
    topic, known = broker.topic("going_on", partitions=2), tmp_path / "checkpoint"
    found = []
    for minute in range(4):
        broker.send(topic, order(minute, minute), partition=minute % 2)
        found.append(counted(broker, topic, tmp_path, checkpoint=known, drain=minute == 3).read)
    assert (found, [row["n"] for row in written(tmp_path)]) == ([1, 1, 1, 1], [0, 1, 2, 3])


def test_malformed_records_have_their_partition_and_offset(broker: Broker, tmp_path: Path) -> None:
    topic, errors = broker.topic("malformed", partitions=2), list[pl.DataFrame]()
    broker.send(topic, order(0, 1), b"caf\xe9", None, '{"n":\n 3}', "", partition=1)
    broker.send(topic, '{"n": "x"}', '{"n": 1} {"n": 2}', order(0, 2), '{"n": "\n"}')
    counted(broker, topic, tmp_path, on_errors=errors.append)
    found = pl.concat(errors).sort("position").select("position", "reason", "row").rows()
    assert found == [
        ("malformed/0:0", "malformed: n is 'x', not a BIGINT", '{"n": "x"}'),
        ("malformed/0:1", "malformed: the line cannot be parsed", '{"n": 1} {"n": 2}'),
        ("malformed/0:3", "malformed: the record cannot be parsed", '{"n": "\n"}'),
        (
            "malformed/1:1",
            "malformed: the line is not UTF-8; row has its bytes in base64",
            "Y2Fm6Q==",
        ),
        ("malformed/1:2", "malformed: the record has no value", ""),
        ("malformed/1:3", "no event time: ts is NULL", '{"product": null, "n": 3, "ts": null}'),
        ("malformed/1:4", "malformed: the record is empty", ""),
    ]
    assert [row["n"] for row in written(tmp_path)] == [3]


PARTS = """
CREATE STREAM s (v {type}, k STRING, h STRING, at TIMESTAMP, p INT, o BIGINT, t STRING,
  WATERMARK FOR at AS at) WITH (
  connector = 'kafka', servers = '{{servers}}', topic = '{{topic}}', format = '{format}',
  metadata = 'k = key, h = header.trace, at = timestamp, p = partition, o = offset, t = topic'
);
CREATE SINK out WITH (connector = 'files', path = 'out', changelog = 'append');
INSERT INTO out SELECT v, k, h, at, p, o, t FROM s
"""


@pytest.mark.parametrize(
    ("host", "format_", "type_", "values", "expected"),
    [
        ("process", "raw", "STRING", ["tea", b"\xff"], ["tea"]),
        ("process", "csv", "STRING",
         ['"a, b"', "x,y", 'two "quotes"', '"open', '"two\nlines"'],
         ["a, b", 'two "quotes"', "two\nlines"]),
        ("process", "json", "BIGINT", ['{"v": 1}'], [1]),
        pytest.param("spark", "raw", "STRING", ["tea", b"\xff"], ["tea"], marks=SPARK),
    ],
)  # fmt: skip
def test_other_parts_of_a_record_are_columns(
    broker: Broker,
    tmp_path: Path,
    host: str,
    format_: str,
    type_: str,
    values: list[Any],
    expected: list[Any],
) -> None:
    topic = broker.topic(f"parts_{format_}_{host}", partitions=2)
    headers = [("trace", b"old"), ("trace", b"new")]
    at = 1704099600123
    broker.send(topic, *values, partition=1, key="k", headers=headers, timestamp=at)
    query = PARTS.format(format=format_, type=type_)
    counted(broker, topic, tmp_path, query=query, host=host)
    found = written(tmp_path)
    assert [row["v"] for row in found] == expected
    first = {"k": "k", "h": "new", "at": "2024-01-01T09:00:00.123000Z", "p": 1, "o": 0, "t": topic}
    assert {name: found[0][name] for name in first} == first


@pytest.mark.parametrize(
    ("host", "start", "expected"),
    [
        ("process", "earliest", [0, 1, 2, 3]),
        ("process", "latest", []),
        ("process", "2024-01-01T09:02:00Z", [2, 3]),
        ("process", "0:3", [3]),
        pytest.param("spark", "2024-01-01T09:02:00Z", [2, 3], marks=SPARK),
        pytest.param("spark", "0:3", [3], marks=SPARK),
    ],
)
def test_where_the_first_run_begins(
    broker: Broker, tmp_path: Path, host: str, start: str, expected: list[int]
) -> None:
    topic = broker.topic(f"start_{len(start)}_{len(expected)}_{host}")
    for minute in range(4):
        at = 1704099600000 + minute * 60_000
        broker.send(topic, order(minute, minute), timestamp=at)
    known = tmp_path / "checkpoint"
    more = f", start = '{start}'"
    counted(broker, topic, tmp_path, more, host=host, checkpoint=known)
    broker.send(topic, order(9, 9))
    counted(broker, topic, tmp_path, more, host=host, checkpoint=known, drain=True)
    assert [row["n"] for row in written(tmp_path)] == [*expected, 9]


def test_what_a_transaction_has_not_committed_is_not_read(broker: Broker, tmp_path: Path) -> None:
    from confluent_kafka import Producer

    topic = broker.topic("transactions")
    settings = {"bootstrap.servers": broker.address, "transactional.id": "writer"}
    producer = Producer(settings)
    producer.init_transactions()
    for minute, ends in enumerate([producer.commit_transaction, producer.abort_transaction] * 2):
        producer.begin_transaction()
        producer.produce(topic, order(minute, minute))
        ends()
    producer.begin_transaction()
    producer.produce(topic, order(9, 9))
    producer.flush()
    assert counted(broker, topic, tmp_path).read == 2
    assert [row["n"] for row in written(tmp_path)] == [0, 2]
    producer.abort_transaction()


@pytest.mark.parametrize(
    ("servers", "topic", "message"),
    [
        ("", "none", "cannot read topic none: Broker: Unknown topic or partition"),
        ("127.0.0.1:1", "none", "cannot read topic none: "),
    ],
)
def test_what_cannot_be_read_is_said(
    broker: Broker, tmp_path: Path, servers: str, topic: str, message: str
) -> None:
    text = COUNTS.format(servers=servers or broker.address, topic=topic, more=", wait = '1 second'")
    with pytest.raises(RunError) as failure:
        run(script(text), RunOptions(tmp_path))
    assert str(failure.value).startswith(message)


def test_a_broker_that_is_killed_amid_a_run_is_waited_for(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic("killed", partitions=2)
    for part in (0, 1):
        broker.send(topic, *(order(minute, 1) for minute in range(20)), partition=part)
    with broker.restarting(at=5) as on_batch:
        counted(broker, topic, tmp_path, ", 'max.records' = 4", on_batch=on_batch)
    assert [row["n"] for row in written(tmp_path)] == [2] * 20


def test_a_topic_has_more_partitions_than_the_stream_declares(
    broker: Broker, tmp_path: Path
) -> None:
    topic = broker.topic("more_than_declared", partitions=3)
    message = "topic more_than_declared has 3 partitions, and stream .* declares partitions = 2"
    with pytest.raises(RunError, match=message):
        counted(broker, topic, tmp_path, ", partitions = 2")
