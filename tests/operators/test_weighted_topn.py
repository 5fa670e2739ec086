"""The first n of rows that come, change and go: each call emits what the definitions emit."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.operators.top_n.held import RANKINGS, TOP
from sqlwin.operators.top_n.operator import TopRows
from sqlwin.policies import Policy
from sqlwin.schema import TS
from tests.support.operators.changelogs import Step, agree, steps
from tests.support.operators.driving import Driven, emissions, rows_of
from tests.support.operators.topn import COLUMNS, top
from tests.support.operators.weighted_topn import STEPS, operators, specified


def weighted(limit: int = 1, **rest: object) -> TopRows:
    made = top(limit, **rest)  # type: ignore[arg-type]
    kept = (made.standing, made.limit, made.policy, made.update_before)
    return TopRows("s", COLUMNS, "place", *kept, weighted=True)


@given(operators(), STEPS, st.booleans())
def test_each_call_emits_what_the_reference_emits(
    operator: TopRows, taken: list[Step], restarts: bool
) -> None:
    agree(operator, specified(operator), COLUMNS, taken, restarts)


AT = pl.col(TS).alias("at")
MOVING = steps(
    st.tuples(st.sampled_from([None, "a", "b"]), st.sampled_from([None, 0.0, 1.0, 2.0])),
    st.integers(-3, 3),
    st.sampled_from([0, 0, 1, 3]),
    st.integers(0, 4),
)


@given(operators(), MOVING, st.booleans(), st.booleans(), st.integers(0, 2))
def test_partitions_of_one_instant_are_emitted_and_forgotten(
    operator: TopRows, taken: list[Step], restarts: bool, weighted: bool, retain: int
) -> None:
    settling = replace(
        operator,
        carried={**COLUMNS, "at": pl.Int64()},
        standing=replace(operator.standing, partition=("at", *operator.partition)),
        policy=replace(operator.policy, retain=retain),
        weighted=weighted,
        becomes_final=True,
    )
    if not weighted:
        taken = [replace(s, acts=tuple(a for a in s.acts if a.kind == "insert")) for s in taken]
    agree(settling, specified(settling), COLUMNS, taken, restarts, retain, True, [AT])


def test_a_settled_partition_is_full_and_leaves_nothing() -> None:
    columns = {**COLUMNS, "at": pl.Int64()}
    made = top(partition=("at",))
    kept = (made.standing, made.limit, Policy(5))
    driven = Driven(TopRows("s", columns, "place", *kept, becomes_final=True))
    rows = rows_of(COLUMNS, ("a", 5.0, 10, 0, 1), ("b", 3.0, 10, 0, 2), ("a", 1.0, 11, 0, 3))
    assert driven.step(rows.with_columns(AT), watermark=15).is_empty()
    assert emissions(driven.step(watermark=16), "x", "place") == [("+I", "full", 0, 5.0, 1)]
    driven.stores._check()
    assert [len(driven.stores[name]) for name in (TOP, RANKINGS)] == [1, 1]


def test_the_next_takes_the_place_of_one_that_is_retracted() -> None:
    driven = Driven(weighted(update_before=True), restarts=True)
    best, second = ("a", 5.0, 10, 0, 1), ("a", 3.0, 11, 0, 2)
    came = rows_of(COLUMNS, best, second)
    assert emissions(driven.step(came), "x", "place") == [("+I", "early", 0, 5.0, 1)]
    gone = rows_of(COLUMNS, best).with_columns(__weight=-1)
    assert emissions(driven.step(gone), "x", "place") == [
        ("-D", "early", 1, 5.0, 1),
        ("+I", "early", 0, 3.0, 1),
    ]
