"""Random group windows: hopping, cumulating, grouping sets, the whole stream, messages."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.properties.features import has
from tests.properties.query_calls import Call, calls, listed, ours, theirs
from tests.properties.question import SECOND, Question, partitioned, predicates

KEYS = [(), ("k",), ("k", "b"), ("UPPER(k)",), ("i",)]
SETS = ["CUBE (k, b)", "ROLLUP (k, b)", "GROUPING SETS ((k, b), (b), ())"]
HAVINGS = ["", " HAVING COUNT(*) > 1", " HAVING SUM(i) > 0"]


@dataclass(frozen=True)
class Windowed:
    """source: of FROM. unnested: for DuckDB, each row with the `w` and `e` of each its windows.
    there: of a group, whether it has that window; empty: it has."""

    source: str
    unnested: str
    there: str = ""

    def having(self, having: str) -> str:
        """Of groups in DuckDB, with the HAVING of the query."""
        if not self.there:
            return having
        return f" HAVING {self.there}{having.replace(' HAVING ', ' AND ')}"

    @property
    def bounds(self) -> list[str]:
        return ["make_timestamptz(w)", "make_timestamptz(e)"]


def windowed() -> SearchStrategy[Windowed]:
    return st.one_of([hopping(), *([cumulating()] if has("cumulate") else [])])


def of_groups() -> SearchStrategy[Windowed]:
    """And those that are there by the rows of a group."""
    return st.one_of([windowed(), *([cumulating(only=True)] if has("cumulate") else [])])


@st.composite
def hopping(draw: DrawFn) -> Windowed:
    size = draw(st.integers(1, 12))
    slide, offset = draw(st.integers(1, size)), draw(st.integers(0, 3))
    lengths = [slide, size, *([offset] if offset else [])]
    step, long, off = slide * SECOND, size * SECOND, offset * SECOND
    starts = f"range((us - {off} - {long}) // {step} * {step} + {step} + {off}, us + 1, {step})"
    return Windowed(
        _function("HOP", lengths),
        f"SELECT *, w + {long} AS e FROM (SELECT *, unnest({starts}) AS w FROM s{{where}})",
    )


@st.composite
def cumulating(draw: DrawFn, only: bool = False) -> Windowed:
    step, times, offset = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(0, 3))
    short, long, off = step * SECOND, step * times * SECOND, offset * SECOND
    lengths = [step, step * times, *([offset] if offset else [])]
    start = f"(us - {off}) // {long} * {long} + {off}"
    ends = (
        f"range((us - {off}) // {short} * {short} + {short + off}, {start} + {long + 1}, {short})"
    )
    return Windowed(
        _function("CUMULATE", lengths, ", emitOnlyOnUpdate => TRUE" if only else ""),
        f"SELECT *, {start} AS w, unnest({ends}) AS e FROM s{{where}}",
        f"max(us) >= e - {short}" if only else "",
    )


def _function(name: str, lengths: list[int], rest: str = "") -> str:
    sizes = ", ".join(f"INTERVAL '{length}' SECOND" for length in lengths)
    return f"{name}(TABLE s, DESCRIPTOR(ts), {sizes}{rest})"


@st.composite
def groups(draw: DrawFn) -> Question:
    keys, window, where = draw(st.sampled_from(KEYS)), draw(of_groups()), draw(predicates())
    chosen, having = draw(calls()), draw(st.sampled_from(HAVINGS))
    by = [*keys, "window_start", "window_end"]
    select = (
        f"SELECT {listed(by, ours(chosen))}\nFROM {window.source}{where}\n"
        f"GROUP BY {', '.join(by)}{having}"
    )
    batch = (
        f"SELECT {listed([*keys, *window.bounds], theirs(chosen))} "
        f"FROM ({window.unnested.format(where=where)}) GROUP BY {', '.join([*keys, 'w', 'e'])}"
        f"{window.having(having)}"
    )
    return Question(select, batch, len(by))


@st.composite
def sets(draw: DrawFn) -> Question:
    window, where, chosen = draw(of_groups()), draw(predicates()), draw(calls())
    by, having = draw(st.sampled_from(SETS)), draw(st.sampled_from(HAVINGS))
    names = ["k", "b", "GROUPING_ID(k, b) AS g"]
    select = (
        f"SELECT {listed([*names, 'window_start', 'window_end'], ours(chosen))}\n"
        f"FROM {window.source}{where}\nGROUP BY window_start, window_end, {by}{having}"
    )
    batch = (
        f"SELECT {listed([*names, *window.bounds], theirs(chosen))} "
        f"FROM ({window.unnested.format(where=where)}) GROUP BY w, e, {by}"
        f"{window.having(having)}"
    )
    return Question(select, batch, 5)


@st.composite
def whole(draw: DrawFn) -> Question:
    keys, where, chosen = draw(st.sampled_from(KEYS)), draw(predicates()), draw(calls())
    having = draw(st.sampled_from(HAVINGS))
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    select = f"SELECT {listed(list(keys), ours(chosen))}\nFROM s{where}{by}{having}"
    # of no rows at all SQL tells one group; a stream has said nothing yet
    some = having or ("" if keys else " HAVING COUNT(*) > 0")
    batch = f"SELECT {listed(list(keys), theirs(chosen))} FROM s{where}{by}{some}"
    return Question(select, batch, len(keys))


@st.composite
def messages(draw: DrawFn) -> Question:
    size = draw(st.integers(1, 6))
    slide = draw(st.integers(1, size))
    keys, chosen, where = draw(st.sampled_from([(), ("k",)])), draw(calls()), draw(predicates())
    by, names = partitioned(keys), [*keys, "window_start", "window_end"]
    select = (
        f"SELECT {listed(names, ours(chosen))}\n"
        f"FROM s OVER ({by}ROWS {size} PRECEDING ADVANCE BY {slide} ROWS){where}\n"
        f"GROUP BY {', '.join(names)}"
    )
    # DuckDB's // rounds towards zero, and the first windows would be lost
    first = (
        f"CASE WHEN n <= {size} THEN 1 ELSE (n - 1 - {size}) // {slide} * {slide} + {slide} + 1 END"
    )
    batch = (
        f"SELECT {listed([*keys, 'w', f'w + {size}'], theirs(chosen))} FROM "
        f"(SELECT *, unnest(range({first}, n + 1, {slide})) AS w FROM ({_numbered(by)}){where}) "
        f"GROUP BY {', '.join([*keys, 'w'])}"
    )
    return Question(select, batch, len(names), rising=True)


@st.composite
def sets_of_messages(draw: DrawFn) -> Question:
    size, by = draw(st.integers(1, 6)), draw(st.sampled_from(SETS))
    chosen, where = draw(calls()), draw(predicates())
    names = ["k", "b", "GROUPING_ID(k, b) AS g"]
    select = (
        f"SELECT {listed([*names, 'window_start', 'window_end'], ours(chosen))}\n"
        f"FROM s OVER (ROWS {size} PRECEDING ADVANCE BY {size} ROWS){where}\n"
        f"GROUP BY window_start, window_end, {by}"
    )
    batch = (
        f"SELECT {listed([*names, 'w', f'w + {size}'], theirs(chosen))} FROM "
        f"(SELECT *, (n - 1) // {size} * {size} + 1 AS w FROM ({_numbered('')}){where}) "
        f"GROUP BY w, {by}"
    )
    return Question(select, batch, 5, rising=True)


@st.composite
def sliding_messages(draw: DrawFn) -> Question:
    size, chosen, where = draw(st.integers(1, 6)), draw(calls()), draw(predicates())
    keys = draw(st.sampled_from([(), ("k",)]))
    by, names = partitioned(keys), [*keys, "window_start", "window_end"]
    back, first = draw(
        st.sampled_from([(size - 1, f"greatest(1, n - {size - 1})"), ("UNBOUNDED", "1")])
    )
    rows = back if back == "UNBOUNDED" else size
    select = f"SELECT {listed(names, ours(chosen))}\nFROM s OVER ({by}ROWS {rows} PRECEDING){where}"
    over = f" OVER ({by}ORDER BY n RANGE {back} PRECEDING)"
    bounds = [*keys, first, "n + 1"]
    batch = f"SELECT {listed(bounds, theirs(chosen, over))} FROM ({_numbered(by)}){where}"
    return Question(select, batch, len(names), rising=True)


def _numbered(by: str) -> str:
    return f"SELECT *, row_number() OVER ({by}ORDER BY seq) AS n FROM untimed"


RANKINGS = ["ROW_NUMBER()", "RANK()", "DENSE_RANK()"]


def ranked() -> SearchStrategy[Question]:
    return first_groups(of_groups())


@st.composite
def first_groups(draw: DrawFn, windows: SearchStrategy[Windowed]) -> Question:
    """Of each window; of equal ones the keys decide, NULL first."""
    window, where, limit = draw(windows), draw(predicates()), draw(st.integers(1, 3))
    function = draw(st.sampled_from(RANKINGS))
    call = draw(st.sampled_from([Call("SUM(i)", "SUM(i)"), Call("COUNT(*)", "COUNT(*)")]))
    ties = ", k NULLS FIRST" if function == "ROW_NUMBER()" else ""
    select = (
        f"SELECT k, window_start, window_end, n, rn FROM (\n"
        f"  SELECT k, window_start, window_end, {call.ours} AS n, {function} OVER ("
        f"PARTITION BY window_start, window_end ORDER BY {call.ours} DESC) AS rn\n"
        f"  FROM {window.source}{where}\n  GROUP BY k, window_start, window_end)\n"
        f"WHERE rn <= {limit}"
    )
    batch = (
        f"SELECT k, {', '.join(window.bounds)}, n, rn FROM (SELECT *, {function} OVER "
        f"(PARTITION BY w, e ORDER BY n DESC NULLS LAST{ties}) AS rn FROM (SELECT k, w, e, "
        f"{call.theirs} AS n FROM ({window.unnested.format(where=where)}) "
        f"GROUP BY k, w, e{window.having('')})) WHERE rn <= {limit}"
    )
    return Question(select, batch, 3)


ROWS = [
    ("i DESC", "i DESC NULLS LAST"),
    ("f", "f NULLS FIRST"),
    ("b DESC, k", "b DESC NULLS LAST, k NULLS FIRST"),
]


@st.composite
def ranked_rows(draw: DrawFn) -> Question:
    """The first rows of each window; of equal ones the first in position."""
    window, where, limit = draw(windowed()), draw(predicates()), draw(st.integers(1, 3))
    function, by = draw(st.sampled_from(RANKINGS)), draw(st.sampled_from(["", "k, "]))
    mine, theirs_ = draw(st.sampled_from(ROWS))
    ties = ", us, seq" if function == "ROW_NUMBER()" else ""
    select = (
        f"SELECT id, window_start, window_end, k, rn FROM (\n"
        f"  SELECT id, window_start, window_end, k, {function} OVER ("
        f"PARTITION BY {by}window_start, window_end ORDER BY {mine}) AS rn\n"
        f"  FROM {window.source}{where})\nWHERE rn <= {limit}"
    )
    batch = (
        f"SELECT id, {', '.join(window.bounds)}, k, rn FROM (SELECT *, {function} OVER "
        f"(PARTITION BY {by}w, e ORDER BY {theirs_}{ties}) AS rn "
        f"FROM ({window.unnested.format(where=where)})) WHERE rn <= {limit}"
    )
    return Question(select, batch, 3)
