"""Windows in ROWS of rows that are numbered by event time: each call emits what is defined."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import MINUTE, SECOND
from sqlwin.operators.windows.ordered import OrderedAggregator
from sqlwin.policies import Early, Late, Policy
from sqlwin.windows import Unit
from sqlwin.windows.group import Hop
from tests.reference.definitions.groups import Groups
from tests.reference.definitions.window import Definition
from tests.reference.operator import ReferenceOperator
from tests.support.operators.aggregators import COLUMNS, TYPES, folds_of
from tests.support.operators.changelogs import Step, agree, steps
from tests.support.operators.groups import VALUES as CALLS

PASSES = {"w": pl.Boolean()}
ROWS = {**COLUMNS, **PASSES}


@st.composite
def operators(draw: st.DrawFn) -> OrderedAggregator:
    size = draw(st.integers(1, 4))
    keys = draw(st.sampled_from([(), ("k",), ("k", "b")]))
    partition = keys[: draw(st.integers(0, len(keys)))]
    subsets = [keys, partition]
    sets = draw(st.lists(st.sampled_from(subsets), unique=True) if keys else st.just([]))
    calls = draw(st.sampled_from([("n", "total"), ("total", "least"), ("values",), ()]))
    policy = Policy(
        early=draw(st.sampled_from([None, *Early])),
        early_period=20 * SECOND,
        early_rows=2,
        late=draw(st.sampled_from(Late)),
        timeout=draw(st.sampled_from([None, 25 * SECOND])),
        retain=draw(st.sampled_from([None, 0, MINUTE, 5 * MINUTE])),
    )
    return OrderedAggregator(
        "s",
        Hop(size, draw(st.integers(1, size)), unit=Unit.ROWS),
        ROWS,
        {key: ROWS[key] for key in keys},
        folds_of(*calls),
        tuple(TYPES[name] for name in calls),
        policy,
        draw(st.booleans()),
        tuple(sets),
        partition=partition,
        where=draw(st.sampled_from([None, "w"])),
    )


def specified(fast: OrderedAggregator) -> ReferenceOperator:
    values = tuple(CALLS[fold.call.name] for fold in fast.folds)
    numbered = (fast.partition, fast.where, fast.sets, fast.partition)
    return ReferenceOperator(
        Definition(
            windows=Groups("s", fast.window, tuple(fast.keys), values, *numbered, ordered=True),
            output=fast.output,
            carried=ROWS,
            policy=fast.policy,
            update_before=fast.update_before,
            buckets=fast.partition,
            weighted=True,
            ordered=True,
            varies=bool(values),
        )
    )


VALUES = st.tuples(
    st.sampled_from(["a", "b", None]),
    st.sampled_from([1, None]),
    st.integers(0, 4),
    st.sampled_from([True, True, False, None]),
)
STEPS = steps(
    VALUES,
    st.integers(0, 200).map(lambda n: n * SECOND),
    st.integers(0, 60).map(lambda n: n * SECOND),
    st.integers(0, 30).map(lambda n: n * SECOND),
)


@given(operators(), STEPS, st.booleans())
def test_each_call_emits_what_the_reference_emits(
    operator: OrderedAggregator, taken: list[Step], restarts: bool
) -> None:
    agree(operator, specified(operator), ROWS, taken, restarts, operator.policy.retain)
