"""SIGTERM: the batch under way is committed, the next run continues behind it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

import sqlwin
import sqlwin.spark
from sqlwin.runtime.connectors.metrics import QueryMetrics

TEXT = """
CREATE STREAM orders (v BIGINT) WITH (connector = 'files', path = 'orders/*.jsonl');
SELECT v FROM orders;
"""
TERMINATING = """
import signal, sys
from sqlwin import cli
from sqlwin.running.progress import Progress
batch = Progress.batch

def terminated(self, seen):
    batch(self, seen)
    signal.raise_signal(signal.SIGTERM)

if "now" in sys.argv[0]:
    Progress.batch = terminated
sys.exit(cli.main())
"""


def land(home: Path, *values: int) -> None:
    (home / "orders").mkdir(exist_ok=True)
    (home / "q.sql").write_text(TEXT)
    for value in values:
        (home / "orders" / f"{value}.jsonl").write_text(json.dumps({"v": value}) + "\n")


def ran(home: Path, when: str, *options: str) -> subprocess.CompletedProcess[str]:
    begin = f"import sys; sys.argv[0] = {when!r}\n{TERMINATING}"
    argv = [sys.executable, "-c", begin, "run", "q.sql", "--engine", "embedded", *options]
    argv += ["--output", "json"]
    return subprocess.run(argv, cwd=home, capture_output=True, text=True, timeout=120, check=False)


def values(out: str) -> list[int]:
    return [json.loads(line)["v"] for line in out.splitlines()]


def test_a_run_ends_after_its_batch_and_goes_on_behind_it(tmp_path: Path) -> None:
    land(tmp_path, 1, 2, 3)
    first = ran(tmp_path, "now", "--checkpoint", "state")
    assert (values(first.stdout), first.returncode) == ([1], 143)
    assert first.stderr.splitlines()[-1] == (
        "stopped: state is kept in state; the same command goes on from there"
    )
    second = ran(tmp_path, "never", "--checkpoint", "state")
    assert (values(second.stdout), second.returncode) == ([2, 3], 0)


def test_a_run_that_follows_ends_with_0(tmp_path: Path) -> None:
    land(tmp_path, 1, 2)
    ended = ran(tmp_path, "now", "--follow", "--checkpoint", "state")
    assert (values(ended.stdout), ended.returncode) == ([1], 0)


def test_a_waiting_run_ends_soon(tmp_path: Path) -> None:
    land(tmp_path, 1)
    argv = [
        sys.executable,
        "-m",
        "sqlwin.cli",
        "run",
        "q.sql",
        "--follow",
        "--engine",
        "embedded",
    ]
    running = subprocess.Popen(
        argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    assert running.stderr.readline().startswith("batch 1")
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 0
    assert "stopped: nothing is kept" in said


def test_stop_of_a_run_from_python(tmp_path: Path) -> None:
    land(tmp_path, 1, 2)
    seen: list[int] = []
    stopped = sqlwin.run(
        TEXT, tmp_path, show=lambda rows: seen.extend(rows["v"]), stop=lambda: bool(seen)
    )
    assert (seen, stopped.stopped, stopped.batches) == ([1], True, 1)


@pytest.mark.spark
@pytest.mark.long
def test_stop_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    """The batch is committed: the next run has only the others."""
    land(tmp_path, 1, 2, 3)
    text, seen = "SET batch.bytes = 1;" + TEXT, list[int]()
    script = sqlwin.spark.query(spark, text)

    def show(rows: pl.DataFrame) -> None:
        seen.extend(rows["v"])

    measured: list[QueryMetrics] = []
    first = script.run(
        tmp_path,
        tmp_path / "state",
        show=show,
        stop=lambda: bool(seen),
        on_metrics=measured.append,
    )
    assert (measured[0].rows_read, measured[0].operators[0].rows_in) == (1, 1)
    before = list(seen)
    second = script.run(tmp_path, tmp_path / "state", show=show)
    assert first.stopped and not second.stopped
    assert before[0] == 1
    assert seen[: len(before)] == before and set(seen) == {1, 2, 3}
    assert len(seen) in (3, 4)  # a batch may have begun, and runs again
