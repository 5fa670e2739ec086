"""Random session windows; to DuckDB they are gaps and islands."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.properties.query_calls import Call, calls, listed, ours, theirs
from tests.properties.query_groups import Windowed, first_groups
from tests.properties.question import SECOND, Question, partitioned, partitions, predicates

MARKS = ["", "", "i > 1", "k IS NULL", "b"]


@st.composite
def sessions(draw: DrawFn) -> Question:
    """Of a pause; some also end, or begin, by what a row says."""
    keys, more = draw(partitions()), draw(st.sampled_from([(), (), ("i",)]))
    gap, chosen, where = draw(st.integers(1, 6)), draw(calls()), draw(predicates())
    starts, ends = draw(st.sampled_from(MARKS)), draw(st.sampled_from(MARKS))
    by = [*keys, *more, "window_start", "window_end"]
    marks = (f" START WHEN {starts}" if starts else "") + (f" END WHEN {ends}" if ends else "")
    select = (
        f"SELECT {listed(by, ours(chosen))}\nFROM s OVER ({partitioned(keys)}ORDER BY ts "
        f"SESSION INTERVAL '{gap}' SECOND GAP{marks}){where}\nGROUP BY {', '.join(by)}"
    )
    own, on = "".join(f"{key}, " for key in keys), _equal(keys, "r", "x")
    within = f"OVER (PARTITION BY {own}1 ORDER BY us)"
    batch = (
        f"WITH instants AS (SELECT {own}us, coalesce(bool_or({starts or 'false'}), false) AS st, "
        f"coalesce(bool_or({ends or 'false'}), false) AS en FROM s{where} GROUP BY {own}us), "
        f"marked AS (SELECT *, st OR coalesce(lag(en) {within}, false) OR "
        f"coalesce(us - lag(us) {within} > {gap * SECOND}, true) AS new FROM instants), "
        f"numbered AS (SELECT *, sum(new::INT) {within} AS n FROM marked), "
        f"spans AS (SELECT {own}n, min(us) AS w, max(us) + {gap * SECOND} AS e "
        f"FROM numbered GROUP BY {own}n), "
        f"ended AS (SELECT * REPLACE (least(e, lead(w) OVER (PARTITION BY {own}1 ORDER BY w)) "
        f"AS e) FROM spans) "
        f"SELECT {listed([*keys, *more, *_BOUNDS], theirs(chosen))} FROM (SELECT r.*, w, e "
        f"FROM (SELECT * FROM s{where}) r JOIN ended x ON {on} AND us >= w AND us < x.e) "
        f"GROUP BY {', '.join([*keys, *more, 'w', 'e'])}"
    )
    return Question(select, batch, len(by))


def ranked_sessions() -> SearchStrategy[Question]:
    """The first groups of each session of all rows."""
    return first_groups(st.integers(1, 6).map(_of_all))


def _of_all(gap: int) -> Windowed:
    apart = f"coalesce(us - lag(us) OVER (ORDER BY us) > {gap * SECOND}, true)"
    return Windowed(
        f"s OVER (ORDER BY ts SESSION INTERVAL '{gap}' SECOND GAP)",
        f"SELECT *, min(us) OVER (PARTITION BY m) AS w, max(us) OVER (PARTITION BY m) + "
        f"{gap * SECOND} AS e FROM (SELECT *, sum(new::INT) OVER (ORDER BY us) AS m FROM "
        f"(SELECT *, {apart} AS new FROM s{{where}}))",
    )


SETS = {
    "CUBE (k, b)": ["k, b", "k", "b", ""],
    "ROLLUP (k, b)": ["k, b", "k", ""],
    "GROUPING SETS ((k, b), (b), ())": ["k, b", "b", ""],
}


@st.composite
def session_sets(draw: DrawFn) -> Question:
    """Each set has sessions of its own keys: to DuckDB as many queries."""
    by, gap, chosen = draw(st.sampled_from(list(SETS))), draw(st.integers(1, 6)), draw(calls())
    where, bounds = draw(predicates()), ["window_start", "window_end"]
    select = (
        f"SELECT {listed(['k', 'b', 'GROUPING_ID(k, b) AS g', *bounds], ours(chosen))}\n"
        f"FROM s{where}\nGROUP BY SESSION(ts, INTERVAL '{gap}' SECOND), {by}"
    )
    return Question(
        select, " UNION ALL ".join(_of_set(one, gap, where, chosen) for one in SETS[by]), 5
    )


def _of_set(names: str, gap: int, where: str, chosen: list[Call]) -> str:
    keys = names.split(", ") if names else []
    own = "".join(f"{key}, " for key in keys)
    within = f"OVER (PARTITION BY {own}1 ORDER BY us)"
    shown = [key if key in keys else f"NULL AS {key}" for key in ("k", "b")]
    number = sum(bit for key, bit in (("k", 2), ("b", 1)) if key not in keys)
    bounds = ["make_timestamptz(min(us))", f"make_timestamptz(max(us) + {gap * SECOND})"]
    return (
        f"SELECT {listed([*shown, f'{number} AS g', *bounds], theirs(chosen))} FROM (SELECT *, "
        f"sum(new::INT) {within} AS n FROM (SELECT *, coalesce(us - lag(us) {within} > "
        f"{gap * SECOND}, true) AS new FROM s{where})) GROUP BY {own}n"
    )


@st.composite
def message_sessions(draw: DrawFn) -> Question:
    """Of so many messages of others."""
    keys, gap, chosen = draw(partitions()), draw(st.integers(1, 4)), draw(calls())
    where, by = draw(predicates()), [*keys, "window_start", "window_end"]
    select = (
        f"SELECT {listed(by, ours(chosen))}\n"
        f"FROM s OVER ({partitioned(keys)}SESSION {gap} ROWS GAP){where}\nGROUP BY {', '.join(by)}"
    )
    own = "".join(f"{key}, " for key in keys)
    within = f"OVER (PARTITION BY {own}1 ORDER BY n)"
    batch = (
        f"WITH counted AS (SELECT * FROM (SELECT *, row_number() OVER (ORDER BY seq) AS n "
        f"FROM untimed){where}), "
        f"marked AS (SELECT *, coalesce(n - lag(n) {within} - 1 > {gap}, true) AS new "
        f"FROM counted), numbered AS (SELECT *, sum(new::INT) {within} AS m FROM marked) "
        f"SELECT {listed([*keys, 'min(n)', 'max(n) + 1'], theirs(chosen))} "
        f"FROM numbered GROUP BY {own}m"
    )
    return Question(select, batch, len(by), rising=True)


_BOUNDS = ["make_timestamptz(w)", "make_timestamptz(e)"]


def _equal(keys: tuple[str, ...], one: str, other: str) -> str:
    same = [f"{one}.{key} IS NOT DISTINCT FROM {other}.{key}" for key in keys]
    return " AND ".join(same) or "true"
