"""The questions as sqlwin takes them are the questions as DuckDB takes them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from bench.answers import differences, expected
from bench.data import Data, generated, paired
from bench.queries import JOIN, QUESTIONS, Question
from bench.run import Asked, answer

ROWS, FILE_ROWS, RATE = 8_000, 1_000, 60.0


def _data(question: Question, folder: Path) -> Data:
    made = paired if question.paired else generated
    return made("zipf", ROWS, folder, FILE_ROWS, RATE)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_each_question_is_answered_as_duckdb_does(question: Question, tmp_path: Path) -> None:
    data, results = _data(question, tmp_path), tmp_path / "results"
    told = answer(Asked("embedded", question.name, data, 1, results=str(results)))
    assert told.read == data.read
    assert told.emitted == expected(question, data) + 1  # of the closing row
    assert expected(question, data) > 100
    assert differences(question, data, results) == 0


def test_a_wrong_answer_differs(tmp_path: Path) -> None:
    data, results = _data(JOIN, tmp_path), tmp_path / "results"
    answer(Asked("embedded", JOIN.name, data, 1, results=str(results)))
    other = Data(**{**asdict(data), "other": data.folder})
    assert differences(JOIN, other, results) > 0
