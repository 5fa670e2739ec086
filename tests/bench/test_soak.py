"""State stays flat over a day's worth of hours, and a store that grows is told."""

from __future__ import annotations

import pytest

from bench.soak import QUERIES, Sample, grown, main, options, samples

LONGER = {"newest": 10}
"""Hours, where a store takes more than three to fill: 20 rows for each of 1,000 keys."""


@pytest.mark.long
@pytest.mark.parametrize("query", QUERIES)
def test_state_stays_flat(query: str) -> None:
    hours = LONGER.get(query, 6)
    found = list(samples(query, hours, rate=2.0))
    assert {sample.hour for sample in found} == set(range(1, hours + 1))
    assert max(sample.rows for sample in found) > 100
    assert grown(found, hours) == []


def test_a_store_that_grows_is_told() -> None:
    steady = [Sample(hour, "panes", 1, 1_000 + hour % 2, 9_000) for hour in range(1, 11)]
    growing = [Sample(hour, "rows", 1, 1_000 * hour, 9_000) for hour in range(1, 11)]
    told = grown(steady + growing, 10)
    assert told == ["rows: 5,000 rows in the first half, then 10,000"]


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--days", "0.25", "--rate", "1", "--every", "3", "--queries", "tumble"]
    assert main(options().parse_args(asked)) == 0
    out = capsys.readouterr().out
    assert "tumble: state by hours of event time" in out
    assert out.count(" panes ") == 2
