"""Group windows by definition, and draws of them."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

from sqlwin.instants import SECOND
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.windows.group import Cumulate, GroupWindow, Hop, Whole
from tests.reference.definitions.groups import Groups
from tests.reference.definitions.values import Value
from tests.reference.definitions.window import Definition
from tests.reference.kernels.windows import pane_of
from tests.reference.operator import ReferenceOperator
from tests.support.operators.aggregators import COLUMNS

BIGINT = pa.int64()


VALUES = {
    "n": Value("n", "count", (), BIGINT),
    "total": Value("total", "sum", ("v",), BIGINT),
    "least": Value("least", "min", ("v",), BIGINT),
    "values": Value("values", "collect_list", ("v",), pa.list_(BIGINT)),
}


def specified(fast: WindowAggregator) -> ReferenceOperator:
    values = tuple(VALUES[fold.call.name] for fold in fast.folds)
    keys, window = tuple(fast.keys), fast.window
    buckets = fast.retention.keys
    return ReferenceOperator(
        Definition(
            windows=Groups("s", window, keys, values, (), None, fast.sets, buckets),
            output=fast.output,
            carried=COLUMNS,
            policy=fast.policy,
            update_before=fast.update_before,
            buckets=buckets,
            floor_of=lambda ts: pane_of(ts, window),
            weighted=fast.weighted,
            varies=bool(values),
        )
    )


def hops() -> st.SearchStrategy[Hop]:
    lengths = st.sampled_from([(60, 60), (60, 30), (90, 60), (50, 40)])
    offset = st.sampled_from([0, 7, -20])
    return st.builds(lambda by, o: Hop(by[0] * SECOND, by[1] * SECOND, o * SECOND), lengths, offset)


def windows() -> st.SearchStrategy[GroupWindow]:
    run = st.builds(
        lambda o, only: Cumulate(90 * SECOND, 30 * SECOND, o * SECOND, only),
        st.sampled_from([0, 20]),
        st.booleans(),
    )
    return st.one_of(hops(), hops(), run, st.just(Whole()))
