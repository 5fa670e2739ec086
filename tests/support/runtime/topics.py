"""A query over a topic of orders, and what it wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sqlwin.embedded.run import run
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Summary
from sqlwin.sql import script
from tests.support.kafka import Broker

COUNTS = """
CREATE STREAM orders (product STRING, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (
  connector = 'kafka', servers = '{servers}', topic = '{topic}'{more}
);
CREATE SINK counts WITH (connector = 'files', path = 'out', changelog = 'append');
INSERT INTO counts SELECT window_start, SUM(n) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end EMIT FINAL
"""


def order(minute: int, n: int, second: int = 0) -> str:
    return json.dumps({"product": "tea", "n": n, "ts": f"2024-01-01T09:{minute:02}:{second:02}Z"})


def counted(
    broker: Broker, topic: str, folder: Path, more: str = "", query: str = COUNTS, **options: Any
) -> Summary:
    text = query.format(servers=broker.address, topic=topic, more=more)
    return run(script(text), RunOptions(folder, **options))


def written(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "out").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]
