"""A run on Spark is recorded as one in process: rows, watermarks, emissions and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from sqlwin.embedded.run import run as run_embedded
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.spark.stages import arrivals
from sqlwin.spark.stages.wire import decode, unpacked_blob
from sqlwin.sql import script
from sqlwin.timeline import files
from sqlwin.timeline.observers import FIRST_ROWS, recording_file
from sqlwin.timeline.recording import Batch, Recording

QUERY = """
CREATE STREAM s (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'rows/*.csv', format = 'csv');
SELECT window_start, window_end, SUM(n) AS total
FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end
EMIT LATE ON UPDATE RETAIN 10 MINUTES
"""
FIRST = "n,ts\n1,2024-01-01T09:00:10Z\n2,2024-01-01T09:20:10Z\n"
SECOND = "n,ts\n4,2024-01-01T09:19:10Z\n8,2024-01-01T09:00:20Z\n16,2024-01-01T09:20:20Z\n"

Run = Callable[[Script, RunOptions], object]


def recorded(run: Run, folder: Path) -> list[Recording]:
    """Two runs of one checkpoint, a file each; a run begins with the watermarks of the last."""
    (folder / "rows").mkdir(parents=True)
    parsed, found = script(QUERY), []
    for name, text in (("a", FIRST), ("b", SECOND)):
        (folder / "rows" / f"{name}.csv").write_text(text, encoding="utf-8")
        file = folder / f"{name}.jsonl"
        with recording_file(file, parsed, "two runs", bounded=True) as on_rows:
            run(parsed, RunOptions(folder, folder / "state", on_rows=on_rows))
        found.append(files.load(file))
    return found


def batch_of(recording: Recording) -> Batch:
    """The one with rows."""
    (batch,) = (each for each in recording.batches if each.read)
    return batch


@pytest.mark.spark
def test_a_run_on_spark_is_recorded_as_one_in_process(spark: SparkSession, tmp_path: Path) -> None:
    from sqlwin.spark.run import run

    ours = recorded(lambda parsed, options: run(parsed, options, spark), tmp_path / "spark")
    theirs = recorded(run_embedded, tmp_path / "embedded")
    assert [each.notes for each in ours] == [(FIRST_ROWS,), (FIRST_ROWS,)]
    for mine, other in zip(map(batch_of, ours), map(batch_of, theirs), strict=True):
        assert mine.read == other.read == len(mine.arrivals)
        assert mine.arrivals == other.arrivals
        assert mine.expired == other.expired
        assert mine.watermarks == other.watermarks
        assert mine.emissions == other.emissions
        assert mine.found == other.found
    second = batch_of(ours[1])
    assert [(row.row["n"], row.late) for row in second.arrivals] == [
        ("4", True), ("8", True), ("16", False)
    ]  # fmt: skip
    assert [each.row for each in second.expired] == [batch_of(theirs[1]).expired[0].row]
    assert [window.rows for window in ours[0].windows] == [1, 1]


def test_of_a_batch_the_first_rows_are_sent() -> None:
    task = arrivals.Arrivals(rows=5)
    parts = [pl.DataFrame({"n": range(at, at + 3)}) for at in (0, 3, 6)]
    sent = [payload for part in parts for payload in task.sent(0, "s", part)]
    assert [list(decode(unpacked_blob(each)[1])["n"]) for each in sent] == [[0, 1, 2], [3, 4]]
    assert len(list(task.sent(1, "s", parts[0]))) == 1  # another query has a bound of its own


def test_wide_rows_are_bounded_by_their_size() -> None:
    wide = pl.DataFrame({"text": ["x" * 1_000] * 100})
    ((_, rows),) = arrivals.collected(arrivals.Arrivals(size=10_000).sent(0, "s", wide))
    assert 5 <= len(rows) <= 10
    assert list(arrivals.Arrivals(size=0).sent(0, "s", wide)) == []
