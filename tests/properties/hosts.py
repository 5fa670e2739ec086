"""Where a property runs: in memory, through restarts from segments of a few rows, or in buckets.

A host gives the query, and with every `next` the query after a commit and a restart.
In memory nothing restarts, and it is the same query for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat

from hypothesis import strategies as st

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.lowering.explained import explain
from tests.golden.restarted import runs
from tests.reference import host
from tests.support.runtime.bucketed import bucketed

Host = Callable[[Script], Iterator[EmbeddedQuery]]


def reference(case: Script) -> Iterator[EmbeddedQuery]:
    return repeat(host.reference(case))


def fast(case: Script) -> Iterator[EmbeddedQuery]:
    return repeat(EmbeddedQuery(case, explain))


def fast_hosts() -> st.SearchStrategy[Host]:
    """Half of all examples restart; segments of one row have the most edges."""
    return st.sampled_from(
        [fast, fast, partial(runs, segment_rows=1), partial(runs, segment_rows=4)]
    )


def answering_hosts() -> st.SearchStrategy[Host]:
    """Also in several buckets, whose results come in another order."""
    return st.one_of(fast_hosts(), fast_hosts(), st.just(bucketed))
