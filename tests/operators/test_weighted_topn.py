"""The first n of rows that come, change and go: each call emits what the definitions emit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwin.kernels.standings import Standing
from sqlwin.operators.definitions.topn import ReferenceTopN, Top
from sqlwin.operators.topn import TopRows
from sqlwin.policies import Early, Policy
from sqlwin.schema import Order
from tests.operators.changelogs import Step, agree, steps
from tests.operators.driving import Driven, rows_of, told
from tests.operators.test_topn import COLUMNS, top


def weighted(limit: int = 1, **rest: object) -> TopRows:
    made = top(limit, **rest)  # type: ignore[arg-type]
    kept = (made.standing, made.limit, made.policy, made.withdraw)
    return TopRows("s", COLUMNS, "place", *kept, weighted=True)


@st.composite
def operators(draw: st.DrawFn) -> TopRows:
    order = Order("x", draw(st.booleans()), draw(st.booleans()))
    function = draw(st.sampled_from(["row_number", "rank", "dense_rank"]))
    standing = Standing(function, draw(st.sampled_from([("k",), ("k",), ()])), (order,))
    policy = Policy(
        None,
        early=draw(st.sampled_from([None, Early.ON_UPDATE, *Early])),
        early_period=5,
        early_rows=3,
    )
    limit, withdraw = draw(st.integers(1, 3)), draw(st.booleans())
    return TopRows("s", COLUMNS, "place", standing, limit, policy, withdraw, True)


def specified(fast: TopRows) -> ReferenceTopN:
    by = fast.standing
    order = (by.function, by.partition, by.order, fast.limit)
    rest = (fast.policy, COLUMNS, fast.withdraw, True)
    return ReferenceTopN(Top("s", "place", *order, *rest))


STEPS = steps(
    st.tuples(st.sampled_from([None, "a", "b"]), st.sampled_from([None, 0.0, 1.0, 2.0])),
    st.integers(0, 5),
    st.just(0),
    st.integers(0, 4),
)


@given(operators(), STEPS, st.booleans())
@settings(max_examples=settings.default.max_examples * 2)
def test_each_call_emits_what_the_definitions_emit(
    operator: TopRows, taken: list[Step], restarts: bool
) -> None:
    agree(operator, specified(operator), COLUMNS, taken, restarts)


def test_the_next_takes_the_place_of_one_that_is_withdrawn() -> None:
    driven = Driven(weighted(withdraw=True), restarts=True)
    best, second = ("a", 5.0, 10, 0, 1), ("a", 3.0, 11, 0, 2)
    came = rows_of(COLUMNS, best, second)
    assert told(driven.step(came), "x", "place") == [("+I", "early", 0, 5.0, 1)]
    gone = rows_of(COLUMNS, best).with_columns(__weight=-1)
    assert told(driven.step(gone), "x", "place") == [
        ("-D", "early", 1, 5.0, 1),
        ("+I", "early", 0, 3.0, 1),
    ]
