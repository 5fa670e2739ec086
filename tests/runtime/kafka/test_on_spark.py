"""Topics on Spark: read by its tasks, resumed from its checkpoint, written once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.kafka import Broker
from tests.support.runtime.topics import order

pytestmark = [pytest.mark.long, pytest.mark.spark]

QUERY = """
CREATE STREAM orders (product STRING, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (
  connector = 'kafka', servers = '{servers}', topic = 'spark', 'max.records' = 4
);
CREATE SINK totals WITH (
  connector = 'kafka', servers = '{servers}', topic = 'spark_out', changelog = 'append'
);
CREATE SINK bad WITH (connector = 'files', path = 'bad');
INSERT INTO totals SELECT window_start, SUM(n) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end EMIT FINAL EXPIRED INTO bad
"""


def test_a_script_on_spark(broker: Broker, tmp_path: Path) -> None:
    from sqlwin.runtime.connectors.options import RunOptions
    from sqlwin.spark.run import run
    from sqlwin.sql import script

    broker.topic("spark", partitions=2)
    broker.topic("spark_out")
    query, known = script(QUERY.format(servers=broker.address)), tmp_path / "checkpoint"
    read = []
    for first in (0, 4):
        for part in (0, 1):
            minutes = range(first, first + 4)
            broker.send("spark", *(order(minute, part + 1) for minute in minutes), partition=part)
        broker.send("spark", "{", partition=1)
        read.append(run(query, RunOptions(tmp_path, known, drain=first == 4)).read)
    assert read == [9, 9]
    results = [json.loads(record.value()) for record in broker.read("spark_out")]
    assert sorted(row["window_start"][14:16] for row in results) == [f"{m:02}" for m in range(8)]
    assert [row["n"] for row in results] == [3] * 8
    errors = [json.loads(file.read_text()) for file in sorted((tmp_path / "bad").glob("*.jsonl"))]
    assert [row["position"] for row in errors] == ["spark/1:4", "spark/1:9"]
