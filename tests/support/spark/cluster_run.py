"""A script on executors in processes of their own: `cluster_run SCRIPT BASE CHECKPOINT`.

The master `local-cluster` starts them as a standalone cluster does: what a task needs comes with
it or is installed, and state is where the next batch finds it, whichever executor it is then on.
Prints a line of JSON: how many executors there were, and each row that was emitted.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import polars as pl
from pyspark.sql import SparkSession

import sqlwin.spark
from sqlwin.spark.session import class_archive
from sqlwin.spark.session.local import JAVA_OPTIONS, JVM

EXECUTORS = 2
FLAGS = f"{JVM} {class_archive.options()}".strip()
"""Of the driver: it starts quickly."""


def main(text: str, base: str, checkpoint: str) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(f"local-cluster[{EXECUTORS},1,1024]")
        .config("spark.sql.shuffle.partitions", "2")
        .config(JAVA_OPTIONS, FLAGS)
        .config("spark.executor.extraJavaOptions", JVM)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    shown: list[pl.DataFrame] = []
    query = sqlwin.spark.query(spark, Path(text).read_text("utf-8"))
    query.run(base, checkpoint, show=shown.append)
    context = spark.sparkContext._jsc.sc()  # type: ignore[attr-defined]
    executors = len(context.statusTracker().getExecutorInfos()) - 1  # one is the driver
    rows = [row for frame in shown for row in frame.to_dicts()]
    sys.stdout.write(json.dumps({"executors": executors, "rows": rows}, default=str) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
