"""DISCARDING: random windows whose deltas another query combines to the answer of a batch."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.features import has
from tests.properties.query_calls import listed
from tests.properties.query_groups import windowed
from tests.properties.query_policies import discarding
from tests.properties.question import Question, predicates

KEYS: list[tuple[str, ...]] = [(), ("k",), ("k", "b")]
MADE = {
    "COUNT(*)": "SUM",
    "COUNT(i)": "SUM",
    "SUM(i)": "SUM",
    "SUM(d)": "SUM",
    "SUM(f) FILTER (WHERE b)": "SUM",
    "MIN(f)": "MIN",
    "MAX(d)": "MAX",
    "BOOL_AND(b)": "BOOL_AND",
}
"""Aggregates, and what makes that of all rows of those of the deltas."""


@st.composite
def combined(draw: DrawFn) -> Question:
    """Of windows, or of the whole stream."""
    keys, where = draw(st.sampled_from(KEYS)), draw(predicates())
    made = draw(st.lists(st.sampled_from(list(MADE)), min_size=1, max_size=3, unique=True))
    window = None if has("whole") and not draw(st.integers(0, 3)) else draw(windowed())
    by = [*keys, *([] if window is None else ["window_start", "window_end"])]
    source = "s" if window is None else window.source
    grouped = f" GROUP BY {', '.join(by)}" if by else ""
    deltas = f"SELECT {listed(by, made)} FROM {source}{where}{grouped} {draw(discarding())}"
    outer = [f"{MADE[call]}(v{at})" for at, call in enumerate(made)]
    select = f"SELECT {listed(by, outer)}\nFROM ({deltas}){grouped}"
    if window is None:
        some = "" if keys else " HAVING COUNT(*) > 0"  # a stream has said nothing of no rows yet
        return Question(select, f"SELECT {listed(by, made)} FROM s{where}{grouped}{some}", len(by))
    batch = (
        f"SELECT {listed([*keys, *window.bounds], made)} "
        f"FROM ({window.unnested.format(where=where)}) GROUP BY {', '.join([*keys, 'w', 'e'])}"
    )
    return Question(select, batch, len(by))
