"""Checkpoints that are damaged: a bit flipped, a file cut short, emptied or deleted.

A run reads two of three files and leaves a checkpoint, closed or as a kill leaves it. Each case
damages one file of a copy, resumes it over all three, and demands the batch answer, or a
StateError that names the file. Starting again from the first row without a word is neither.

    python -m tests.faults.flips --cases 5000 --seed 1
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sqlwin.embedded.run import run
from sqlwin.errors import StateError
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from tests.faults.sinks import Row, last, same

SCRIPT = """
CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '20' SECOND
) WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK middles WITH (connector = 'files', path = 'out/middles');
CREATE SINK counts WITH (connector = 'files', path = 'out/counts');
INSERT INTO middles
SELECT product, window_start, MEDIAN(value) AS middle, COUNT(*) AS n
FROM HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
INSERT INTO counts
SELECT product, ts, COUNT(*) OVER (PARTITION BY product ORDER BY ts
                                   RANGE INTERVAL '1' MINUTE PRECEDING) AS n
FROM orders EMIT LATE ON UPDATE RETAIN 30 ROWS;
"""
SINKS = ("middles", "counts")
ROWS = 30
"""Of each file."""
KINDS = ("flip", "flip", "flip", "flip", "cut", "empty", "delete")


@dataclass(frozen=True)
class Ground:
    """What cases begin from. states: checkpoints after two files. out: what they had emitted.

    answer: of each sink, over all three files.
    """

    home: Path
    states: tuple[Path, ...]
    out: Path
    answer: dict[str, dict[str, Row]]


def prepared(home: Path) -> Ground:
    rng = random.Random(3)
    lines = [_line(rng, number) for number in range(3 * ROWS)]
    (home / "orders").mkdir(parents=True)
    for number in range(2):
        _land(home, number, lines)
    _run(home, None, drain=True)
    shutil.rmtree(home / "out")
    killed = home / "killed"

    def copy(_: object) -> None:
        shutil.rmtree(killed, ignore_errors=True)
        shutil.copytree(home / "closed", killed)

    _run(home, home / "closed", on_batch=copy)
    (home / "out").rename(home / "kept")
    _land(home, 2, lines)
    _run(home, None, drain=True)
    answer = {sink: last(home / "out" / sink) for sink in SINKS}
    assert all(answer.values())
    assert any(file.name.endswith("-wal") for file in killed.iterdir())
    return Ground(home, (home / "closed", killed), home / "kept", answer)


def _line(rng: random.Random, number: int) -> str:
    at = max(0, number * 5 + rng.randint(-60, 5))
    ts = f"2024-01-01T09:{at // 60:02d}:{at % 60:02d}Z"
    return json.dumps({"product": rng.choice("ab"), "value": rng.randint(-9, 9), "ts": ts})


def _land(home: Path, number: int, lines: list[str]) -> None:
    part = lines[number * ROWS : (number + 1) * ROWS]
    (home / "orders" / f"{number}.jsonl").write_text("\n".join(part) + "\n")


def _run(home: Path, state: Path | None, drain: bool = False, **more: Any) -> int:
    return run(_bound(), RunOptions(home, state, drain=drain, **more)).read


@cache
def _bound() -> Script:
    return script(SCRIPT)


def case(ground: Ground, seed: str) -> str:
    """What became of one: `same` or `refused`; AssertionError with the seed for all else."""
    rng = random.Random(seed)
    state = ground.home / "state"
    shutil.rmtree(state, ignore_errors=True)
    shutil.copytree(rng.choice(ground.states), state)
    shutil.rmtree(ground.home / "out", ignore_errors=True)
    shutil.copytree(ground.out, ground.home / "out")
    what = damage(rng, state)
    named = str(state / what.split(" ")[0].removesuffix("-wal").removesuffix("-shm"))
    try:
        read = _run(ground.home, state, drain=True)
    except StateError as error:
        if named not in str(error):
            raise AssertionError(f"{seed}, {what}: not named in {error}") from error
        return "refused"
    except Exception as error:
        raise AssertionError(f"{seed}, {what}: {type(error).__name__}: {error}") from error
    assert read < len(SINKS) * 3 * ROWS, f"{seed}, {what}: began again from the first row"
    for sink in SINKS:
        try:
            same(ground.answer[sink], last(ground.home / "out" / sink))
        except AssertionError as error:
            raise AssertionError(f"{seed}, {what}: another answer: {error}") from error
    return "same"


def damage(rng: random.Random, folder: Path) -> str:
    """Of one file of a folder; in words."""
    files = sorted(folder.iterdir())
    telling = [file for file in files if file.name.endswith((".sqlite", "-wal", ".json"))]
    file = rng.choice([*files, *telling * 3])
    data, kind = bytearray(file.read_bytes()), rng.choice(KINDS)
    if kind == "delete":
        file.unlink()
        return f"{file.name} deleted"
    if kind == "empty" or not data:
        file.write_bytes(b"")
        return f"{file.name} emptied"
    at = rng.randrange(len(data))
    if kind == "cut":
        file.write_bytes(data[:at])
        return f"{file.name} cut at {at}"
    data[at] ^= 1 << (bit := rng.randrange(8))
    file.write_bytes(data)
    return f"{file.name} flipped: bit {bit} of byte {at}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as home:
        ground = prepared(Path(home) / "ground")
        for number in range(arguments.cases):
            try:
                found[case(ground, f"{arguments.seed}-{number}")] += 1
            except AssertionError as wrong:
                found["wrong"] += 1
                sys.stdout.write(f"{wrong}\n")
    sys.stdout.write(f"{dict(found)}\n")
    return 1 if found["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
