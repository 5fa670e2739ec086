"""Random queries of the dialect, each with the same question to DuckDB over all rows.

The stream has `seq`, the order of positions, which is what ties go by. A column of the
answer that says which row it is comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.properties import (
    query_chains,
    query_deltas,
    query_groups,
    query_nested,
    query_over_groups,
    query_overs,
    query_sessions,
)
from tests.properties.features import has
from tests.properties.query_policies import by_hours, counted, ranked, timed
from tests.properties.question import Question

Kind = Callable[[], SearchStrategy[Question]]


def questions() -> SearchStrategy[Question]:
    """Each kind with every policy that fits it, under which every row counts in the end."""
    by_time = [query_groups.groups, query_overs.overs, query_overs.overs, query_overs.sliding]
    by_time += [kind for feature, kind in _MORE.items() if has(feature)]
    by_count = [
        query_groups.messages,
        query_groups.sets_of_messages,
        query_groups.sliding_messages,
    ]
    by_count += [query_sessions.message_sessions] if has("sessions") else []
    kinds = [_case(kind, timed()) for kind in by_time]
    kinds += [_case(query_groups.ranked_rows, by_hours())] if has("ranks") else []
    kinds += [_case(kind, counted()) for kind in by_count]
    kinds += [_case(query_sessions.sessions, timed())] * 2 if has("sessions") else []
    more = {"sets": query_sessions.session_sets, "ranks": query_sessions.ranked_sessions}
    found = [kind for feature, kind in more.items() if has(feature) and has("sessions")]
    kinds += [_case(kind, timed()) for kind in found]
    kinds += [_case(query_overs.tops, ranked())] if has("top") else []
    if has("orders") and has("analytic"):
        kinds += [_case(query_overs.timeless, by_hours())]  # RETAIN n ROWS is refused there
    kinds += [chained(), chained(), over_groups()] if has("chains") else []
    kinds += [_case(query_deltas.combined, by_hours())] if has("discards") else []
    return st.one_of(kinds)


def chained() -> SearchStrategy[Question]:
    """Queries over the results of queries."""
    numbered = _case(query_chains.by_number, by_hours())  # RETAIN n ROWS is refused there
    some = _case(query_chains.chains, timed())
    return st.one_of(some, some, some, numbered)


def over_groups() -> SearchStrategy[Question]:
    """OVER beside GROUP BY, and of the rows of windows."""
    kinds = (query_over_groups.over_groups, query_over_groups.over_rows)
    return st.one_of([_case(kind, by_hours()) for kind in kinds])


def united() -> SearchStrategy[Question]:
    """Queries over UNION ALL of rows."""
    return _case(query_chains.over_united, by_hours())


def nested() -> SearchStrategy[Question]:
    """Queries that are rewritten while they are bound."""
    joined = st.sampled_from([f"{given}RETAIN INTERVAL '1' DAY" for given in query_chains.JOINED])
    return st.one_of(
        _case(query_nested.set_operations, by_hours()),
        _case(query_nested.turned, by_hours()),
        _case(query_nested.members, joined),
        _case(query_nested.scalars, joined),
        _case(query_nested.nearest, joined),
        _case(query_nested.first_rows, ranked()),
        _case(query_nested.laterals, joined),
        _case(query_nested.lengthened, by_hours()),
    )


_MORE: dict[str, Kind] = {
    "sets": query_groups.sets,
    "whole": query_groups.whole,
    "ranks": query_groups.ranked,
}


@st.composite
def _case(draw: DrawFn, kind: Kind, policies: SearchStrategy[str]) -> Question:
    question = draw(kind())
    return replace(
        question,
        policy=draw(policies),
        delay=0 if question.rising else draw(st.integers(0, 5)),
        replays=has("replays") and draw(st.booleans()),
    )
