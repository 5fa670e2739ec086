"""Sessions in ROWS of rows that are numbered by event time: each call emits what is defined."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import SECOND
from sqlwin.operators.sessions.operator import SessionAggregator
from sqlwin.operators.sessions.ordered import OrderedSessions
from sqlwin.policies import Early, Late, Policy
from sqlwin.windows import Unit
from sqlwin.windows.session import Session
from tests.reference.definitions.groups import Groups
from tests.reference.definitions.window import Definition
from tests.reference.operator import ReferenceOperator
from tests.support.operators.aggregators import COLUMNS, TYPES, folds_of
from tests.support.operators.changelogs import Step, agree, steps
from tests.support.operators.groups import VALUES as CALLS

ROWS = {**COLUMNS, "w": pl.Boolean()}


@st.composite
def operators(draw: st.DrawFn) -> OrderedSessions:
    keys, partition = draw(st.sampled_from([((), ()), (("k",), ("k",)), (("k", "b"), ("k",))]))
    subsets = [keys, partition, ()]
    sets = draw(st.lists(st.sampled_from(subsets), unique=True) if keys else st.just([]))
    calls = draw(st.sampled_from([("n", "total"), ("total", "least"), ("values",), ()]))
    policy = Policy(
        early=draw(st.sampled_from([None, *Early])),
        early_period=20 * SECOND,
        early_rows=2,
        late=draw(st.sampled_from(Late)),
        timeout=draw(st.sampled_from([None, 25 * SECOND])),
        retain=draw(st.sampled_from([None, 0, 60 * SECOND])),
    )
    inner = SessionAggregator(
        stream="s",
        window=Session(draw(st.integers(0, 3)), Unit.ROWS),
        below=ROWS,
        partition=partition,
        keys={key: ROWS[key] for key in keys},
        folds=folds_of(*calls),
        values=tuple(TYPES[name] for name in calls),
        policy=policy,
        where=draw(st.sampled_from([None, "w"])),
        update_before=draw(st.booleans()),
        sets=tuple(sets),
        weighted=True,
    )
    return OrderedSessions(inner)


def specified(fast: OrderedSessions) -> ReferenceOperator:
    inner = fast.inner
    values = tuple(CALLS[fold.call.name] for fold in inner.folds)
    rest: tuple[Any, ...] = (inner.partition, inner.where, inner.sets)
    groups = Groups("s", inner.window, tuple(inner.keys), values, *rest, ordered=True)
    return ReferenceOperator(
        Definition(
            windows=groups,
            output=inner.output,
            carried=ROWS,
            policy=inner.policy,
            update_before=inner.update_before,
            weighted=True,
            sessions=True,
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
    operator: OrderedSessions, taken: list[Step], restarts: bool
) -> None:
    agree(operator, specified(operator), ROWS, taken, restarts, operator.policy.retain)
