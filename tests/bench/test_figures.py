"""Figures, ratios and the page, from batches that never ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.measure import Batch, figures
from bench.report import BEGIN, END, Line, Report, load, save, with_ratios, write_docs
from bench.run import Outcome


def _outcome(rate: int) -> Outcome:
    batches = [Batch(2.0, 5.0, 10), Batch(5.0, 6.0, rate, {"addBatch": 900}), Batch(6.0, 6.0, 0)]
    return Outcome(rate, 0, rate + 10, figures(0.0, batches))


def _report() -> Report:
    lines = with_ratios(
        [
            Line("tumble", "zipf", "window", _outcome(100), 1),
            Line("tumble", "zipf", "packed", _outcome(400), 1),
            Line("over", "zipf", "row-pandas", _outcome(10), 1),
        ]
    )
    return Report("a machine", "some rows", lines)


def test_start_up_and_first_batch_are_apart() -> None:
    found = _outcome(400).figures
    assert found is not None
    assert (found.startup, found.first, found.rate) == (2.0, 3.0, 400.0)
    assert found.phases == {"addBatch": 900}


def test_a_steady_rate_needs_a_second_batch() -> None:
    with pytest.raises(ValueError, match="one batch only"):
        figures(0.0, [Batch(0.0, 1.0, 10), Batch(1.0, 2.0, 0)])


def test_ratios_are_to_the_packed_operator_of_the_same_query() -> None:
    assert [line.ratio for line in _report().lines] == [4.0, 1.0, None]


def test_the_table_replaces_the_one_between_the_marks(tmp_path: Path) -> None:
    page, result = tmp_path / "page.md", tmp_path / "result.json"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    save(_report(), result)
    assert load(result) == _report()
    write_docs(result, page)
    write_docs(result, page)
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert text.startswith("before\n") and text.endswith("after\n")
    assert text.count("| tumbling 1 minute: COUNT, SUM, MAX by key | 1,000 keys, Zipf |") == 2
    assert "4.0 times" in text
