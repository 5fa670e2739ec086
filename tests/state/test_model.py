"""Any sequence of actions, on every store, agrees with a plain dict."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.draws import one_in
from tests.support.state.stores import COMBINES, STORES, Model, Restarting, frame, horizons, keys

pytestmark = pytest.mark.drawn

TIMES = st.integers(-25, 35)
KEYS = st.tuples(st.sampled_from([None, "a", "b"]), st.sampled_from([None, 1]))
SEQS = st.sampled_from([None, 0, 1])
RECORDS = st.tuples(KEYS, TIMES, SEQS, st.integers(-9, 9)).map(lambda r: (*r[0], r[1], r[2], r[3]))
UNIQUE = st.tuples(KEYS, TIMES, SEQS).map(lambda r: (*r[0], r[1], r[2], r[1] * 7))
CUTS = {  # by columns: values of them
    "k": st.tuples(st.sampled_from([None, "a", "b"])),
    "k j": KEYS,
    "seq": st.tuples(SEQS),
    "": st.just(()),
}
BY_VALUE = {"x": st.tuples(TIMES.map(lambda t: 7 * t))}
"""Of records that are written once, so that an identity has one."""


class StoreMachine(RuleBasedStateMachine):
    """`kind` and `combine` are set by the test."""

    kind = combine = ""

    def __init__(self) -> None:
        super().__init__()
        self.store = STORES[self.kind](COMBINES[self.combine])
        self.model, self.flushed = Model(self.combine), Model(self.combine)

    @rule(data=st.data())
    def put(self, data: st.DataObject) -> None:
        one = UNIQUE if self.combine == "keep_all" else RECORDS
        rows = data.draw(st.lists(one, max_size=12))
        self.store.put(frame(rows))
        self.model.put(rows)

    @rule(before=TIMES)
    def expire(self, before: int) -> None:
        self.store.expire(before)
        self.model.expire(before)

    @rule(data=st.data())
    def cut(self, data: st.DataObject) -> None:
        known = {**CUTS, **BY_VALUE} if self.combine == "keep_all" else CUTS
        columns = data.draw(st.sampled_from(list(known)))
        rows = data.draw(st.lists(st.tuples(known[columns], TIMES), max_size=4))
        flat = [(*values, horizon) for values, horizon in rows]
        self.store.cut(horizons(columns, *flat))
        if columns:
            self.model.cut(columns, flat)
        elif flat:
            self.model.expire(max(horizon for _, horizon in rows))

    @rule(data=st.data())
    def erase(self, data: st.DataObject) -> None:
        columns = data.draw(st.sampled_from(["k", "k j", "seq"]))
        rows = data.draw(st.lists(CUTS[columns], max_size=3))
        self.store.erase(horizons(columns, *((*values, 0) for values in rows)).drop("__floor"))
        self.model.erase(columns, rows)

    @rule(lo=TIMES, hi=TIMES, wanted=st.none() | st.lists(KEYS, max_size=4))
    def scan(self, lo: int, hi: int, wanted: list[tuple[str | None, int | None]] | None) -> None:
        found = self.store.scan(lo, hi, None if wanted is None else keys(*wanted))
        assert found.rows() == self.model.scan(lo, hi, wanted)

    @precondition(lambda self: isinstance(self.store, Restarting))
    @rule()
    def flush(self) -> None:
        self.store.flush()
        self.flushed = self.model.copy()

    @precondition(lambda self: isinstance(self.store, Restarting) and not self.store.every)
    @rule()
    def crash(self) -> None:
        self.store.restart()
        self.model = self.flushed.copy()

    @invariant()
    def agrees(self) -> None:
        self.store._check()
        assert self.store.horizon == self.model.horizon
        assert len(self.store) == len(self.model.rows)


@pytest.mark.parametrize("combine", COMBINES)
@pytest.mark.parametrize("kind", STORES)
def test_agrees_with_a_dict(kind: str, combine: str) -> None:
    machine = type("Machine", (StoreMachine,), {"kind": kind, "combine": combine})
    run_state_machine_as_test(
        machine,
        settings=one_in(
            2, stateful_step_count=15, database=None, suppress_health_check=list(HealthCheck)
        ),
    )
