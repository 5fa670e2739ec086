"""Scripts whose sinks are tables, on each host."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sqlwin.embedded import run as embedded
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from tests.runtime.tables.conftest import KINDS, Tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Each = Callable[[str], Tables]
SCRIPT = """
CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (path = 'orders/*.jsonl');
CREATE SINK visits WITH ({database}, table = 'visits', create = 'true');
CREATE SINK firsts WITH ({database}, table = 'firsts', create = 'true', changelog = 'append');
CREATE SINK bad WITH ({database}, table = 'bad', create = 'true');
INSERT INTO visits
SELECT product, window_start, COUNT(*) AS n, SUM(value) AS total
FROM orders GROUP BY product, SESSION(ts, INTERVAL '10' SECOND)
EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '1' MINUTE EXPIRED INTO bad;
INSERT INTO firsts SELECT product, value FROM orders WHERE value = 1;
"""


def land(home: Path, number: int, *rows: tuple[int, int]) -> None:
    """A file of rows: seconds, and a value."""
    (home / "orders").mkdir(exist_ok=True)
    lines = [
        json.dumps(
            {"product": "tea", "value": n, "ts": f"2024-01-01T09:{s // 60:02d}:{s % 60:02d}Z"}
        )
        for s, n in rows
    ]
    (home / "orders" / f"{number}.jsonl").write_text("\n".join(lines) + "\n")


def written(tables: Tables) -> str:
    given = "".join(f", {name} = '{value}'" for name, value in tables.options.items())
    return SCRIPT.format(database=f"connector = '{tables.kind}'{given}")


def check(tables: Tables, home: Path, run: Callable[[str, RunOptions], Any]) -> None:
    """Sessions that grow together, a row that is expired, and a run that goes on."""
    options = RunOptions(home, home / "state")
    land(home, 1, (0, 1), (18, 2))
    run(written(tables), options)
    assert sorted(tables.run("SELECT n, total FROM visits")) == [(1, 1), (1, 2)]
    land(home, 2, (9, 3), (300, 1), (320, 1))
    run(written(tables), options)
    land(home, 3, (1, 9))
    run(written(tables), options)
    assert sorted(tables.run("SELECT n, total FROM visits")) == [(1, 1), (1, 1), (3, 6)]
    assert tables.run("SELECT product, value FROM firsts") == [("tea", 1)] * 3
    assert tables.run("SELECT stream, reason FROM bad") == [("orders", "expired")]


@pytest.mark.parametrize("kind", KINDS)
def test_in_process(each: Each, tmp_path: Path, kind: str) -> None:
    check(each(kind), tmp_path, lambda text, options: embedded.run(script(text), options))


@pytest.mark.spark
def test_on_spark(each: Each, tmp_path: Path, spark: SparkSession) -> None:
    from sqlwin.spark.run import run

    check(each("postgres"), tmp_path, lambda text, options: run(script(text), options, spark))
