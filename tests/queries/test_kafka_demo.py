"""The demo of `make kafka-demo`, over fewer flights."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from queries.kafka.demo import Demo, Options
from queries.kafka.tables import TABLES
from tests.support.skipping import skipping

HOURS = TABLES[0]


@pytest.mark.long
def test_tables_equal_the_batch_answer_though_the_run_is_killed() -> None:
    out = io.StringIO()
    options = Options(files=2, seconds=20.0, seed=7)
    with skipping():
        assert Demo(options, Console(file=out, width=120)).run(), out.getvalue()
    said = out.getvalue()
    assert said.count("KILLED") == 2, said
    assert "departures_per_hour: equal: 437 rows" in said, said
    assert "aircraft_days: equal: 5,945 rows" in said, said


ROW = ("EWR", "9:00", "10:00", 3, 0.1 + 0.2, None)


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ([(*ROW[:4], 0.3, None)], 0),
        ([(*ROW[:3], 4, *ROW[4:])], 1),
        ([(*ROW[:4], 0.31, None)], 1),
        ([(*ROW[:5], 7)], 1),
        ([], 1),
        ([ROW, ("JFK", *ROW[1:])], 1),
    ],
)
def test_tables_that_differ_are_shown(found: list[tuple[Any, ...]], wrong: int) -> None:
    out = io.StringIO()
    demo = Demo(Options(), Console(file=out, width=120))
    assert demo.compare(HOURS, found, [ROW]) is (wrong == 0)
    assert (f"DIFFERENT: {wrong} of 1 rows" in out.getvalue()) is (wrong > 0)
