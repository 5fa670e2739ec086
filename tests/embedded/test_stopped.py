"""`sqlwin.run(follow=True)` in a process of its own, stopped by real signals: it ends in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import os, signal, sys
import sqlwin

TEXT = '''
CREATE STREAM orders (v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl');
CREATE SINK out WITH (connector = 'python');
INSERT INTO out SELECT window_start, SUM(v) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start
EMIT EARLY ON UPDATE
'''

def write(table, batch):
    if sys.argv[1] == "within":
        signal.raise_signal(signal.SIGINT)  # while the batch is written
    with open("out.txt", "a") as file:
        file.write(f"{batch} {table['total'].to_pylist()}\\n")

summary = sqlwin.run(
    TEXT, checkpoint="state", follow=True, sinks={"out": write}, on_warning=print
)
print("ended", summary.read, summary.stopped)
signal.getsignal(signal.SIGINT) is signal.default_int_handler and print("as before")
"""


def land(home: Path, *values: int) -> None:
    (home / "orders").mkdir(exist_ok=True)
    for value in values:
        row = {"v": value, "ts": "2024-01-01T09:00:00Z"}
        (home / "orders" / f"{value}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")


def started(home: Path, when: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", PROGRAM, when]
    return subprocess.Popen(argv, cwd=home, text=True, stdout=-1, stderr=-1)


def lines(home: Path) -> list[str]:
    file = home / "out.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def test_a_run_that_waits_for_files_ends_at_ctrl_c_and_goes_on(tmp_path: Path) -> None:
    land(tmp_path, 1, 2)
    for seen in (2, 3):
        process = started(tmp_path, "outside")
        deadline = time.monotonic() + 120
        while len(lines(tmp_path)) < seen and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert out.splitlines()[-1] == "as before"
        land(tmp_path, 4)
    assert lines(tmp_path) == ["1 [1]", "2 [3]", "3 [7]"]


@pytest.mark.long
def test_a_batch_that_is_interrupted_is_finished_and_committed(tmp_path: Path) -> None:
    land(tmp_path, 1, 2)
    for at in (1, 2):
        process = started(tmp_path, "within")
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert out.splitlines() == ["ended 1 True", "as before"]
        assert lines(tmp_path) == ["1 [1]", "2 [3]"][:at]


@pytest.mark.long
def test_a_run_is_stopped_at_any_moment(tmp_path: Path) -> None:
    """Whatever it does then, it prints no traceback, and the runs together have each row once."""
    land(tmp_path, *range(1, 41))
    for at in range(8):
        process = started(tmp_path, "outside")
        while not (tmp_path / "state").exists():
            time.sleep(0.05)
        known = len(lines(tmp_path))
        while len(lines(tmp_path)) == known and process.poll() is None and known < 40:
            time.sleep(0.001 * at)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
    assert [int(line.split()[0]) for line in lines(tmp_path)] == list(
        range(1, len(lines(tmp_path)) + 1)
    )
