"""A process that is killed anywhere, and started again, ends up saying what another says."""

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
Row = dict[str, Any]
BEGIN = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)


def land(home: Path, files: int, rows: int) -> None:
    """Files of rows that are out of order by up to a minute; the last of each is malformed."""
    rng = random.Random(7)
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


def last(folder: Path) -> dict[str, Row]:
    """The last revision of every row key that was not withdrawn, over all files of a sink."""
    found: dict[str, Row] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            known = found.get(row["row_key"])
            assert known is None or row["revision"] > known["revision"], "a revision came twice"
            found[row["row_key"]] = row
    return {key: row for key, row in found.items() if row["op"] != "-D"}


def killed(asked: list[str], moments: list[float]) -> int:
    """Run until it ends by itself; kill it so long after each start. How often it was."""
    for kills, moment in enumerate([*moments, None]):
        running = subprocess.Popen(
            asked, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        try:
            _, told = running.communicate(timeout=moment)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            continue
        assert running.returncode == 0, told.decode()
        return kills
    raise AssertionError("the last run has no moment to be killed at")


@pytest.mark.parametrize(
    ("engine", "earliest", "latest", "kills"),
    [
        pytest.param("embedded", 0.7, 2.0, 6, id="embedded"),
        pytest.param("spark", 7.0, 16.0, 3, id="spark", marks=pytest.mark.spark),
    ],
)
def test_killed_at_random_points(
    tmp_path: Path, engine: str, earliest: float, latest: float, kills: int
) -> None:
    land(tmp_path, files=60, rows=40)
    whole = command(tmp_path, "embedded", "whole")
    subprocess.run(whole, check=True, capture_output=True)
    again = command(tmp_path, engine, "cut", "--checkpoint", str(tmp_path / "state"), "--drain")
    rng = random.Random(11)
    assert killed(again, [rng.uniform(earliest, latest) for _ in range(kills)]) > 0
    for sink in ("totals", "means", "visits", "busiest", "pairs"):
        same(last(tmp_path / "whole" / sink), last(tmp_path / "cut" / sink))
    assert errors(tmp_path / "cut" / "bad") == errors(tmp_path / "whole" / "bad")


@pytest.mark.spark
def test_killed_while_its_first_offset_was_written(tmp_path: Path) -> None:
    """Half a file lies there then, and no batch has begun."""
    land(tmp_path, files=3, rows=40)
    subprocess.run(command(tmp_path, "embedded", "whole"), check=True, capture_output=True)
    offsets = tmp_path / "kept" / "spark" / "offsets"
    offsets.mkdir(parents=True)
    (offsets / ".0.half.tmp").write_text("v1")
    again = command(tmp_path, "spark", "cut", "--checkpoint", str(tmp_path / "kept"), "--drain")
    assert killed(again, []) == 0
    same(last(tmp_path / "whole" / "totals"), last(tmp_path / "cut" / "totals"))


def errors(folder: Path) -> list[tuple[str, str]]:
    """Reason and position of each row of an error stream; none is there twice."""
    files = sorted(folder.glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    told = sorted((row["reason"], row["position"]) for row in rows)
    assert len(set(told)) == len(told) == 60
    return told


def same(whole: dict[str, Row], cut: dict[str, Row]) -> None:
    """Equal values under equal keys; how often a window was revised depends on the batches."""
    assert whole.keys() == cut.keys()
    for key, row in whole.items():
        values = {name: row[name] for name in row if name not in ("revision", "op", "emit")}
        assert {name: cut[key][name] for name in values} == pytest.approx(values)
