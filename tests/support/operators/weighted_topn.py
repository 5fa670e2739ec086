"""The first rows of each key where rows have weights, by definition, and draws of them."""

from __future__ import annotations

from hypothesis import strategies as st

from sqlwin.kernels.standings import Standing
from sqlwin.operators.top_n.operator import TopRows
from sqlwin.policies import Early, Policy
from sqlwin.schema import Order
from tests.reference.definitions.topn import ReferenceTopN, Top
from tests.support.operators.changelogs import steps
from tests.support.operators.topn import COLUMNS


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
    limit, update_before = draw(st.integers(1, 3)), draw(st.booleans())
    return TopRows("s", COLUMNS, "place", standing, limit, policy, update_before, True)


def specified(fast: TopRows) -> ReferenceTopN:
    by = fast.standing
    order = (by.function, by.partition, by.order, fast.limit)
    rest = (fast.policy, fast.carried, fast.update_before, fast.weighted, fast.becomes_final)
    return ReferenceTopN(Top("s", "place", *order, *rest))


STEPS = steps(
    st.tuples(st.sampled_from([None, "a", "b"]), st.sampled_from([None, 0.0, 1.0, 2.0])),
    st.integers(0, 5),
    st.just(0),
    st.integers(0, 4),
)
