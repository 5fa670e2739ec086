"""Random queries that are rewritten while they are bound: INTERSECT and EXCEPT, NOT IN,
scalar subqueries, conditions of ASOF joins, PIVOT, ORDER BY with LIMIT, DISTINCT ON,
LATERAL, UNPIVOT.

What they read are groups of windows, which are corrected as late rows come.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.query_groups import Windowed, windowed
from tests.properties.question import Question, predicates


@st.composite
def set_operations(draw: DrawFn) -> Question:
    """Of few columns, so that rows are equal; those of ALL are counted, for none has a name."""
    window, columns = draw(windowed()), draw(st.sampled_from([("k",), ("n",), ("n", "b"), ()]))
    word = draw(st.sampled_from(["INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]))
    parts = [_groups(window, draw(predicates()), columns) for _ in "ab"]
    ours, theirs = (f" {word} ".join(texts) for texts in zip(*parts, strict=True))
    names = ["w", "e", *columns]
    if "ALL" in word:
        ours, theirs = (
            f"SELECT {', '.join(names)}, COUNT(*) AS times FROM ({text}) "
            f"GROUP BY {', '.join(names)}"
            for text in (ours, theirs)
        )
    else:
        ours = f"SELECT * FROM ({ours})"
    return Question(ours, theirs, len(names))


@st.composite
def members(draw: DrawFn) -> Question:
    """Rows by what is said of a value among the rows of another query around them."""
    back, ahead = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    words = ["IN", "NOT IN", "NOT IN", "< ANY", ">= ALL", "<> ANY", "> ALL"]
    word, where = draw(st.sampled_from(words)), draw(predicates())
    column, same = draw(st.sampled_from(["i", "f", "b"])), draw(st.sampled_from(["", "b.k = a.k"]))
    texts = []
    for ts, unit in (("ts", "INTERVAL '{}' SECOND"), ("us", "{} * 1000000")):
        near = f"b.{ts} BETWEEN a.{ts} - {unit.format(back)} AND a.{ts} + {unit.format(ahead)}"
        both = " AND ".join(part for part in (same, near) if part)
        inner = f"SELECT b.{column} FROM (SELECT * FROM s{where}) b WHERE {both}"
        texts.append(f"SELECT id, a.{column} AS x FROM s a WHERE a.{column} {word} ({inner})")
    return Question(*texts, 1)


@st.composite
def nearest(draw: DrawFn) -> Question:
    """The last row before each one, of those that conditions of one side let pass."""
    kind = draw(st.sampled_from(["ASOF JOIN", "LEFT ASOF JOIN"]))
    left = draw(st.sampled_from(["", " AND a.i > 0", " AND a.b"]))
    right = draw(st.sampled_from([" AND b.i > 0", " AND b.b", " AND b.f IS NOT NULL"]))
    ours = (
        f"SELECT a.id AS id, b.id AS x FROM s a {kind} s b "
        f"MATCH_CONDITION (a.ts >= b.ts) ON a.k = b.k{left}{right}"
    )
    before = f"a.k = b.k AND b.us <= a.us{left}{right}"
    last = f"SELECT max_by(b.id, b.us * 1000 + b.seq) FROM s b WHERE {before}"
    theirs = f"SELECT id, x FROM (SELECT a.id AS id, ({last}) AS x FROM s a)"
    return Question(ours, theirs if "LEFT" in kind else f"{theirs} WHERE x IS NOT NULL", 1)


@st.composite
def turned(draw: DrawFn) -> Question:
    """Groups of windows with a column for some of their keys."""
    window, where = draw(windowed()), draw(predicates())
    call = draw(st.sampled_from(["SUM(n)", "MAX(n)", "COUNT(n), MIN(n)"]))
    values = draw(st.sampled_from(["'a'", "'a' AS one, 'b' AS two", "'b' AS other, 'z'"]))
    ours, theirs = _groups(window, where, ("k", "n", "b"))
    made = f"SELECT * FROM ({{}}) PIVOT ({call} FOR k IN ({values}))"
    return Question(made.format(ours), made.format(theirs), 3)


@st.composite
def first_rows(draw: DrawFn) -> Question:
    """The first of rows, or of groups of windows, in an order that no two of them share."""
    window, where = draw(windowed()), draw(predicates())
    first, behind = draw(st.integers(1, 4)), draw(st.sampled_from(["", " OFFSET 1"]))
    rows = [f"SELECT id, k, i AS v FROM s{where}"] * 2
    kind, bound = draw(st.integers(0, 2)), f"LIMIT {first}{behind}"
    if kind == 0:
        order = f"ORDER BY v DESC NULLS LAST, id {bound}"
        return Question(f"{rows[0]} {order}", f"{rows[1]} {order}", 1)
    if kind == 1:
        each = f"SELECT DISTINCT ON (k) id, k, i FROM s{where} ORDER BY k, i DESC NULLS LAST, id"
        return Question(each, each, 1)
    order = f"ORDER BY n DESC, w, e, k NULLS FIRST, b NULLS FIRST {bound}"
    ours, theirs = (f"{text} {order}" for text in _groups(window, where, ("k", "b", "n")))
    return Question(ours, theirs, 4)


@st.composite
def laterals(draw: DrawFn) -> Question:
    """Rows with others of their key: the first few, or those around them."""
    where, ahead = draw(predicates()), draw(st.integers(0, 4))
    kept = draw(st.sampled_from(["", " AND b.i > 0", " AND b.b"]))
    if draw(st.booleans()):
        order = f"ORDER BY b.i DESC NULLS LAST, b.id LIMIT {draw(st.integers(1, 3))}"
        conditions = [f"b.k = a.k{kept} {order}"] * 2
    else:
        times = (
            "b.ts BETWEEN a.ts AND a.ts + INTERVAL '{}' SECOND",
            "b.us - a.us BETWEEN 0 AND {}",
        )
        lengths = (ahead, ahead * 1_000_000)
        near = [time.format(length) for time, length in zip(times, lengths, strict=True)]
        conditions = [f"b.k = a.k{kept} AND {each}" for each in near]
    made = (
        "SELECT a.id, t.x, t.i FROM (SELECT * FROM s{}) a, LATERAL (SELECT b.id AS x, b.i FROM s b "
    )
    texts = [f"{made.format(where)}WHERE {condition}) t" for condition in conditions]
    return Question(*texts, 2)


@st.composite
def lengthened(draw: DrawFn) -> Question:
    """Groups of windows with a row for each of two of their columns, which groups take up."""
    parts = _groups(draw(windowed()), draw(predicates()), ("k", "b", "n"))
    nulls = draw(st.sampled_from(["", " INCLUDE NULLS", " EXCLUDE NULLS"]))
    value = draw(st.sampled_from(["n * 2", "NULLIF(n, 1)"]))
    made = f"SELECT w, e, k, b, m, MAX(v) AS v FROM (SELECT *, {value} AS x FROM ({{}})) "
    turned = f"UNPIVOT{nulls} (v FOR m IN (n, x AS y)) GROUP BY w, e, k, b, m"
    texts = [f"{made.format(text)}{turned}" for text in parts]
    return Question(*texts, 5)


AGGREGATES = ["COUNT(*)", "MAX(c.n)", "SUM(c.n) - 1", "COUNT(c.b)"]


@st.composite
def scalars(draw: DrawFn) -> Question:
    """Groups of windows with an aggregate of others of the same window, maybe of its key."""
    window, more = draw(windowed()), draw(st.sampled_from(["", " AND c.k = a.k"]))
    one, other = (_groups(window, draw(predicates()), ("k", "b", "n")) for _ in "ac")
    call, where = draw(st.sampled_from(AGGREGATES)), draw(st.sampled_from(["", " AND c.n > 1"]))
    condition = draw(st.sampled_from(["NOT EXISTS (SELECT 1 {})", "(SELECT COUNT(*) {}) > 1"]))
    texts = []
    for mine, theirs in zip(one, other, strict=True):
        inner = f"FROM ({theirs}) c WHERE c.w = a.w AND c.e = a.e{more}{where}"
        kept = f"n > 2 OR {condition.format(inner)}"
        texts.append(
            f"SELECT w, e, k, b, n, (SELECT {call} {inner}) AS x FROM ({mine}) a WHERE {kept}"
        )
    return Question(*texts, 4)


def _groups(window: Windowed, where: str, columns: tuple[str, ...]) -> tuple[str, str]:
    rest = "".join(f", {name}" for name in columns)
    edges = "window_start AS w, window_end AS e"
    ours = (
        f"SELECT w, e{rest} FROM (SELECT k, b, {edges}, COUNT(*) AS n FROM {window.source}{where} "
        f"GROUP BY k, b, window_start, window_end)"
    )
    bounds = ", ".join(f"{b} AS {name}" for b, name in zip(window.bounds, "we", strict=True))
    theirs = (
        f"SELECT {bounds}{rest} FROM (SELECT k, b, w, e, COUNT(*) AS n "
        f"FROM ({window.unnested.format(where=where)}) GROUP BY k, b, w, e)"
    )
    return ours, theirs
