"""A script of all operators over files, its rows, and what holds of its sinks: what killed
processes are compared by."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
SET 'batch.bytes' = 20000;
CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '20' SECOND
) WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK totals WITH (connector = 'files', path = '{out}/totals');
CREATE SINK means WITH (connector = 'files', path = '{out}/means');
CREATE SINK visits WITH (connector = 'files', path = '{out}/visits');
CREATE SINK busiest WITH (connector = 'files', path = '{out}/busiest');
CREATE SINK pairs WITH (connector = 'files', path = '{out}/pairs');
CREATE SINK bad WITH (connector = 'files', path = '{out}/bad');
INSERT INTO totals
SELECT product, window_start, SUM(value) AS total, COUNT(*) AS n
FROM HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '1' HOUR EXPIRED INTO bad;
INSERT INTO means
SELECT product, ts, AVG(value) OVER (PARTITION BY product ORDER BY ts
                                     RANGE INTERVAL '1' MINUTE PRECEDING) AS mean
FROM orders
EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
INSERT INTO visits
SELECT product, window_start, window_end, COUNT(*) AS n, SUM(value) AS total
FROM orders GROUP BY product, SESSION(ts, INTERVAL '2' SECOND)
EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
INSERT INTO busiest
SELECT product, window_start, MAX(n) AS most, SUM(n) AS total
FROM TUMBLE(TABLE (
  SELECT product, window_time, COUNT(*) AS n
  FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)
  GROUP BY product, window_start, window_end, window_time
), DESCRIPTOR(window_time), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
INSERT INTO pairs
SELECT a.product, a.value, b.value AS before, a.ts
FROM orders a LEFT JOIN orders b
  ON a.product = b.product AND a.value < b.value
 AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts
RETAIN INTERVAL '1' HOUR;
"""
SINKS = ("totals", "means", "visits", "busiest", "pairs")
Row = dict[str, Any]
BEGIN = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)


def land(home: Path, files: int, rows: int, seed: int = 7) -> None:
    """Files of rows that are out of order by up to a minute; the last of each is malformed."""
    rng = random.Random(seed)
    (home / "orders").mkdir()
    for number in range(files):
        lines = []
        for _ in range(rows):
            ts = BEGIN + timedelta(seconds=number * 10 + rng.uniform(-60, 10))
            row = {"product": rng.choice("abc"), "value": rng.randint(-9, 9), "ts": ts.isoformat()}
            lines.append(json.dumps(row))
        lines.append('{"product": "a", "value": "many"}')
        (home / "orders" / f"{number:04d}.jsonl").write_text("\n".join(lines) + "\n")


def command(home: Path, engine: str, out: str, *more: str) -> list[str]:
    (home / f"{out}.sql").write_text(SCRIPT.format(out=out))
    run = [sys.executable, "-m", "sqlwin.cli", "run", str(home / f"{out}.sql")]
    return [*run, "--engine", engine, *more]


def killed(argv: list[str], moments: list[float]) -> int:
    """Run until it ends by itself; kill it so long after each start. How often it was."""
    for kills, moment in enumerate([*moments, None]):
        running = subprocess.Popen(
            argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        try:
            _, stderr = running.communicate(timeout=moment)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            continue
        assert running.returncode == 0, stderr.decode()
        return kills
    raise AssertionError("the last run has no moment to be killed at")


def last(folder: Path) -> dict[str, Row]:
    """The last revision of every row key that was not retracted, over all files of a sink."""
    found: dict[str, Row] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            known = found.get(row["row_key"])
            assert known is None or row["revision"] > known["revision"], "a revision came twice"
            found[row["row_key"]] = row
    return {key: row for key, row in found.items() if row["op"] != "-D"}


def errors(folder: Path, files: int) -> list[tuple[str, str]]:
    """Reason and position of each row of an error stream; none is there twice.

    files: so many were read, each with one line that is malformed.
    """
    parts = sorted(folder.glob("*.jsonl"))
    rows = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
    found = sorted((row["reason"], row["position"]) for row in rows)
    assert len(set(found)) == len(found) == files
    return found


def same(whole: dict[str, Row], cut: dict[str, Row]) -> None:
    """Equal values under equal keys; how often a window was revised depends on the batches."""
    assert whole.keys() == cut.keys()
    for key, row in whole.items():
        values = {name: row[name] for name in row if name not in ("revision", "op", "emit")}
        assert {name: cut[key][name] for name in values} == pytest.approx(values)


def alike(whole: Path, cut: Path, files: int) -> None:
    """Each sink of a run that nothing disturbed, and of one that was."""
    for sink in SINKS:
        same(last(whole / sink), last(cut / sink))
    assert errors(cut / "bad", files) == errors(whole / "bad", files)
