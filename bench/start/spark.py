"""Ten rows on Spark from the start of the process to its end, and the same query in plain PySpark:
`python -m bench.start.spark [--before CHECKOUT] [--runs N]`, a table in Markdown.

Each runs in a process of its own, in turn with the others. Seconds are medians: of the clock until
the command has ended, and of the processors (user and system) of all its processes, JVM and Python
workers, which are waited for behind it. The first turn is not counted: it fills caches.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

HOME = Path(__file__).parents[2]
SCRIPT = """
CREATE STREAM a (k BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'rows', format = 'csv');
SELECT k, window_start, SUM(v) AS total
FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY k, window_start;
"""
PLAIN = """
import os, tempfile
from pyspark.sql import SparkSession, functions as F
settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": str(os.cpu_count())}
spark = SparkSession.builder.master("local[*]").config(map=settings).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
rows = spark.readStream.schema("k BIGINT, v BIGINT, ts TIMESTAMP").csv("rows", header=True)
windows = rows.withWatermark("ts", "0 seconds").groupBy("k", F.window("ts", "1 minute"))
query = windows.agg(F.sum("v")).writeStream.outputMode("update").format("console")
query = query.option("checkpointLocation", tempfile.mkdtemp()).trigger(availableNow=True).start()
query.awaitTermination()
spark.stop()
"""
PR_SET_CHILD_SUBREAPER = 36


def seconds(checkout: Path, arguments: list[str], folder: Path) -> tuple[float, float]:
    """Of the clock, of the processors."""
    before, began = os.times(), time.monotonic()
    command = [str(HOME / "tools" / "with-java"), sys.executable, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    quiet = subprocess.DEVNULL
    subprocess.run(command, cwd=folder, env=environment, stdout=quiet, stderr=quiet, check=True)
    took = time.monotonic() - began
    while True:  # those that outlive it, this process adopts
        try:
            os.wait()
        except ChildProcessError:
            break
    after = os.times()
    used = after.children_user + after.children_system
    return took, used - before.children_user - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.start.spark")
    parser.add_argument("--before", type=Path, help="another checkout, to compare with")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    run = ["-m", "sqlwin.cli", "run", "query.sql"]
    commands = {"plain PySpark": (HOME, ["-c", PLAIN]), "sqlwin": (HOME, run)}
    if options.before is not None:
        commands["sqlwin before"] = (options.before.resolve(), run)
    found = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        _rows(Path(folder))
        for turn in range(options.runs + 1):
            for name, (checkout, arguments) in commands.items():
                took = seconds(checkout, arguments, Path(folder))
                if turn:
                    found[name].append(took)
    _print(found)


def _rows(folder: Path) -> None:
    lines = [f"1,{n},2024-01-01T09:0{n}:10Z" for n in range(10)]
    (folder / "rows").mkdir()
    (folder / "rows" / "rows.csv").write_text("\n".join(["k,v,ts", *lines]))
    (folder / "query.sql").write_text(SCRIPT)


def _print(found: dict[str, list[tuple[float, float]]]) -> None:
    medians = {
        name: [statistics.median(each) for each in zip(*runs, strict=True)]
        for name, runs in found.items()
    }
    sys.stdout.write(
        "| | s of the clock | of plain | s of CPU | of plain |\n|---|--:|--:|--:|--:|\n"
    )
    clock, processors = medians["plain PySpark"]
    for name, (took, used) in medians.items():
        ratios = f"{took:.1f} | {took / clock:.2f} | {used:.1f} | {used / processors:.2f}"
        sys.stdout.write(f"| {name} | {ratios} |\n")


if __name__ == "__main__":
    main()
