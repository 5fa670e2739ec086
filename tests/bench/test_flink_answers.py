"""Flink's answers are DuckDB's, by the jars that the benchmark installs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.data import generated, paired
from bench.flink.beside import CHECK_FILES, CHECK_RATE, CHECK_ROWS, flink_answers
from bench.flink.contenders import Limits
from bench.flink.install import Missing, jars
from bench.flink.queries import QUERIES


@pytest.mark.hours
@pytest.mark.parametrize("setup", ["heap", "rocksdb-tuned"])
@pytest.mark.parametrize("name", QUERIES)
def test_flink_answers_as_duckdb_does(name: str, setup: str, tmp_path: Path) -> None:
    try:
        jars()
    except Missing as missing:
        pytest.skip(str(missing))
    query = QUERIES[name]
    made = paired if query.paired else generated
    data = made(query.shapes[0], CHECK_ROWS, tmp_path, CHECK_ROWS // CHECK_FILES, CHECK_RATE)
    flink_answers(query, setup, data, Limits(job_seconds=400))
