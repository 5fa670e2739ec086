"""Rows that come, change and go while a TTL forgets them: each call emits what the definition
emits, under any TTL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwin.instants import SECOND
from sqlwin.operators.aggregator import WindowAggregator
from sqlwin.operators.contract import Operator, Stores
from sqlwin.operators.definitions.lives import Forgetting
from sqlwin.operators.knowing import POSITIONS, Knowing
from sqlwin.operators.living import Living
from sqlwin.operators.over import ROWS, OverAggregator
from sqlwin.operators.reference import ReferenceOperator
from sqlwin.operators.topn import TopRows
from sqlwin.policies import Policy, Ttl, TtlTime, Update, Visibility
from sqlwin.runtime.kept import Kept
from sqlwin.runtime.stores import shapes
from sqlwin.state.contract import Store
from sqlwin.state.segments import SegmentStore
from sqlwin.state.ttl_store import TtlStore
from sqlwin.windows import Whole
from tests.operators import (
    aggregators,
    overs,
    test_aggregator_reference,
    test_topn,
    test_weighted_aggregator,
    test_weighted_over,
    test_weighted_topn,
)
from tests.operators.changelogs import Source, Step
from tests.operators.driving import Defined, Driven, records, rows_of, told
from tests.properties.plan_ttl import CLEANUPS


class Lived(Driven):
    """As a task keeps it: with the lives, restored with the stores."""

    operator: Living
    told = "null"

    def _named(self) -> dict[str, Store]:
        bare = Stores({s.name: self._store(s, c) for s, c in shapes(self.operator)})
        kept = Kept(None, run="always the same")
        self.lives = kept._lives(self.operator.ttl, bare, {"lives": json.loads(self.told)})
        if hasattr(self, "stores"):
            self.stores.lives = self.lives
        return bare.named

    def _restart(self) -> None:
        self.steps += 1
        self.told = json.dumps(self.lives.to_json())
        for name, store in self.stores.named.items():
            inner = store.inner if isinstance(store, TtlStore) else store
            assert isinstance(inner, SegmentStore)
            self.indexes[name] = json.loads(json.dumps(inner.flush(f"s{self.steps}")))
        self.stores.named = self._named()


def lived(inner: Any, keys: Sequence[str], ttl: Ttl, restarts: bool = False) -> Lived:
    types = inner.carried if isinstance(inner, OverAggregator | TopRows) else inner.below
    store = ROWS if isinstance(inner, OverAggregator) else POSITIONS
    own = {key: types[key] for key in keys}
    made = Lived(Living(inner, ttl, own, Knowing(own, store), inner.policy.retain), restarts)
    made.stores.lives = made.lives
    return made


def agree(
    inner: Any,
    defined: Any,
    keys: Sequence[str],
    ttl: Ttl,
    columns: dict[str, pl.DataType],
    taken: list[Step],
    restarts: bool,
    ahead: bool = False,
) -> None:
    """As in `changelogs`, under a TTL."""
    fast, slow = lived(inner, keys, ttl, restarts), Defined(Forgetting(defined, ttl, tuple(keys)))
    watermark, now, retain = 0, 0, inner.policy.retain
    source = Source(columns, lambda ts: retain is None or ts >= watermark - retain)
    for step in taken:
        batch = source.batch(step.acts, watermark if ahead else 0)
        watermark, now = watermark + step.watermark, now + step.clock
        found, expected = (
            records(
                driven.step(batch if len(batch) else None, now, watermark, step.end),
                list(inner.output),
            )
            for driven in (fast, slow)
        )
        assert found == expected


def ttls(unit: int) -> st.SearchStrategy[Ttl]:
    return st.builds(
        Ttl,
        st.integers(1, 8).map(lambda n: n * unit),
        st.sampled_from(TtlTime),
        st.sampled_from(Update),
        st.sampled_from(Visibility),
        st.sampled_from(CLEANUPS),
    )


def forgets(inner: Any, ttl: Ttl) -> Any:
    return replace(inner, policy=replace(inner.policy, ttl=ttl))


@given(
    test_weighted_aggregator.operators(),
    st.booleans(),
    ttls(10 * SECOND),
    test_weighted_aggregator.STEPS,
    st.booleans(),
)
@settings(max_examples=settings.default.max_examples * 2)
def test_aggregates(
    made: WindowAggregator, whole: bool, ttl: Ttl, taken: list[Step], restarts: bool
) -> None:
    inner = forgets(replace(made, window=Whole()) if whole else made, ttl)
    defined = test_aggregator_reference.specified(inner)
    agree(inner, defined, inner.by.common, ttl, aggregators.COLUMNS, taken, restarts)


@given(test_weighted_topn.operators(), ttls(1), test_weighted_topn.STEPS, st.booleans())
@settings(max_examples=settings.default.max_examples * 2)
def test_the_first_rows(made: TopRows, ttl: Ttl, taken: list[Step], restarts: bool) -> None:
    inner = forgets(made, ttl)
    defined = test_weighted_topn.specified(inner)
    agree(inner, defined, inner.partition, ttl, test_topn.COLUMNS, taken, restarts)


@given(test_weighted_over.operators(), ttls(1), test_weighted_over.STEPS, st.booleans())
@settings(max_examples=settings.default.max_examples * 2)
def test_rows_of_frames(
    made: OverAggregator, ttl: Ttl, taken: list[Step], restarts: bool
) -> None:
    inner = forgets(made, ttl)
    keys, defined = inner.limits.buckets, overs.specified(inner)
    agree(inner, defined, keys, ttl, overs.COLUMNS, taken, restarts, ahead=True)
