"""A query over a topic of orders, and what it wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Summary
from sqlwin.sql import script
from tests.support.kafka import Broker

HOSTS = ("process", pytest.param("spark", marks=pytest.mark.spark))
COUNTS = """
CREATE STREAM orders (product STRING, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (
  connector = 'kafka', servers = '{servers}', topic = '{topic}'{more}
);
CREATE SINK counts WITH (connector = 'files', path = 'out', changelog = 'append');
INSERT INTO counts SELECT window_start, SUM(n) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end EMIT FINAL
"""
TOTALS = """
CREATE STREAM orders (product STRING, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (
  connector = 'kafka', servers = '{{servers}}', topic = '{{topic}}'{{more}}
);
CREATE SINK totals WITH (
  connector = 'kafka', servers = '{{servers}}', topic = '{{topic}}_out'{options}
);
INSERT INTO totals SELECT window_start, SUM(n) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end {emit}
"""
FINAL = TOTALS.format(options=", changelog = 'append'", emit="EMIT FINAL")


def order(minute: int, n: int, second: int = 0) -> str:
    return json.dumps({"product": "tea", "n": n, "ts": f"2024-01-01T09:{minute:02}:{second:02}Z"})


def counted(
    broker: Broker,
    topic: str,
    folder: Path,
    more: str = "",
    query: str = COUNTS,
    host: str = "process",
    **options: Any,
) -> Summary:
    """more: options of the stream, each with a comma before it."""
    text = query.format(servers=broker.address, topic=topic, more=more)
    return ran(text, folder, host, **options)


def ran(text: str, folder: Path, host: str = "process", **options: Any) -> Summary:
    if host == "spark":
        from sqlwin.spark.run import run
    else:
        from sqlwin.embedded.run import run
    return run(script(text), RunOptions(folder, **options))


def written(folder: Path, sink: str = "out") -> list[dict[str, Any]]:
    files = sorted((folder / sink).glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]
