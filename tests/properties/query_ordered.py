"""Random windows in ROWS over results, whose rows are numbered by event time.

No two rows that are numbered together have one `t` there, so DuckDB numbers them alike.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.query_calls import listed
from tests.properties.query_groups import windowed
from tests.properties.query_policies import by_hours
from tests.properties.question import Question, predicates

MADE = ["COUNT(*)", "SUM(n)", "MAX(x)", "COUNT(DISTINCT n)", "SUM(x) FILTER (WHERE n > 1)"]
PASS = ["", "", " WHERE n > 1", " WHERE x <> 0"]


@st.composite
def hops_of(draw: DrawFn, ours: str, theirs: str) -> Question:
    size = draw(st.integers(1, 5))
    step = draw(st.integers(1, size))
    keys, where = draw(st.sampled_from([("k",), ("k", "n")])), draw(st.sampled_from(PASS))
    made = draw(st.lists(st.sampled_from(MADE), min_size=1, max_size=3, unique=True))
    by = [*keys, "window_start", "window_end"]
    advance = f"ADVANCE BY {step} ROWS"
    select = (
        f"SELECT {listed(by, made)}\nFROM ({ours}) OVER (PARTITION BY k ORDER BY t "
        f"ROWS {size} PRECEDING {advance}){where}\nGROUP BY {', '.join(by)}"
    )
    holding = f"[a FOR a IN range(1, r + 1, {step}) IF a + {size} > r]"
    batch = (
        f"SELECT {listed([*keys, 'a', f'a + {size}'], made)} FROM "
        f"(SELECT *, unnest({holding}) AS a FROM ({_numbered(theirs)})){where} "
        f"GROUP BY {', '.join([*keys, 'a'])}"
    )
    return Question(select, batch, len(by))


@st.composite
def slides_of(draw: DrawFn, ours: str, theirs: str) -> Question:
    size, where = draw(st.integers(1, 5)), draw(st.sampled_from(PASS))
    made = draw(st.lists(st.sampled_from(MADE[:4]), min_size=1, max_size=3, unique=True))
    by = ["k", "window_start", "window_end"]
    select = (
        f"SELECT {listed(by, made)}\nFROM ({ours}) OVER (PARTITION BY k ORDER BY t "
        f"ROWS {size} PRECEDING){where}\nGROUP BY k"
    )
    frame = f"OVER (PARTITION BY k ORDER BY t ROWS {size - 1} PRECEDING)"
    kept = f" FILTER ({where.strip()})" if where else ""
    called = [f"{call}{kept} {frame}" for call in made]
    bounds = ["k", f"greatest(r - {size - 1}, 1)", "r + 1"]
    batch = f"SELECT {listed(bounds, called)}, n, x FROM ({_numbered(theirs)})"
    return Question(select, f"SELECT * EXCLUDE (n, x) FROM ({batch}){where}", len(by))


@st.composite
def sessions(draw: DrawFn) -> Question:
    """Over windows of all keys, of which each ends at an instant of its own."""
    window, where, gap = draw(windowed()), draw(predicates()), draw(st.integers(0, 3))
    keys = draw(st.sampled_from([("n",), ("n", "x")]))
    made = draw(st.lists(st.sampled_from(MADE), min_size=1, max_size=3, unique=True))
    own = "COUNT(*) AS n, SUM(i) AS x"
    below = (
        f"SELECT window_time AS t, {own} FROM {window.source}{where} "
        f"GROUP BY window_start, window_end, window_time {draw(by_hours())}"
    )
    results = f"SELECT e AS t, {own} FROM ({window.unnested.format(where=where)}) GROUP BY w, e"
    by = [*keys, "window_start", "window_end"]
    select = (
        f"SELECT {listed(by, made)}\nFROM ({below}) OVER (PARTITION BY n ORDER BY t "
        f"SESSION {gap} ROWS GAP)\nGROUP BY {', '.join(by)}"
    )
    rows = f"SELECT *, row_number() OVER (ORDER BY t) AS r FROM ({results})"
    within = "OVER (PARTITION BY n ORDER BY r)"
    apart = f"SELECT *, coalesce(r - lag(r) {within} > {gap + 1}, true) AS new FROM ({rows})"
    islands = f"SELECT *, sum(new::INT) {within} AS m FROM ({apart})"
    bounds = "min(r) OVER (PARTITION BY n, m) AS a, max(r) OVER (PARTITION BY n, m) + 1 AS z"
    batch = (
        f"SELECT {listed([*keys, 'a', 'z'], made)} FROM (SELECT *, {bounds} FROM ({islands})) "
        f"GROUP BY {', '.join([*keys, 'a', 'z'])}"
    )
    return Question(select, batch, len(by))


def _numbered(rows: str) -> str:
    return f"SELECT *, row_number() OVER (PARTITION BY k ORDER BY t) AS r FROM ({rows})"
