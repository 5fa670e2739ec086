"""Sessions of rows that have weights, by definition, and draws of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sqlwin.instants import SECOND
from sqlwin.operators.sessions.operator import SessionAggregator
from sqlwin.plan.ir.nodes import WindowAggregate, WindowRank
from sqlwin.plan.ir.statements import Query
from sqlwin.policies import Early, Late
from sqlwin.runtime.lowering.windows import Assembly
from sqlwin.schema import Order
from tests.reference.lowering import specified
from tests.reference.operator import ReferenceOperator
from tests.support.operators.changelogs import steps
from tests.support.operators.sessions import WINDOWS, plan

Window = WindowAggregate | WindowRank


@st.composite
def plans(draw: st.DrawFn, counted: bool = True) -> WindowAggregate:
    """counted: also with RETAIN n ROWS."""
    by = draw(st.sampled_from([((), ()), (("k",), ("k",)), (("k", "page"), ("k",))]))
    keys, partition = by
    subsets = [keys, keys[:1], ()]
    sets = draw(st.lists(st.sampled_from(subsets), unique=True) if keys else st.just([]))
    made = plan(
        draw(st.sampled_from(WINDOWS)),
        keys,
        partition,
        draw(st.sampled_from([("n",), ("n", "last"), ("n", "listed")])),
        early=draw(st.sampled_from([None, *Early])),
        early_period=7 * SECOND,
        early_rows=draw(st.sampled_from([1, 3])),
        late=draw(st.sampled_from(Late)),
        late_period=5 * SECOND,
        timeout=draw(st.sampled_from([None, 8 * SECOND])),
        retain=draw(st.sampled_from([None, None, 0, 10 * SECOND, 30 * SECOND])),
        retain_rows=draw(st.sampled_from([None, None, None, 1, 2, 4] if counted else [None])),
    )
    return replace(made, sets=tuple(sets))


@st.composite
def ranked(draw: st.DrawFn) -> WindowRank:
    """Sessions of two keys with the same bounds; groups of one."""
    some = draw(plans().filter(lambda operator: operator.keys and not operator.sets))
    late = draw(st.sampled_from([Late.EVERY, Late.ON_UPDATE]))
    below = replace(some, policy=replace(some.policy, late=late, retain=None, retain_rows=None))
    by = draw(st.sampled_from([(), ("k",)] if "page" in below.keys else [()]))
    function = draw(st.sampled_from(["rank", "dense_rank", "row_number"]))
    return WindowRank(below, "r", function, by, (Order("n", descending=True),))


def both(
    operator: Window, update_before: bool, weighted: bool = True
) -> tuple[SessionAggregator, ReferenceOperator]:
    """The operator, and its definition."""
    fast = Assembly("clicks", update_before, weighted=weighted).operator(operator)
    slow = specified(Query(operator)).operator
    assert isinstance(fast, SessionAggregator) and isinstance(slow, ReferenceOperator)
    definition = replace(slow.definition, update_before=update_before, weighted=weighted)
    return fast, ReferenceOperator(definition)


def _values(k: Any, page: Any, v: Any, wait: int, login: Any, logout: Any) -> tuple[Any, ...]:
    return k, page, v, wait * SECOND, login, logout, v, None


SOME = st.sampled_from([None, None, None, True, False])


VALUES = st.builds(
    _values,
    st.sampled_from(["a", "a", None]),
    st.sampled_from(["x", "y"]),
    st.integers(0, 4),
    st.sampled_from([1, 5, 10, 30]),
    SOME,
    SOME,
)


STEPS = steps(
    VALUES,
    st.integers(0, 60).map(lambda n: n * SECOND),
    st.integers(0, 15).map(lambda n: n * SECOND),
    st.integers(0, 9).map(lambda n: n * SECOND),
)
