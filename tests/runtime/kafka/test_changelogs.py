"""Topics that are the changelog of a table: records without a value, and Debezium's envelopes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.kafka import Broker
from tests.support.runtime.topics import HOSTS, ran, written

pytestmark = pytest.mark.long

SUMS = """
CREATE TABLE orders ({columns}, PRIMARY KEY ({key})) WITH (
  connector = 'kafka', servers = '{servers}', topic = '{topic}', {options}
);
CREATE SINK sums WITH (connector = 'files', path = 'out');
CREATE SINK bad WITH (connector = 'files', path = 'bad', changelog = 'append');
INSERT INTO sums SELECT {select} FROM orders GROUP BY product EXPIRED INTO bad
"""

SESSIONS = """
CREATE STREAM orders (n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '20' SECOND)
WITH (connector = 'kafka', servers = '{servers}', topic = '{topic}', 'max.records' = 1);
CREATE SINK visits WITH (connector = 'kafka', servers = '{servers}', topic = '{topic}_out');
INSERT INTO visits SELECT 'tea' AS product, window_start, SUM(n) AS n
FROM SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)
GROUP BY window_start, window_end EMIT EARLY ON UPDATE LATE ON UPDATE
"""


def last(folder: Path) -> dict[str, int]:
    """The last revision of each product."""
    rows = {row["product"]: row for row in written(folder)}
    return {product: row["n"] for product, row in rows.items() if row["op"] != "-D"}


def envelope(op: str, before: object, after: object) -> str:
    return json.dumps({"before": before, "after": after, "op": op, "ts_ms": 7})


@pytest.mark.parametrize("host", HOSTS)
def test_envelopes_of_debezium_and_the_tombstones_behind_deletions(
    broker: Broker, tmp_path: Path, host: str
) -> None:
    topic = broker.topic(f"debezium_{host}")
    tea, milk = {"id": 1, "product": "tea", "n": 5}, {"id": 2, "product": "milk", "n": 7}
    more = {**milk, "n": 8}
    broker.send(topic, envelope("r", None, tea), envelope("c", None, milk))
    broker.send(topic, json.dumps({"schema": {}, "payload": json.loads(envelope("u", milk, more))}))
    broker.send(topic, envelope("d", {"id": 1}, None), None, "{")
    text = SUMS.format(
        columns="id BIGINT, product STRING, n BIGINT", key="id", select="product, SUM(n) AS n",
        servers=broker.address, topic=topic, options="changelog = 'debezium'",
    )  # fmt: skip
    assert ran(text, tmp_path, host).read == 5
    assert last(tmp_path) == {"milk": 8}
    errors = [(row["position"], row["reason"].split(":")[0]) for row in written(tmp_path, "bad")]
    assert errors == [(f"{topic}/0:5", "malformed")]


@pytest.mark.parametrize("host", HOSTS)
def test_what_an_upsert_sink_writes_is_read_with_its_deletions(
    broker: Broker, tmp_path: Path, host: str
) -> None:
    """Sessions: a row that joins two deletes one, by a tombstone."""
    topic = broker.topic(f"sessions_{host}")
    out = broker.topic(f"{topic}_out")
    rows = [(0, 1), (18, 2), (9, 4), (40, 8)]
    broker.send(topic, *(json.dumps({"n": n, "ts": f"2024-01-01T09:00:{s:02}Z"}) for s, n in rows))
    write = SESSIONS.format(servers=broker.address, topic=topic)
    ran(write, tmp_path, host)
    assert any(record.value() is None for record in broker.read(out))
    text = SUMS.format(
        columns="row_key STRING, product STRING, n BIGINT", key="row_key",
        select="product, COUNT(*) * 100 + SUM(n) AS n", servers=broker.address, topic=out,
        options="changelog = 'upsert', metadata = 'row_key = key'",
    )  # fmt: skip
    ran(text, tmp_path, host)
    assert (last(tmp_path), written(tmp_path, "bad")) == ({"tea": 215}, [])
