"""Scalar functions in Python reach another process with the program of their query."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sqlwin.python_functions.declared import udf
from sqlwin.spark.stages.program import Program
from sqlwin.sql import script

HOME = Path(__file__).parents[2]
WORKER = """
import sys
import pyarrow as pa
from sqlwin.sandbox.running import run
from sqlwin.spark.stages.program import load

(query,) = load(sys.stdin.read()).queries
(text,) = (scalar.duckdb for name, scalar in query.plan.columns if name == "x")
rows = pa.table({"n": pa.array([1, 2, None], pa.int32())})
print(run(rows, f"SELECT {text} AS x FROM rows")["x"].to_pylist())
"""


def test_a_worker_has_the_functions_of_its_program() -> None:
    by = 3
    times = udf(lambda n: None if n is None else n * by, name="times", types=["INT"], result="INT")
    text = "CREATE STREAM s (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts); "
    text += "SELECT times(n) + 1 AS x FROM s"
    program = Program(script(text, functions=[times]).queries, partitions=1, buckets=1)
    made = subprocess.run(
        [sys.executable, "-c", WORKER],
        cwd=HOME,
        check=True,
        capture_output=True,
        input=program.dump(),
        text=True,
    )
    assert made.stdout.strip() == "[4, 7, None]"
