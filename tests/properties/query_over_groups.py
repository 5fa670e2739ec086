"""Random OVER clauses beside GROUP BY: over the groups of windows, after HAVING; and over the rows
of windows."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.query_calls import listed
from tests.properties.query_groups import HAVINGS, of_groups, windowed
from tests.properties.question import Question, predicates

BY_KEY = "PARTITION BY k ORDER BY {e}"
_AROUND = "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"
CALLS = [
    f"SUM(COUNT(*)) OVER ({BY_KEY} ROWS 2 PRECEDING)",
    f"SUM(i) - LAG(SUM(i)) OVER ({BY_KEY})",
    f"LAG(COUNT(*), 2, 0) OVER ({BY_KEY})",
    f"MAX(SUM(i) + COUNT(*)) OVER ({BY_KEY})",
    f"COUNT(*) FILTER (WHERE MAX(i) > 1) OVER ({BY_KEY} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    f"ROW_NUMBER() OVER ({BY_KEY})",
    "SUM(COUNT(*)) OVER (PARTITION BY {w}, {e})",
    "RANK() OVER (PARTITION BY {w}, {e} ORDER BY COUNT(*) DESC)",
    "COUNT(*) OVER (PARTITION BY {w}, {e} ORDER BY COUNT(*))",
    "DENSE_RANK() OVER (PARTITION BY {e} ORDER BY COUNT(*))",
    "CUME_DIST() OVER (PARTITION BY {w}, {e}, COUNT(*) ORDER BY MAX(id) DESC)",
    "LEAD(MAX(id)) OVER (PARTITION BY {w}, {e} ORDER BY MAX(id))",
    f"SUM(MAX(id)) OVER (PARTITION BY {{w}}, {{e}} ORDER BY MAX(id) {_AROUND})",
]
"""w, e: the bounds of the window, for sqlwin and for DuckDB."""


@st.composite
def over_groups(draw: DrawFn) -> Question:
    window, where = draw(of_groups()), draw(predicates())
    made = draw(st.lists(st.sampled_from(CALLS), min_size=1, max_size=3, unique=True))
    plain, having = draw(st.sampled_from([[], ["SUM(i)"]])), draw(st.sampled_from(HAVINGS))
    ours = [call.format(w="window_start", e="window_end") for call in made]
    theirs = [call.format(w="w", e="e") for call in made]
    by = ["k", "window_start", "window_end"]
    select = (
        f"SELECT {listed(by, [*plain, *ours])}\nFROM {window.source}{where}\n"
        f"GROUP BY {', '.join(by)}{having}"
    )
    batch = (
        f"SELECT {listed(['k', *window.bounds], [*plain, *theirs])} "
        f"FROM ({window.unnested.format(where=where)}) GROUP BY k, w, e"
        f"{window.having(having)}"
    )
    return Question(select, batch, len(by))


ROWS = [
    "SUM(i) OVER (PARTITION BY {w}, {e})",
    "RANK() OVER (PARTITION BY {w}, {e}, k ORDER BY id DESC)",
    "COUNT(i) OVER (PARTITION BY {e} ORDER BY id ROWS 2 PRECEDING)",
    "LAG(id) OVER (PARTITION BY k ORDER BY {e}, id)",
]


@st.composite
def over_rows(draw: DrawFn) -> Question:
    window, where = draw(windowed()), draw(predicates())
    made = draw(st.lists(st.sampled_from(ROWS), min_size=2, max_size=3, unique=True))
    ours = [call.format(w="window_start", e="window_end") for call in made]
    theirs = [call.format(w="w", e="e") for call in made]
    by = ["id", "window_start", "window_end"]
    select = f"SELECT {listed(by, ours)}\nFROM {window.source}{where}"
    batch = (
        f"SELECT {listed(['id', *window.bounds], theirs)} "
        f"FROM ({window.unnested.format(where=where)})"
    )
    return Question(select, batch, len(by))
