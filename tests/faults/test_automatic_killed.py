"""A process in automatic use, killed at random points: nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.faults import automatic

Row = dict[str, Any]
BEGIN = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
ROWS, KILLS = 500, 8


@pytest.mark.long
def test_killed_at_random_points(tmp_path: Path) -> None:
    rng = random.Random(5)
    rows = [row(n, rng) for n in range(ROWS)]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    kills = 0
    while not ended(tmp_path, rng, kill=kills < KILLS):
        kills += 1
    assert kills >= 3
    lines = (tmp_path / "outputs.jsonl").read_text().splitlines()
    assert folded(list(map(json.loads, lines))) == batch_answer(rows)


def row(n: int, rng: random.Random) -> Row:
    ts = BEGIN + timedelta(seconds=n * 3 + rng.uniform(-90, 10))
    return {"id": n, "k": rng.choice("ab"), "v": rng.randint(0, 99), "ts": ts.isoformat()}


def ended(home: Path, rng: random.Random, kill: bool) -> bool:
    """Run the process; kill it once it has written some more, and then some time."""
    outputs = home / "outputs.jsonl"
    enough = size(outputs) + rng.randint(1, 4_000)
    running = subprocess.Popen(
        [sys.executable, automatic.__file__, str(home)], stderr=subprocess.PIPE
    )
    while kill and running.poll() is None and size(outputs) < enough:
        time.sleep(0.002)
    time.sleep(rng.uniform(0, 0.02))
    if kill:
        running.send_signal(signal.SIGKILL)
    _, stderr = running.communicate()
    assert running.returncode in (0, -signal.SIGKILL), stderr.decode()
    return running.returncode == 0


def size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def folded(lines: list[Any]) -> dict[tuple[str, str], tuple[float, int]]:
    """The last revision of each row key. What was flushed is not sent again; what was not, as
    it was."""
    flushed: set[tuple[str, int]] = set()
    unsure: set[tuple[str, int]] = set()  # sent by this process, maybe not written yet
    sent: dict[tuple[str, int], Row] = {}
    last: dict[str, Row] = {}
    for line in lines:
        if line in ("began", "flushed"):
            flushed |= unsure if line == "flushed" else set()
            unsure.clear()
            continue
        known = (line["row_key"], line["revision"])
        assert known not in flushed, "it was flushed, and sent again"
        assert sent.setdefault(known, line) == line, "it was sent again, and otherwise"
        unsure.add(known)
        last[line["row_key"]] = max(line, last.get(line["row_key"], line), key=revision)
    return {(r["k"], at(r["window_start"])): (r["middle"], r["n"]) for r in last.values()}


def revision(output: Row) -> int:
    return int(output["revision"])


def at(instant: str) -> str:
    return datetime.fromisoformat(instant).isoformat()


def batch_answer(rows: list[Row]) -> dict[tuple[str, str], tuple[float, int]]:
    held: dict[tuple[str, str], list[int]] = defaultdict(list)
    half = timedelta(seconds=30)
    for given in rows:
        ts = datetime.fromisoformat(given["ts"])
        newest = ts - (ts - BEGIN) % half
        for start in (newest, newest - half):
            held[given["k"], start.isoformat()].append(given["v"])
    return {key: (median(values), len(values)) for key, values in held.items()}
