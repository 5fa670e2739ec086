"""Every pair of a query and what is said of it: refusals, and EXPLAIN."""

from __future__ import annotations

import pytest

from tests.pairs.text import Pair, files, pairs, path_of, rewritten, said

EVERY = [pair for file in files() for pair in pairs(file)]


@pytest.mark.parametrize("pair", EVERY, ids=lambda pair: f"{pair.file}: {pair.query}")
def test_pair(pair: Pair) -> None:
    assert said(pair) == pair.expected


def test_a_file_is_written_as_it_is_read() -> None:
    file = files(["refused/joins"])[0]
    assert rewritten(file) == path_of(file).read_text(encoding="utf-8")
