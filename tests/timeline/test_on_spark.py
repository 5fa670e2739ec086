"""What a run on Spark gives to those who look at its batches: all but the rows it read."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from sqlwin.timeline import files
from sqlwin.timeline.observers import WITHOUT_ROWS, recording_file

QUERY = """
CREATE STREAM s (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'rows.csv', format = 'csv');
SELECT window_start, window_end, SUM(n) AS total
FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end
"""


@pytest.mark.long
@pytest.mark.spark
def test_a_run_on_spark_is_recorded_without_its_rows(spark: SparkSession, tmp_path: Path) -> None:
    from sqlwin.spark.run import run

    rows = "n,ts\n1,2024-01-01T09:00:10Z\n2,2024-01-01T09:01:10Z\n"
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    parsed, file = script(QUERY), tmp_path / "run.jsonl"
    with recording_file(file, parsed, "on Spark", counted=True) as on_rows:
        run(parsed, RunOptions(tmp_path, on_rows=on_rows), spark)
    found = files.load(file)
    assert found.notes == (WITHOUT_ROWS,)
    assert sum(batch.read for batch in found.batches) == 2
    assert [a for batch in found.batches for a in batch.arrivals] == []
    emitted = [each for batch in found.batches for each in batch.emissions]
    assert sorted(each.values[-1] for each in emitted) == ["1", "2"]
    assert len(found.windows) == 2
    assert found.batches[0].watermarks[0].stream == "s"
