"""The queries as sqlwin takes them are the queries as DuckDB takes them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from bench.answers import differences, expected
from bench.data import Data, generated, paired
from bench.queries import JOIN, QUERIES, TUMBLE, Query
from bench.run import RunSpec, answer

ROWS, FILE_ROWS, RATE = 8_000, 1_000, 60.0


def _data(query: Query, folder: Path) -> Data:
    made = paired if query.paired else generated
    return made("zipf", ROWS, folder, FILE_ROWS, RATE)


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(query, marks=() if query in (TUMBLE, JOIN) else pytest.mark.long, id=name)
        for name, query in QUERIES.items()
    ],
)
def test_each_query_is_answered_as_duckdb_does(query: Query, tmp_path: Path) -> None:
    data, results = _data(query, tmp_path), tmp_path / "results"
    outcome = answer(RunSpec("embedded", query.name, data, 1, results=str(results)))
    assert outcome.read == data.read
    assert outcome.emitted == expected(query, data) + 1  # of the closing row
    assert expected(query, data) > 100
    assert differences(query, data, results) == 0


def test_a_wrong_answer_differs(tmp_path: Path) -> None:
    data, results = _data(JOIN, tmp_path), tmp_path / "results"
    answer(RunSpec("embedded", JOIN.name, data, 1, results=str(results)))
    other = Data(**{**asdict(data), "other": data.folder})
    assert differences(JOIN, other, results) > 0
