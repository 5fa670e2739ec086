"""What planning a join of many inputs takes, counted in calls: no clock decides."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import derived_streams
from sqlwin.runtime.lowering.explained import explain
from sqlwin.sql import script


def chained(inputs: int) -> str:
    """Each stream within a minute before the one joined before it."""
    declared = (
        f"CREATE STREAM s{n} (k BIGINT, v{n} BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
        for n in range(inputs)
    )
    joins = (
        f"JOIN s{n} ON s{n - 1}.k = s{n}.k"
        f" AND s{n}.ts BETWEEN s{n - 1}.ts - INTERVAL '1' MINUTE AND s{n - 1}.ts"
        for n in range(1, inputs)
    )
    values = ", ".join(f"v{n}" for n in range(inputs))
    return "\n".join([*declared, f"SELECT s0.k, {values} FROM s0", *joins])


def planned(text: str) -> Query:
    (query,) = script(text).queries
    explain(query)
    return query


def calls(work: Callable[[], object]) -> int:
    """Of functions of Python, those that dataclasses write among them."""
    made = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal made
        made += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return made


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    planned(chained(3))


def test_twice_the_inputs_take_four_times_the_calls_at_most() -> None:
    """The columns alone are n² where each join carries those before it."""
    few, many = (calls(lambda n=n: planned(chained(n))) for n in (16, 32))  # type: ignore[misc]
    assert many < 4 * few


@pytest.mark.long
def test_a_join_of_a_hundred_inputs_is_planned() -> None:
    assert len(derived_streams(planned(chained(100)).plan)) == 98


def test_a_plan_is_pickled_without_what_is_known_of_it() -> None:
    """Hashes of text are others in another process."""
    plan = planned(chained(3)).plan
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan and set(vars(again)) == {"input", "columns"}
