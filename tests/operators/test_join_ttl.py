"""Joins whose rows have a TTL: step by step what the definition says, under any TTL of either."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import START
from sqlwin.operators.contract import Stores
from sqlwin.operators.stages.join_ttl import JoinTtl
from sqlwin.policies import Early, Ttl, TtlTime, Update, Visibility
from sqlwin.schema import TS
from sqlwin.state.contract import Store
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.ttl.keyed_store import TtlStore
from sqlwin.state.ttl.pair_store import PairStore
from sqlwin.windows.joins import AsOf
from tests.properties.plan_ttl import CLEANUPS
from tests.reference.joins.asof import ReferenceAsOf
from tests.reference.joins.forgetting import (
    ForgettingAsOf,
    ForgettingJoin,
    ForgettingSessions,
)
from tests.reference.joins.session_joins import ReferenceSessionJoin
from tests.support.operators.driving import records
from tests.support.operators.joins import (
    KINDS,
    Fast,
    Joined,
    Source,
    Step,
    asofs,
    join,
    joins,
    specified,
    steps,
    window,
)
from tests.support.operators.session_joins import session_join, session_joins

ANY = window(None, None)


class WithTtl(Joined):
    """As a task keeps it: with the TTL entries of both sides, restored with the stores."""

    operator: Any
    saved = "null"

    def _named(self) -> dict[str, Store]:
        if not isinstance(self.operator, JoinTtl):
            return {}
        self.bare = Stores(
            {s.name: self._store(s.layout, s.combine) for s in self.operator.stores()}
        )
        self.operator.open_ttl(self.bare, json.loads(self.saved), "always the same")
        if hasattr(self, "stores"):
            self.stores.sides = self.bare.sides
        return self.bare.named

    def step(self, left: Any = None, right: Any = None, *rest: Any, **more: Any) -> pl.DataFrame:
        """With the numbers that a task knows of all messages."""
        numbers = [[0] if rows is None else rows["__pos"].to_list() for rows in (left, right)]
        known = self.stores.counted or (0, 0)
        self.stores.counted = tuple(
            max([was, *new]) for was, new in zip(known, numbers, strict=True)
        )
        return super().step(left, right, *rest, **more)

    def _restart(self) -> None:
        self.steps += 1
        assert self.stores.sides is not None
        self.saved = json.dumps(self.stores.sides.to_json())
        for name, store in self.stores.named.items():
            inner = store.inner if isinstance(store, TtlStore | PairStore) else store
            assert isinstance(inner, SegmentStore)
            self.indexes[name] = json.loads(json.dumps(inner.flush(f"s{self.steps}")))
        self.stores.named = self._named()


def live(operator: Fast, restarts: bool = False) -> tuple[WithTtl, WithTtl]:
    """Fast, and by definition."""
    ttls = operator.policy.ttls
    left, right = (replace(s, forgets=s.name in ttls) for s in (operator.left, operator.right))
    fast = WithTtl(JoinTtl(replace(operator, left=left, right=right)), restarts)
    fast.stores.sides = fast.bare.sides
    slow = specified(operator)
    forgetting: Any = ForgettingJoin
    if isinstance(slow, ReferenceAsOf | ReferenceSessionJoin):
        forgetting = ForgettingAsOf if isinstance(slow, ReferenceAsOf) else ForgettingSessions
    return fast, WithTtl(forgetting(slow))


def ttls() -> st.SearchStrategy[Ttl]:
    return st.builds(
        Ttl,
        st.integers(1, 8),
        st.sampled_from(TtlTime),
        st.sampled_from(Update),
        st.sampled_from(Visibility),
        st.sampled_from(CLEANUPS),
    )


@st.composite
def forgetting(draw: st.DrawFn, of: st.SearchStrategy[Fast]) -> Fast:
    made = draw(of)
    both = draw(st.tuples(st.none() | ttls(), st.none() | ttls()).filter(any))
    return replace(made, policy=replace(made.policy, ttl=both[0], right_ttl=both[1]))


def possible(operator: Fast) -> bool:
    """Windows in ROWS, and RETAIN n ROWS, of rows that may be retracted have no TTL."""
    counted = operator.policy.retain_rows is not None
    return not operator.left.weighted or (operator.left.at == TS and not counted)


def uncounted(operator: Fast) -> bool:
    """An ASOF join with RETAIN n ROWS has no TTL."""
    return operator.policy.retain_rows is None


@given(forgetting(joins().filter(possible)), steps(), st.booleans())
def test_each_call_emits_what_the_definition_emits(
    operator: Fast, taken: list[Step], restarts: bool
) -> None:
    agree(operator, taken, restarts)


@given(forgetting(asofs().filter(uncounted)), steps(), st.booleans())
def test_so_does_an_asof_join(operator: Fast, taken: list[Step], restarts: bool) -> None:
    agree(operator, taken, restarts)


@given(forgetting(session_joins()), steps(), st.booleans())
def test_so_does_a_join_of_sessions(operator: Fast, taken: list[Step], restarts: bool) -> None:
    agree(operator, taken, restarts)


@st.composite
def crowded(draw: st.DrawFn) -> tuple[Fast, list[Step]]:
    """An ASOF join, or one of sessions, whose rows are all of one key and near each other."""
    row = st.tuples(st.just("a"), st.just(1), st.integers(1, 3), st.integers(-5, 3))
    rows, moves = st.lists(row, max_size=2).map(tuple), st.integers(0, 3)
    back = st.tuples(st.integers(0, 1), st.integers(0, 3), st.booleans())
    backs = st.lists(back, max_size=1).map(tuple)
    step = st.builds(Step, rows, rows, backs, moves, moves, st.just(False))
    kept: dict[str, Any] = {
        "retain": draw(st.sampled_from([1, 20, 20])),
        "early": draw(st.sampled_from([None, None, Early.ON_UPDATE])),
        "ttl": draw(st.none() | crowded_ttls()),
        "right_ttl": draw(crowded_ttls()),
    }
    taken = draw(st.lists(step, min_size=8, max_size=16))
    if draw(st.integers(0, 2)) == 0:
        kept["weighted"] = draw(st.booleans())
        return session_join(draw(st.sampled_from(KINDS)), **kept), taken
    match, kind = AsOf(draw(st.sampled_from([">=", ">=", "<="]))), draw(st.sampled_from(KINDS[:2]))
    return join(match, kind, weighted=draw(st.booleans()), **kept), taken


def crowded_ttls() -> st.SearchStrategy[Ttl]:
    return ttls().map(lambda ttl: replace(ttl, length=(ttl.length + 5) // 2))


@given(crowded(), st.booleans())
def test_rows_of_one_key_that_come_all_the_time(
    drawn: tuple[Fast, list[Step]], restarts: bool
) -> None:
    agree(*drawn, restarts)


def agree(operator: Fast, taken: list[Step], restarts: bool) -> None:
    fast, slow = live(operator, restarts)
    source, watermark, now = Source(operator), 0, 0
    retain, columns = operator.policy.retain, [*operator.output]
    for step in taken:
        horizon = START if retain is None else fast.stores.watermark - retain
        batch = source.batch(step, watermark, horizon)
        if operator.policy.retain_rows is not None:
            horizons = [each.horizons() for each in (fast, slow)]
            assert horizons[0] == horizons[1]
            batch = fast.unexpired(batch)
        watermark, now = watermark + step.watermark, now + step.clock
        found, expected = (
            records(each.step(*batch, now, watermark, step.end), columns) for each in (fast, slow)
        )
        assert found == expected
