"""A run that follows: files as they land, corrections when their period is over, a clean end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

SCRIPT = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start
EMIT LATE EVERY INTERVAL '1' SECOND RETAIN INTERVAL '1' HOUR;
"""


def land(home: Path, name: str, ts: str, value: int) -> None:
    row = {"product": "tea", "value": value, "ts": f"2024-01-01T{ts}Z"}
    unfinished = home / f"{name}.tmp"
    unfinished.write_text(json.dumps(row) + "\n")
    unfinished.rename(home / "orders" / f"{name}.jsonl")


def test_a_correction_needs_no_further_file(tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "q.sql").write_text(SCRIPT)
    land(tmp_path, "1", "09:00:10", 1)
    land(tmp_path, "2", "09:01:10", 8)
    command = [sys.executable, "-m", "sqlwin.cli", "run", str(tmp_path / "q.sql"), "--follow"]
    running = subprocess.Popen(
        [*command, "--engine", "embedded", "--output", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert running.stdout is not None
    first = json.loads(running.stdout.readline())
    land(tmp_path, "3", "09:00:20", 2)
    second = json.loads(running.stdout.readline())
    running.send_signal(signal.SIGINT)
    rest, _ = running.communicate(timeout=30)
    reported = [(row["total"], row["op"], row["emit"], row["revision"]) for row in (first, second)]
    assert reported == [(1, "+I", "full", 0), (3, "+U", "late", 1)]
    assert rest == ""  # what is open stays open
    assert running.returncode == 0
