"""A draw of the fuzzer, and the texts that once failed in it; see fuzz.py."""

from __future__ import annotations

import pytest

from tests.sql.fuzz import kept, outcome, run


@pytest.mark.parametrize("text", kept())
def test_what_failed_once(text: str) -> None:
    assert outcome(text).fine


def test_a_thousand_texts() -> None:
    counted, wrong = run(600, seed=7)
    assert wrong == []
    assert counted["QueryError"] > 300
    assert counted["plan"] > 5


@pytest.mark.long
def test_more_texts() -> None:
    assert run(1_000, seed=8)[1] == []
