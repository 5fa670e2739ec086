"""Scripts whose sinks are tables of a lake, on each host."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqlwin.embedded import run as embedded
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from tests.runtime.lakes.conftest import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (path = 'orders/*.jsonl');
CREATE SINK visits WITH ({options}, unique = 'product, window_start');
INSERT INTO visits
SELECT product, window_start, COUNT(*) AS n, SUM(value) AS total
FROM orders GROUP BY product, SESSION(ts, INTERVAL '10' SECOND)
EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '1' MINUTE;
"""


def land(home: Path, number: int, *rows: tuple[int, int]) -> None:
    """A file of rows: seconds, and a value."""
    (home / "orders").mkdir(exist_ok=True)
    lines = [
        json.dumps({"product": "tea", "value": n, "ts": f"2024-01-01T09:00:{s:02d}Z"})
        for s, n in rows
    ]
    (home / "orders" / f"{number}.jsonl").write_text("\n".join(lines) + "\n")


def check(lake: LakeTable, run: Callable[[str, RunOptions], Any]) -> None:
    """Two sessions that a row between them makes one, in a run that goes on."""
    given = {"connector": lake.kind, **lake.options}
    text = SCRIPT.format(options=", ".join(f"{name} = '{of}'" for name, of in given.items()))
    options = RunOptions(lake.base, lake.base / "state")
    land(lake.base, 1, (0, 1), (18, 2))
    run(text, options)
    assert sorted(lake.rows().select("n", "total").rows()) == [(1, 1), (1, 2)]
    land(lake.base, 2, (9, 3))
    run(text, options)
    assert lake.rows().select("n", "total").rows() == [(3, 6)]


def test_in_process(lake: LakeTable) -> None:
    check(lake, lambda text, options: embedded.run(script(text), options))


@pytest.mark.spark
@pytest.mark.long
def test_on_spark(tmp_path: Path, spark: SparkSession) -> None:
    from sqlwin.spark.run import run

    pytest.importorskip("deltalake")
    check(LakeTable("delta", tmp_path), lambda text, options: run(script(text), options, spark))
