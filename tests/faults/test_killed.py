"""A process that is killed anywhere, and started again, ends up saying what another says."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

SCRIPT = """
CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '20' SECOND
) WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK totals WITH (connector = 'files', path = '{out}/totals');
CREATE SINK means WITH (connector = 'files', path = '{out}/means');
INSERT INTO totals
SELECT product, window_start, SUM(value) AS total, COUNT(*) AS n
FROM HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
INSERT INTO means
SELECT product, ts, AVG(value) OVER (PARTITION BY product ORDER BY ts
                                     RANGE INTERVAL '1' MINUTE PRECEDING) AS mean
FROM orders
EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
"""
BEGIN = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)


def land(home: Path, files: int, rows: int) -> None:
    """Files of rows that are out of order by up to a minute, some of them late."""
    rng = random.Random(7)
    (home / "orders").mkdir()
    for number in range(files):
        lines = []
        for _ in range(rows):
            ts = BEGIN + timedelta(seconds=number * 10 + rng.uniform(-60, 10))
            row = {"product": rng.choice("abc"), "value": rng.randint(-9, 9), "ts": ts.isoformat()}
            lines.append(json.dumps(row))
        (home / "orders" / f"{number:04d}.jsonl").write_text("\n".join(lines) + "\n")


def command(home: Path, out: str, *more: str) -> list[str]:
    (home / f"{out}.sql").write_text(SCRIPT.format(out=out))
    run = [sys.executable, "-m", "sqlwin.cli", "run", str(home / f"{out}.sql")]
    return [*run, "--engine", "embedded", *more]


def last(folder: Path) -> dict[str, dict[str, object]]:
    """The last revision of every row key, over all files of a sink."""
    found: dict[str, dict[str, object]] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            known = found.get(row["row_key"])
            assert known is None or row["revision"] > known["revision"], "a revision came twice"
            found[row["row_key"]] = row
    return found


def delays() -> Iterator[float]:
    rng = random.Random(11)
    while True:
        yield rng.uniform(0.7, 2.0)


@pytest.mark.timeout(280)
def test_killed_at_random_points_in_process(tmp_path: Path) -> None:
    land(tmp_path, files=60, rows=40)
    assert (
        subprocess.run(command(tmp_path, "whole"), check=False, capture_output=True).returncode == 0
    )
    kills = 0
    for delay in delays():
        again = command(tmp_path, "cut", "--checkpoint", str(tmp_path / "state"), "--drain")
        running = subprocess.Popen(again, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + delay
        while running.poll() is None and (kills >= 6 or time.monotonic() < deadline):
            time.sleep(0.02)
        if running.poll() is not None:
            assert running.returncode == 0
            break
        running.send_signal(signal.SIGKILL)
        running.wait()
        kills += 1
    assert kills > 0
    for sink in ("totals", "means"):
        whole, cut = last(tmp_path / "whole" / sink), last(tmp_path / "cut" / sink)
        assert whole.keys() == cut.keys()
        for key, row in whole.items():
            mine = {name: cut[key][name] for name in row if name not in ("revision", "op", "emit")}
            assert mine == pytest.approx({name: row[name] for name in mine})
