"""Joins with a table: step by step what the definition says, and where it says it at once."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import START
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.joins.static import KINDS, StaticJoin
from sqlwin.policies import Early, Late, Policy
from sqlwin.schema import ROW_KEY
from tests.reference.joins import join_sides as defined
from tests.reference.joins.statics import ReferenceStatic
from tests.support.operators.driving import emissions, records
from tests.support.operators.joins import (
    LEFT,
    RIGHT,
    Joined,
    Source,
    Step,
    residual,
    rows_of,
    steps,
    window,
)


def looked_up(
    kind: str = "inner", keys: int = 1, filtered: bool = False, weighted: bool = False, **more: Any
) -> StaticJoin:
    anywhere = window(None, None)
    left = Side("left", LEFT, ("k", "j")[:keys], anywhere, 4, weighted=weighted)
    right = Side("right", RIGHT, ("rk", "rj")[:keys], anywhere, 4)
    policy = Policy(None, Late.ON_UPDATE, **more)
    return StaticJoin(left, right, kind, policy, residual if filtered else None, update_before=True)


def specified(fast: StaticJoin) -> ReferenceStatic:
    sides = [defined.Side(s.columns, s.keys, s.window) for s in (fast.left, fast.right)]
    return ReferenceStatic(
        *sides, fast.kind, fast.policy, fast.update_before, residual=fast.residual
    )


JOINS = st.builds(
    looked_up,
    st.sampled_from(KINDS),
    st.sampled_from([0, 1, 1, 2]),
    st.booleans(),
    st.booleans(),
    early=st.sampled_from([None, Early.EVERY, Early.ON_UPDATE, Early.ROWS]),
    early_period=st.just(4),
    early_rows=st.just(2),
)
TABLE = st.lists(
    st.tuples(
        st.sampled_from(["a", "a", "b", None]),
        st.sampled_from([1, 1, None]),
        st.sampled_from([None, 1, 2, 3]),
    ),
    max_size=5,
)


@given(JOINS, TABLE, steps(), st.booleans())
def test_each_call_emits_what_the_definition_emits(
    operator: StaticJoin, table: list[tuple[Any, ...]], taken: list[Step], restarts: bool
) -> None:
    fast, slow = Joined(operator, restarts), Joined(specified(operator))
    source, watermark, now = Source(operator), 0, 0
    for driven in (fast, slow):
        driven.step(right=rows_of(RIGHT, *((*row, 0, at, 0, 1) for at, row in enumerate(table))))
    for step in taken:
        left, _ = source.batch(step, watermark, START)
        watermark, now = watermark + step.watermark, now + step.clock
        found, expected = (
            records(each.step(left, None, now, watermark, step.end), [*operator.output])
            for each in (fast, slow)
        )
        assert found == expected
        deadlines = [each.operator.next_deadline(each.stores) for each in (fast, slow)]
        assert deadlines[0] == deadlines[1]


def left(*rows: tuple[Any, ...], weight: int = 1) -> pl.DataFrame:
    """(key, value), at positions from 0 on."""
    return rows_of(LEFT, *((k, 1, v, 10, at, 0, weight) for at, (k, v) in enumerate(rows)))


def test_a_row_is_padded_at_once() -> None:
    driven = Joined(looked_up("left"))
    driven.step(right=rows_of(RIGHT, ("a", 1, 5, 0, 0, 0, 1), ("a", 1, 6, 0, 1, 0, 1)))
    emitted = driven.step(left(("a", 1), ("b", 2)), watermark=100)
    assert emissions(emitted, "v", "w") == [
        ("+I", "full", 0, 1, 5),
        ("+I", "full", 0, 1, 6),
        ("+I", "full", 0, 2, None),
    ]
    assert emitted[ROW_KEY].to_list() == ["[[0,0],[0,0]]", "[[0,0],[0,1]]", "[[0,1],null]"]


def test_a_row_that_was_retracted_takes_its_pairs_along() -> None:
    driven = Joined(looked_up(weighted=True))
    driven.step(right=rows_of(RIGHT, ("a", 1, 5, 0, 0, 0, 1)))
    driven.step(left(("a", 1)))
    assert emissions(driven.step(left(("a", 1), weight=-1)), "w") == [("-D", "full", 1, 5)]


def test_a_table_cannot_wait_to_be_looked_up() -> None:
    with pytest.raises(ValueError, match="one of inner, left, semi, anti, got full"):
        looked_up("full")
