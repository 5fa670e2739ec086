"""A process that is killed as it writes a part of a folder leaves each batch there once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

SCRIPT = """
SET 'batch.bytes' = 100;
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK totals WITH (connector = 'files', path = '{out}', format = '{format}');
INSERT INTO totals
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
"""
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


def started(
    home: Path, engine: str, out: str, format_: str, moment: str = "", after: int = 0
) -> int:
    (home / out).mkdir(exist_ok=True)
    (home / f"{out}.sql").write_text(SCRIPT.format(out=out, format=format_))
    run = ["run", f"{out}.sql", "--engine", engine, "--checkpoint", f"{out}-state", "--drain"]
    command = [sys.executable, "-c", RUN.format(count=COUNT), moment, str(after), *run]
    ended = subprocess.Popen(command, cwd=home, stderr=subprocess.PIPE, start_new_session=True)
    _, stderr = ended.communicate(timeout=300)
    if ended.returncode == -signal.SIGKILL:
        with suppress(ProcessLookupError):
            os.killpg(ended.pid, signal.SIGKILL)  # the JVM and its workers
        return ended.returncode
    assert ended.returncode == 0, stderr.decode()
    return 0


def parts(folder: Path, format_: str) -> pl.DataFrame:
    ending = ENDING.get(format_, format_)
    frames = [READ[format_](file) for file in sorted(folder.glob(f"part-*.{ending}"))]
    return pl.concat(frames, how="vertical_relaxed")


@pytest.mark.parametrize(
    ("engine", "format_"),
    [
        ("embedded", "parquet"),
        pytest.param("embedded", "csv", marks=pytest.mark.long),
        pytest.param("embedded", "json", marks=pytest.mark.long),
        pytest.param(
            "spark", "parquet", marks=[pytest.mark.long, pytest.mark.spark(processes=True)]
        ),
    ],
)
def test_a_part_is_there_once(tmp_path: Path, engine: str, format_: str) -> None:
    """Killed in the midst of a part, with a part that is not committed, and both once more."""
    land(tmp_path)
    assert started(tmp_path, "embedded", "whole", format_) == 0
    for moment, after in (("within", 1), ("behind", 3), ("within", 3)):
        code = started(tmp_path, engine, "cut", format_, moment, after)
        assert code == -signal.SIGKILL, (moment, after)
    assert started(tmp_path, engine, "cut", format_) == 0
    whole, cut = (parts(tmp_path / out, format_) for out in ("whole", "cut"))
    known = ["row_key", "revision"]
    assert not cut.select(known).is_duplicated().any()
    last = [
        each.sort(known).unique("row_key", keep="last").sort("row_key").select("row_key", "total")
        for each in (whole, cut)
    ]
    assert last[0].equals(last[1])
    assert len(last[0]) == 12
    left = [file.name for file in (tmp_path / "cut").iterdir() if file.name.startswith(".")]
    assert left == [], "what was written aside is not left"
