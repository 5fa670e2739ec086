"""Killed with a window of processing time open: it is neither lost nor counted twice."""

from __future__ import annotations

import signal
from pathlib import Path

import polars as pl
import pytest

from tests.faults.part_kills import ended, land, parts

SCRIPT = """
SET 'batch.bytes' = 100;
CREATE STREAM orders (product STRING, value BIGINT, pt AS PROCTIME())
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK totals WITH (connector = 'files', path = 'cut', format = 'parquet');
INSERT INTO totals
SELECT product, window_start, window_end, SUM(value) AS total, COUNT(*) AS n, MAX(pt) AS last
FROM TUMBLE(TABLE orders, DESCRIPTOR(pt), INTERVAL '1' SECOND)
GROUP BY product, window_start, window_end
EMIT EARLY ON UPDATE;
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "engine",
    [
        "embedded",
        pytest.param("spark", marks=[pytest.mark.spark(processes=True), pytest.mark.hours]),
    ],
)
def test_each_row_is_in_one_window(tmp_path: Path, engine: str) -> None:
    """Killed in the midst of a part, and with a part that is not committed."""
    land(tmp_path)
    (tmp_path / "cut.sql").write_text(SCRIPT)
    for moment, after in (("within", 1), ("behind", 3), ("within", 3)):
        assert ended(tmp_path, engine, "cut", moment, after) == -signal.SIGKILL, (moment, after)
    assert ended(tmp_path, engine, "cut") == 0
    found = parts(tmp_path / "cut", "parquet")
    known = ["row_key", "revision"]
    assert not found.select(known).is_duplicated().any()
    last = found.sort(known).unique("row_key", keep="last")
    assert (last["n"].sum(), last["total"].sum()) == (24, 60)
    assert last.filter(pl.col("last") < pl.col("window_start")).is_empty()
    assert last.filter(pl.col("last") >= pl.col("window_end")).is_empty()
