"""Ranks over windows whose rows have weights, by definition, and draws of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.policies import Early, Late
from tests.reference.definitions.groups import Groups
from tests.reference.definitions.ranks import Ranked
from tests.reference.definitions.values import Value
from tests.reference.definitions.window import Definition
from tests.reference.operator import ReferenceOperator
from tests.support.operators.changelogs import steps
from tests.support.operators.groups import BIGINT
from tests.support.operators.ranking import COLUMNS, THERE_BY_ROWS, WINDOWS, ranker

TOTAL = Value("total", "sum", ("x",), BIGINT)


@st.composite
def operators(draw: st.DrawFn) -> WindowAggregator:
    keys = draw(st.sampled_from([("k",), ("k", "j")]))
    partition = draw(st.sampled_from([(), ("j",)])) if "j" in keys else ()
    policy: dict[str, Any] = {
        "early": draw(st.sampled_from([None, None, *Early])),
        "early_period": 4,
        "early_rows": 2,
        "late": draw(st.sampled_from([Late.EVERY, Late.ON_UPDATE])),
        "late_period": 3,
        "timeout": draw(st.sampled_from([None, 6])),
        "weighted": True,
    }
    made = draw(st.sampled_from([*WINDOWS, THERE_BY_ROWS])), keys, partition
    function = draw(st.sampled_from(["rank", "dense_rank", "row_number"]))
    return ranker(*made, function, update_before=draw(st.booleans()), retain=None, **policy)


def specified(fast: WindowAggregator) -> ReferenceOperator:
    assert fast.ranks is not None
    by = fast.ranks.standing
    groups = Groups("s", fast.window, tuple(fast.keys), (TOTAL,))
    ranked = Ranked(groups, fast.ranks.name, by.function, by.partition, by.order)
    rest = (fast.output, COLUMNS, fast.policy, False, fast.update_before)
    return ReferenceOperator(Definition(ranked, *rest, weighted=True))


STEPS = steps(
    st.tuples(
        st.sampled_from([None, "a", "b", "c"]),
        st.sampled_from([0, 1]),
        st.sampled_from([None, 1, 2, 3]),
    ),
    st.integers(0, 40),
    st.sampled_from([0, 2, 5, 9]),
    st.integers(0, 4),
)
