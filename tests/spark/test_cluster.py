"""Nothing depends on one host: executors are other processes, and others after a restart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sqlwin.embedded.run import run
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from tests.support.spark import cluster_run

HOME = Path(__file__).parents[2]
SCRIPT = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE STREAM prices (product STRING, price BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'prices/*.jsonl', format = 'json');
SELECT product, window_start, COUNT(*) AS pairs, SUM(paid) AS paid
FROM TUMBLE(TABLE (
  SELECT o.product, o.ts, o.value * p.price AS paid
  FROM orders o JOIN prices p ON o.product = p.product
  AND p.ts BETWEEN o.ts - INTERVAL '1' MINUTE AND o.ts + INTERVAL '1' MINUTE
  RETAIN INTERVAL '1' HOUR), DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR
"""


def land(home: Path, name: str, minutes: range) -> None:
    """Twenty products; a row of each a minute."""
    for stream, column in (("orders", "value"), ("prices", "price")):
        (home / stream).mkdir(exist_ok=True)
        rows = [
            {"product": f"p{n}", column: n + minute, "ts": f"2024-01-01T09:{minute:02}:{n:02}Z"}
            for minute in minutes
            for n in range(20)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (home / stream / f"{name}.jsonl").write_text(text)


def last(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The last revision of each result, without what another order of arrival changes."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        changes = {"op", "emit", "revision"}
        found[row["row_key"]] = {n: str(v) for n, v in row.items() if n not in changes}
        if row["op"] == "-D":
            del found[row["row_key"]]
    return found


def test_last_revisions_of_rows() -> None:
    rows = [
        {"op": "+I", "row_key": "a", "n": 1},
        {"op": "+I", "row_key": "b", "n": 1},
        {"op": "-D", "row_key": "b", "n": 1},
        {"op": "+U", "row_key": "a", "n": 2},
    ]
    assert last(rows) == {"a": {"row_key": "a", "n": "2"}}


@pytest.mark.long
@pytest.mark.spark(processes=True)
def test_a_cluster_goes_on_where_another_stopped(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(SCRIPT)
    paths = [str(path) for path in (tmp_path / "q.sql", tmp_path, tmp_path / "state")]
    command = [sys.executable, "-m", cluster_run.__name__, *paths]

    def ran() -> dict[str, Any]:
        done = subprocess.run(command, cwd=HOME, check=True, text=True, stdout=subprocess.PIPE)
        return dict(json.loads(done.stdout.splitlines()[-1]))

    land(tmp_path, "1", range(5, 9))
    first = ran()
    land(tmp_path, "2", range(3, 6))
    land(tmp_path, "3", range(20, 22))
    second = ran()
    assert (first["executors"], second["executors"]) == (cluster_run.EXECUTORS,) * 2
    assert any(row["emit"] == "late" for row in second["rows"])
    frames: list[pl.DataFrame] = []
    run(script(SCRIPT), RunOptions(tmp_path, tmp_path / "embedded", show=frames.append))
    expected = last([row for frame in frames for row in frame.to_dicts()])
    assert last(first["rows"] + second["rows"]) == expected
