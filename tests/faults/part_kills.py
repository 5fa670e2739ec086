"""A run of a script that is killed as it writes a part of the folder `cut`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl

RUN = """
import os, signal, sys
from sqlwin.cli import main
from sqlwin.runtime.connectors.sinks import Files

moment, after = sys.argv[1], int(sys.argv[2])
dump, write, written = Files._dump, Files._write, 0

def killed_within(self, rows, path):
    dump(self, rows, path)
    if path.parent.name == "cut" and {count} == after:
        os.truncate(path, path.stat().st_size // 2)  # half of the part, under its other name
        os.kill(os.getpid(), signal.SIGKILL)

def killed_behind(self, batch, rows, target):
    write(self, batch, rows, target)
    if target.parent.name == "cut" and {count} == after:
        os.kill(os.getpid(), signal.SIGKILL)  # the part is there, and its batch not committed

if moment == "within":
    Files._dump = killed_within
if moment == "behind":
    Files._write = killed_behind
sys.exit(main(sys.argv[3:]))
"""
COUNT = "len([name for name in os.listdir('cut') if name.startswith('part-')])"
READ = {"parquet": pl.read_parquet, "csv": pl.read_csv, "json": pl.read_ndjson}
ENDING = {"json": "jsonl"}


def land(home: Path) -> None:
    (home / "orders").mkdir()
    for file in range(6):
        lines = (
            f'{{"product": "{product}", "value": {file}, "ts": "2024-01-01T09:0{minute}:10Z"}}\n'
            for product in ("tea", "milk")
            for minute in (file, max(0, file - 2))
        )
        (home / "orders" / f"{file}.jsonl").write_text("".join(lines))


def ended(home: Path, engine: str, out: str, moment: str = "", after: int = 0) -> int:
    """Run the script `out`.sql into the folder of that name, to its end or its death.

    moment: within a part, or behind it, of which there are `after` then; empty: nothing happens.
    """
    (home / out).mkdir(exist_ok=True)
    run = ["run", f"{out}.sql", "--engine", engine, "--checkpoint", f"{out}-state", "--drain"]
    command = [sys.executable, "-c", RUN.format(count=COUNT), moment, str(after), *run]
    running = subprocess.Popen(command, cwd=home, stderr=subprocess.PIPE, start_new_session=True)
    _, stderr = running.communicate(timeout=300)
    if running.returncode == -signal.SIGKILL:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)  # the JVM and its workers
        return running.returncode
    assert running.returncode == 0, stderr.decode()
    return 0


def parts(folder: Path, format_: str) -> pl.DataFrame:
    ending = ENDING.get(format_, format_)
    frames = [READ[format_](file) for file in sorted(folder.glob(f"part-*.{ending}"))]
    return pl.concat(frames, how="vertical_relaxed")
