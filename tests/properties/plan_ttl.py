"""Random TTLs, of state that no window bounds and of any other."""

from __future__ import annotations

from hypothesis import strategies as st

from sqlwin.plan.ir.nodes import Node
from sqlwin.plan.properties.facts import (
    counts,
    unranked,
    window_of,
)
from sqlwin.policies import Cleanup, Ttl, TtlTime, Update, Visibility
from sqlwin.sql.windows.ttl import placed
from tests.properties.features import has

CLEANUPS = [
    Cleanup(timers=True),
    Cleanup(compaction=True),
    Cleanup(incremental=1),
    Cleanup(incremental=2, each_record=True),
    Cleanup(incremental=1, compaction=True),
    Cleanup(),
]


@st.composite
def lived(draw: st.DrawFn, plan: Node) -> Node:
    """The plan, one in four of those that may have a TTL with one; none with what a restore cleans,
    for hosts restart."""
    window = window_of(plan)
    assert window is not None
    if unranked(window).policy.discards or not has("ttl") or draw(st.integers(0, 3)):
        return plan
    times = [TtlTime.PROCESSING] if counts(window) else list(TtlTime)
    made = st.builds(
        Ttl,
        st.integers(1, 6),
        st.sampled_from(times),
        st.sampled_from(Update),
        st.sampled_from(Visibility),
        st.sampled_from(CLEANUPS),
    )
    return placed(plan, draw(made))
