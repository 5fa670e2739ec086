"""Random queries over the results of random queries: windows, sessions, frames and groups.

What is below has corrections of its own, early and late, and the ones above are to end up
as if it had answered once. It has the columns `k`, `n`, `x`, an event time `t` unless it
is the whole stream, and some that name its rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.properties.query_calls import listed
from tests.properties.query_groups import Windowed, of_groups
from tests.properties.query_ordered import hops_of, sessions, slides_of
from tests.properties.query_policies import by_hours
from tests.properties.question import SECOND, Question, predicates

MADE = ["COUNT(*)", "SUM(n)", "MIN(n)", "MAX(x)", "COUNT(DISTINCT n)"]
MADE += ["SUM(x) FILTER (WHERE n > 1)"]
KEYS: list[tuple[str, ...]] = [(), ("k",), ("n",)]


@dataclass(frozen=True)
class Below:
    """known: the columns that name a row. ours: with its policies."""

    ours: str
    theirs: str
    known: tuple[str, ...]
    timed: bool = True


def chains() -> SearchStrategy[Question]:
    timed = st.one_of(grouped_below(), sessions_below(), rows_below(), both_below(), joined_below())
    over_time = timed.flatmap(_over_time)
    of_any = st.one_of(timed, whole_below()).flatmap(groups_of)
    return st.one_of(over_time, over_time, of_any)


def by_number() -> SearchStrategy[Question]:
    once = st.one_of(grouped_below(), sessions_below())  # at an instant, of a key
    rows = once.flatmap(
        lambda below: st.one_of(
            hops_of(below.ours, below.theirs), slides_of(below.ours, below.theirs)
        )
    )
    return st.one_of(rows, rows, sessions())


def over_united() -> SearchStrategy[Question]:
    """Queries over UNION ALL of rows."""
    return united_below().flatmap(_over_time)


def _over_time(below: Below) -> SearchStrategy[Question]:
    return st.one_of(windows_of(below), sessions_of(below), frames_of(below))


@st.composite
def grouped_below(draw: DrawFn) -> Below:
    window, where = draw(of_groups()), draw(predicates())
    having = draw(st.sampled_from(["", " HAVING COUNT(*) > 1", " HAVING SUM(i) > 0"]))
    ours = (
        f"SELECT k, window_start AS w, window_end AS e, window_time AS t, COUNT(*) AS n, "
        f"SUM(i) AS x FROM {window.source}{where} "
        f"GROUP BY k, window_start, window_end, window_time{having} {draw(by_hours())}"
    )
    last = "make_timestamptz(e - 1)"
    theirs = (
        f"SELECT k, {', '.join(_named(window))}, {last} AS t, COUNT(*) AS n, SUM(i) AS x "
        f"FROM ({window.unnested.format(where=where)}) GROUP BY k, w, e{window.having(having)}"
    )
    return Below(ours, theirs, ("k", "w", "e"))


def _named(window: Windowed) -> list[str]:
    return [f"{bound} AS {name}" for bound, name in zip(window.bounds, "we", strict=True)]


@st.composite
def sessions_below(draw: DrawFn) -> Below:
    gap, where = draw(st.integers(1, 4)), draw(predicates())
    having = draw(st.sampled_from(["", " HAVING COUNT(*) > 1", " HAVING SUM(i) > 0"]))
    ours = (
        f"SELECT k, window_start AS w, window_end AS e, window_time AS t, COUNT(*) AS n, "
        f"SUM(i) AS x FROM s OVER (PARTITION BY k ORDER BY ts SESSION INTERVAL '{gap}' SECOND GAP)"
        f"{where} GROUP BY k, window_start, window_end, window_time{having} {draw(by_hours())}"
    )
    theirs = (
        f"SELECT k, make_timestamptz(min(us)) AS w, make_timestamptz({_end(gap)}) AS e, "
        f"make_timestamptz({_end(gap)} - 1) AS t, COUNT(*) AS n, SUM(i) AS x "
        f"FROM ({_islands('k, ', gap, f'(SELECT * FROM s{where})')}) GROUP BY k, m{having}"
    )
    return Below(ours, theirs, ("k", "w", "e"))


def _end(gap: int) -> str:
    return f"max(us) + {gap * SECOND}"


def _islands(own: str, gap: int, rows: str) -> str:
    """Rows with the number of their session, `m`, within `own`."""
    within = f"OVER (PARTITION BY {own}1 ORDER BY us)"
    apart = f"coalesce(us - lag(us) {within} > {gap * SECOND}, true)"
    marked = f"SELECT *, {apart} AS new FROM {rows} r"
    return f"SELECT *, sum(new::INT) {within} AS m FROM ({marked})"


@st.composite
def rows_below(draw: DrawFn) -> Below:
    frame = f"RANGE INTERVAL '{draw(st.integers(0, 6))}' SECOND PRECEDING"
    where, over = draw(predicates()), f"OVER (PARTITION BY k ORDER BY ts {frame})"
    made = f"SELECT id, k, ts AS t, COUNT(*) {over} AS n, SUM(i) {over} AS x FROM s{where}"
    return Below(f"{made} {draw(by_hours())}", made, ("id",))


JOINED = ["", "EMIT LATE ON UPDATE ", "EMIT EARLY EVERY 3 SECONDS LATE EVERY 3 SECONDS "]


@st.composite
def joined_below(draw: DrawFn) -> Below:
    """Rows with those of their key around them, two or three at a time."""
    names = ["b", "c"][: draw(st.integers(1, 2))]
    kind, where = draw(st.sampled_from(["JOIN", "LEFT JOIN"])), draw(st.sampled_from(["", "a.b"]))
    ours, theirs = ["s a"], ["s a"]
    for name in names:
        back, ahead = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        on = f"{kind} s {name} ON a.k = {name}.k AND {name}"
        ours.append(
            f"{on}.ts BETWEEN a.ts - INTERVAL '{back}' SECOND AND a.ts + INTERVAL '{ahead}' SECOND"
        )
        theirs.append(f"{on}.us BETWEEN a.us - {back * SECOND} AND a.us + {ahead * SECOND}")
    others = ", ".join(f"{name}.id AS id_{name}" for name in names)
    made = f"SELECT a.id AS id, {others}, a.k AS k, a.ts AS t, a.i AS n, {names[-1]}.i AS x FROM "
    narrowed = f" WHERE {where}" if where else ""
    policy = f"{draw(st.sampled_from(JOINED))}RETAIN INTERVAL '1' DAY"
    return Below(
        f"{made}{' '.join(ours)}{narrowed} {policy}",
        f"{made}{' '.join(theirs)}{narrowed}",
        ("id", *(f"id_{name}" for name in names)),
    )


@st.composite
def both_below(draw: DrawFn) -> Below:
    """UNION ALL of two of one kind; which of them a row is from names it too."""
    one, other = draw(grouped_below()), draw(grouped_below())
    names = [*one.known, "t", "n", "x"]
    ours, theirs = (
        f"SELECT 0 AS part, {', '.join(names)} FROM ({first}) UNION ALL "
        f"SELECT 1, {', '.join(names)} FROM ({second})"
        for first, second in ((one.ours, other.ours), (one.theirs, other.theirs))
    )
    return Below(ours, theirs, ("part", *one.known))


@st.composite
def united_below(draw: DrawFn) -> Below:
    """UNION ALL of rows as they come."""
    made = " UNION ALL ".join(
        f"SELECT {part} AS part, id, k, ts AS t, i AS n, {x} AS x FROM s{draw(predicates())}"
        for part, x in enumerate(("i", "id"))
    )
    return Below(made, made, ("part", "id"))


@st.composite
def whole_below(draw: DrawFn) -> Below:
    where = draw(predicates())
    made = f"SELECT k, b, COUNT(*) AS n, SUM(i) AS x FROM s{where} GROUP BY k, b"
    return Below(made, made, ("k", "b"), timed=False)


@st.composite
def windows_of(draw: DrawFn, below: Below) -> Question:
    window, keys, made = draw(of_groups()), draw(st.sampled_from(KEYS)), draw(_made())
    table = f"TABLE ({below.ours}), DESCRIPTOR(t)"
    source = window.source.replace("TABLE s, DESCRIPTOR(ts)", table)
    by = [*keys, "window_start", "window_end"]
    select = f"SELECT {listed(by, made)}\nFROM {source}\nGROUP BY {', '.join(by)}"
    rows = f"(SELECT *, epoch_us(t) AS us FROM ({below.theirs}))"
    batch = (
        f"SELECT {listed([*keys, *window.bounds], made)} "
        f"FROM ({window.unnested.format(where='').replace('FROM s', f'FROM {rows}')}) "
        f"GROUP BY {', '.join([*keys, 'w', 'e'])}{window.having('')}"
    )
    if "w" in below.known:  # those of the rows would hide the ones of the window
        batch = batch.replace("SELECT *, epoch_us(t)", "SELECT * EXCLUDE (w, e), epoch_us(t)")
    return Question(select, batch, len(by))


@st.composite
def sessions_of(draw: DrawFn, below: Below) -> Question:
    gap, keys, made = draw(st.integers(1, 9)), draw(st.sampled_from(KEYS)), draw(_made())
    by = [*keys, "window_start", "window_end"]
    partitioned = f"PARTITION BY {', '.join(keys)} " if keys else ""
    select = (
        f"SELECT {listed(by, made)}\nFROM ({below.ours}) OVER ({partitioned}ORDER BY t "
        f"SESSION INTERVAL '{gap}' SECOND GAP)\nGROUP BY {', '.join(by)}"
    )
    own = "".join(f"{key}, " for key in keys)
    rows = f"(SELECT *, epoch_us(t) AS us FROM ({below.theirs}))"
    bounds = ["make_timestamptz(min(us))", f"make_timestamptz({_end(gap)})"]
    batch = (
        f"SELECT {listed([*keys, *bounds], made)} FROM ({_islands(own, gap, rows)}) GROUP BY {own}m"
    )
    return Question(select, batch, len(by))


@st.composite
def frames_of(draw: DrawFn, below: Below) -> Question:
    back, ahead = draw(st.integers(0, 9)), draw(st.sampled_from([0, 0, 3]))
    end = f"INTERVAL '{ahead}' SECOND FOLLOWING" if ahead else "CURRENT ROW"
    keys = draw(st.sampled_from(["", "PARTITION BY k "]))
    frame = f"RANGE BETWEEN INTERVAL '{back}' SECOND PRECEDING AND {end}"
    over = f"OVER ({keys}ORDER BY t {frame})"
    made = [f"{call} {over}" for call in draw(_made()) if "FILTER" not in call]
    made = made or [f"COUNT(*) {over}"]
    select = f"SELECT {listed(list(below.known), made)}\nFROM ({below.ours})"
    batch = f"SELECT {listed(list(below.known), made)} FROM ({below.theirs})"
    return Question(select, batch, len(below.known))


@st.composite
def groups_of(draw: DrawFn, below: Below) -> Question:
    keys, made = draw(st.sampled_from(KEYS)), draw(_made())
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    select = f"SELECT {listed(list(keys), made)}\nFROM ({below.ours}){by}"
    # of no rows at all SQL tells one group; a stream has said nothing yet
    some = "" if keys else " HAVING COUNT(*) > 0"
    batch = f"SELECT {listed(list(keys), made)} FROM ({below.theirs}){by}{some}"
    return Question(select, batch, len(keys))


def _made() -> SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(MADE), min_size=1, max_size=3, unique=True)
