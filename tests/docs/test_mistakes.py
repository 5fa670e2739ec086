"""The page of mistakes is what is said of them, and what is taken binds."""

from __future__ import annotations

import pytest

from sqlwin.sql import script
from tests.docs.mistakes import PAGE, page
from tests.pairs.text import files, pairs
from tests.support.docs.taken import TAKEN


def test_the_page_is_as_the_pairs_are() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "python -m tests.docs.mistakes writes it"


def test_there_are_mistakes_of_each_kind() -> None:
    counts = [len(pairs(file)) for file in files(["refused/newcomers/"])]
    assert sum(counts) >= 60
    assert min(counts) >= 10


@pytest.mark.parametrize(("engine", "query"), TAKEN)
def test_what_another_engine_spells_so_is_taken(engine: str, query: str) -> None:
    streams = files(["refused/newcomers/joins"])[0].whole("streams")
    script(f"{streams}\n{query}")
