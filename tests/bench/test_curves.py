"""What a row costs: a point is measured, and the page has its ratios."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.curves import page
from bench.curves.points import CURVES, Point, point


def test_a_point_is_measured() -> None:
    found = point("range-batch", 0, scale=0.01)
    assert found.varied == 100
    assert found.ns > 0
    assert 0.5 < found.results < 2  # of each row one, those of a batch after the next


def test_every_curve_varies_something() -> None:
    for curve in CURVES.values():
        assert len({varied for varied, _ in curve.points}) == len(curve.points)
        assert curve.axis in page.AXES


def test_the_page_has_ratios_and_a_plot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "scaling.md"
    begin, end = page.BEGIN, page.END
    file.write_text(f"before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", file)
    monkeypatch.setattr(page, "PICTURES", tmp_path)
    lengths = [varied for varied, _ in CURVES["hop"].points]
    points = [Point(varied, 1_000 + n * 500, 0.3, 200) for n, varied in enumerate(lengths)]
    for _ in range(2):
        page.write({"hop": points})
    text = file.read_text(encoding="utf-8")
    assert "old" not in text
    assert "| hop by 1 minute: COUNT, SUM; 20 keys | 1.0 | 1.5 | 2.0 | 2.5 | 3.0 | 1,000 |" in text
    assert "| ratio to the least | 1 min | 10 min | 1 h | 6 h | 24 h | ns, least |" in text
    assert "<svg" in (tmp_path / "scaling_length.svg").read_text(encoding="utf-8")
