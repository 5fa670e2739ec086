"""Rows that come, change and go while a TTL forgets them: each call emits what the definition
emits, under any TTL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import SECOND
from sqlwin.operators.contract import Stores
from sqlwin.operators.over.base_sums import ROWS
from sqlwin.operators.over.operator import OverAggregator
from sqlwin.operators.stages.changelog_normalizer import POSITIONS, ChangelogNormalizer
from sqlwin.operators.stages.ttl import OperatorTtl
from sqlwin.operators.top_n.operator import TopRows
from sqlwin.operators.weights import SIGN
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.plan.ir.nodes import WindowAggregate, WindowRank
from sqlwin.plan.properties.facts import ttl_keys
from sqlwin.polars_frames import PLACE
from sqlwin.policies import Early, Late, Ttl, TtlTime, Update, Visibility
from sqlwin.schema import WEIGHT
from sqlwin.state.contract import Store
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.ttl.keyed_store import TtlStore
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import Whole
from tests.properties.plan_ttl import CLEANUPS
from tests.reference.definitions.forgetting import Forgetting
from tests.support.operators import (
    aggregators,
    groups,
    overs,
    ranking,
    topn,
    weighted,
    weighted_overs,
    weighted_ranking,
    weighted_sessions,
    weighted_topn,
)
from tests.support.operators.changelogs import Step, alike, steps
from tests.support.operators.driving import Defined, Driven, emissions
from tests.support.operators.sessions import OWN


class Lived(Driven):
    """As a task keeps it: with the TTL entries, restored with the stores."""

    saved = "null"

    def _named(self) -> dict[str, Store]:
        bare = Stores({s.name: self._store(s.layout, s.combine) for s in self.operator.stores()})
        if isinstance(self.operator, OperatorTtl):
            self.operator.open_ttl(bare, json.loads(self.saved), "always the same")
        if hasattr(self, "stores"):
            self.stores.ttl_entries = bare.ttl_entries
        self.lifetimes = bare.ttl_entries
        return bare.named

    def _restart(self) -> None:
        self.steps += 1
        self.saved = "null" if self.lifetimes is None else json.dumps(self.lifetimes.to_json())
        for name, store in self.stores.named.items():
            inner = store.inner if isinstance(store, TtlStore) else store
            assert isinstance(inner, SegmentStore)
            self.indexes[name] = json.loads(json.dumps(inner.flush(f"s{self.steps}")))
        self.stores.named = self._named()


def knowing(inner: Any, keys: Sequence[str], again: bool) -> ChangelogNormalizer:
    carried = inner.carried if isinstance(inner, OverAggregator | TopRows) else inner.below
    store = ROWS if isinstance(inner, OverAggregator) else POSITIONS
    return ChangelogNormalizer(inner, carried, tuple(keys), store, again, inner.policy.retain)


@dataclass(frozen=True)
class Case:
    """ttl: of the state. forgotten: at which steps rows come without a retraction before."""

    ttl: Ttl | None
    forgotten: tuple[bool, ...]
    restarts: bool

    def of(self, inner: Any) -> Any:
        """The operator with this TTL, and without RETAIN n ROWS, which is refused beside one."""
        return replace(inner, policy=replace(inner.policy, ttl=self.ttl, retain_rows=None))

    def both(self, inner: Any, defined: Any, keys: Sequence[str]) -> tuple[Lived, Defined]:
        made = knowing(inner, keys, any(self.forgotten))
        if self.ttl is None:
            return Lived(made, self.restarts), Defined(defined)
        own = {key: made.carried[key] for key in keys}
        fast = Lived(OperatorTtl(made, self.ttl, own), self.restarts)
        fast.stores.ttl_entries = fast.lifetimes
        return fast, Defined(Forgetting(defined, self.ttl, tuple(keys)))


def agree(
    case: Case,
    inner: Any,
    defined: Any,
    keys: Sequence[str],
    columns: dict[str, pl.DataType],
    taken: list[Step],
    ahead: bool = False,
) -> None:
    """As in `changelogs`, where a TTL forgets rows, here or below."""

    def emissions(number: int, batch: pl.DataFrame) -> pl.DataFrame:
        lost = case.forgotten[number % len(case.forgotten)]
        return batch.filter(pl.col(WEIGHT) > 0) if lost else batch

    fast, slow = case.both(inner, defined, keys)
    retain = inner.policy.retain
    for _ in alike(fast, slow, list(inner.output), columns, taken, retain, ahead, emissions):
        pass


def cases(unit: int) -> st.SearchStrategy[Case]:
    """unit: of the TTL."""
    forgotten = st.lists(st.booleans(), min_size=1, max_size=4).map(tuple)
    some = st.one_of(st.just((False,)), forgotten)
    always = st.builds(Case, ttls(unit), some, st.booleans())
    return st.one_of(always, always, st.builds(Case, st.none(), forgotten, st.booleans()))


def ttls(unit: int) -> st.SearchStrategy[Ttl]:
    return st.builds(
        Ttl,
        st.integers(1, 8).map(lambda n: n * unit),
        st.sampled_from(TtlTime),
        st.sampled_from(Update),
        st.sampled_from(Visibility),
        st.sampled_from(CLEANUPS),
    )


OF_CHANGES: dict[str, Any] = {"retain": None, "late": Late.EVERY, "weighted": True}


@given(
    cases(10 * SECOND),
    weighted.operators(),
    st.booleans(),
    weighted.STEPS,
)
def test_aggregates(case: Case, made: WindowAggregator, whole: bool, taken: list[Step]) -> None:
    inner = case.of(replace(made, window=Whole()) if whole else made)
    defined = groups.specified(inner)
    agree(case, inner, defined, inner.by.common, aggregators.COLUMNS, taken)


@given(cases(1), weighted_topn.operators(), weighted_topn.STEPS)
def test_the_first_rows(case: Case, made: TopRows, taken: list[Step]) -> None:
    inner = case.of(made)
    defined = weighted_topn.specified(inner)
    agree(case, inner, defined, inner.partition, topn.COLUMNS, taken)


@given(cases(1), weighted_overs.operators(), weighted_overs.STEPS)
def test_rows_of_frames(case: Case, made: OverAggregator, taken: list[Step]) -> None:
    inner = case.of(made)
    keys, defined = inner.row_horizons.buckets, overs.specified(inner)
    agree(case, inner, defined, keys, overs.COLUMNS, taken, ahead=True)


FEW = steps(
    st.tuples(st.sampled_from(["a", "b", None]), st.just(1), st.integers(1, 2)),
    st.integers(-3, 2),
    st.sampled_from([0, 1, 3]),
    st.integers(0, 2),
)


@given(cases(3), st.booleans(), st.sampled_from([None, *Early]), st.booleans(), FEW)
def test_rows_that_change_their_partition(
    case: Case, update_before: bool, early: Early | None, follows: bool, taken: list[Step]
) -> None:
    """And wait to be known so, in which time they are retracted, and come again."""
    frames = [Frame(Unit.RANGE, None, 0), Frame(Unit.ROWS, 1, int(follows))]
    calls = [("count", ("k",), frame) for frame in frames]
    policy: dict[str, Any] = {"early": early, "early_period": 5, "early_rows": 3}
    inner = case.of(
        overs.over(*calls, late_period=6, update_before=update_before, **policy, **OF_CHANGES)
    )
    agree(case, inner, overs.specified(inner), ("k",), overs.COLUMNS, taken, ahead=True)


@given(
    cases(6 * SECOND),
    weighted_sessions.plans(counted=False) | weighted_sessions.ranked(),
    weighted_sessions.STEPS,
    st.booleans(),
)
def test_sessions(
    case: Case, operator: WindowAggregate | WindowRank, taken: list[Step], update_before: bool
) -> None:
    inner, defined = weighted_sessions.both(operator, update_before)
    agree(case, case.of(inner), defined, ttl_keys(operator), OWN, taken)


@given(cases(1), weighted_ranking.operators(), weighted_ranking.STEPS)
def test_ranks(case: Case, made: WindowAggregator, taken: list[Step]) -> None:
    inner = case.of(made)
    keys = tuple(key for key in inner.keys if key in inner.ranks.partition)
    defined = weighted_ranking.specified(inner)
    agree(case, inner, defined, keys, ranking.COLUMNS, taken)


HOUR = Case(Ttl(60), (False,), restarts=True)
ROW = {"k": "a", "b": 1, "v": 5, "__ts": 0, "__part": 0, "__seq": 7}


def driven() -> Lived:
    """Sums by k, TTL 60, of row 7: 5."""
    inner = HOUR.of(aggregators.aggregator(Whole(), ("k",), ("total",), weighted=True, **ALWAYS))
    made, _ = HOUR.both(inner, None, ("k",))
    assert emissions(made.step(rows((5, 1))), "total") == [("+I", "early", 0, 5)]
    return made


def rows(*changes: tuple[int, int]) -> pl.DataFrame:
    """Of row 7: (v, weight)."""
    said = [{**ROW, "v": v, "__weight": weight} for v, weight in changes]
    return pl.DataFrame(said, schema={**aggregators.COLUMNS, **PLACE, **SIGN})


ALWAYS: dict[str, Any] = {"early": Early.ON_UPDATE, "retain": None}


def test_what_replaces_a_forgotten_row_is_new() -> None:
    made = driven()
    assert emissions(made.step(rows((5, -1), (6, 1)), now=60), "total") == [("+I", "early", 0, 6)]


def test_a_known_row_that_is_retracted_writes_its_key() -> None:
    made = driven()
    assert emissions(made.step(rows((5, -1)), now=50), "total") == [("-D", "early", 1, 5)]
    assert emissions(made.step(rows((6, 1)), now=100), "total") == [("+I", "early", 2, 6)]


def test_one_that_is_not_known_begins_nothing() -> None:
    made = driven()
    assert made.step(rows((5, -1)), now=60).is_empty()
    assert made.lifetimes is not None and made.lifetimes.entries.uncleaned().is_empty()
    assert all(
        len(store) == 0 for name, store in made.stores.named.items() if name != "ttl_entries"
    )
