"""Random queries of the dialect, each with the same question to DuckDB over all rows.

The stream has `seq`, the order in which rows were pushed, which is what ties go
by. A column of the answer that says which row it is comes first.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

COLUMNS = """id BIGINT, k STRING, i BIGINT, d DECIMAL(6, 2), f DOUBLE, b BOOLEAN, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND"""
KEYS = [(), ("k",), ("k", "b"), ("UPPER(k)",), ("i",)]
PREDICATES = ["i > 0", "k <> 'a'", "b", "f IS NOT NULL", "i < 2 OR b"]
SECOND = 1_000_000


@dataclass(frozen=True)
class Question:
    """text: a script for sqlwin. batch: for DuckDB over `s`. known: columns that name a row."""

    text: str
    batch: str
    known: int


@dataclass(frozen=True)
class Call:
    """An aggregate as sqlwin has it, and as DuckDB has it: `{over}` stands behind the call."""

    ours: str
    theirs: str


def _plain(call: str) -> Call:
    return Call(call, call + "{over}")


# Rows of one instant are told apart by seq; the struct orders by value, then by that.
# DuckDB's own arg_min passes over NULL values and leaves ties open.
_FIRST = "arg_min_null({x}, (us, seq)){{over}}"
_LAST = "arg_max_null({x}, (us, seq)){{over}}"
_ARG_MIN = "arg_min_null({x}, ({y}, us, seq)) FILTER (WHERE {y} IS NOT NULL){{over}}"
_ARG_MAX = "arg_max_null({x}, ({y}, -us, -seq)) FILTER (WHERE {y} IS NOT NULL){{over}}"

CALLS = [
    *map(_plain, [
        "COUNT(*)", "COUNT(i)", "SUM(i)", "SUM(d)", "SUM(f)", "AVG(i)", "AVG(d)", "AVG(f)",
        "MIN(i)", "MAX(d)", "MIN(f)", "MAX(k)", "MIN(b)", "MAX(ts)", "BOOL_AND(b)", "BOOL_OR(b)",
        "STDDEV_SAMP(i)", "STDDEV_POP(d)", "VAR_SAMP(f)", "VAR_POP(i)", "SUM(i * 2 + 1)",
        "COUNT(*) FILTER (WHERE b)", "SUM(i) FILTER (WHERE f > 0)", "MAX(k) FILTER (WHERE i > 0)",
    ]),
    Call("SUM(i) - COUNT(*)", "SUM(i){over} - COUNT(*){over}"),
    Call("FIRST(i)", _FIRST.format(x="i")),
    Call("LAST(k)", _LAST.format(x="k")),
    Call("ARG_MIN(k, i)", _ARG_MIN.format(x="k", y="i")),
    Call("MAX_BY(i, f)", _ARG_MAX.format(x="i", y="f")),
]  # fmt: skip


def calls() -> st.SearchStrategy[list[Call]]:
    return st.lists(st.sampled_from(CALLS), min_size=1, max_size=4)


def questions() -> st.SearchStrategy[Question]:
    return hops() | overs() | sliding() | messages() | sliding_messages()


@st.composite
def hops(draw: st.DrawFn) -> Question:
    size = draw(st.integers(1, 12))
    slide = draw(st.integers(1, size))
    keys, chosen, where = draw(st.sampled_from(KEYS)), draw(calls()), draw(_predicate())
    having = draw(st.sampled_from(["", " HAVING COUNT(*) > 1", " HAVING SUM(i) > 0"]))
    by = [*keys, "window_start", "window_end"]
    ours = (
        f"SELECT {_listed(by, [c.ours for c in chosen])}\nFROM HOP(TABLE s, DESCRIPTOR(ts), "
        f"INTERVAL '{slide}' SECOND, INTERVAL '{size}' SECOND){where}\n"
        f"GROUP BY {', '.join(by)}{having}"
    )
    step, long = slide * SECOND, size * SECOND
    starts = f"range((us - {long}) // {step} * {step} + {step}, us + 1, {step})"
    bounds = ["make_timestamptz(w)", f"make_timestamptz(w + {long})"]
    theirs = (
        f"SELECT {_listed([*keys, *bounds], _answers(chosen, ''))} "
        f"FROM (SELECT *, unnest({starts}) AS w FROM s{where}) GROUP BY {', '.join([*keys, 'w'])}"
        f"{having}"
    )
    return Question(draw(_script(ours)), theirs, len(by))


@st.composite
def overs(draw: st.DrawFn) -> Question:
    where = draw(_predicate())
    ours, theirs = [], []
    for call in draw(calls()):
        keys = draw(st.sampled_from([(), ("k",), ("k", "b")]))
        by = f"PARTITION BY {', '.join(keys)} " if keys else ""
        length = draw(st.integers(0, 8))
        if draw(st.booleans()):
            our = f"({by}ORDER BY ts RANGE INTERVAL '{length}' SECOND PRECEDING)"
            their = f"({by}ORDER BY us RANGE {length * SECOND} PRECEDING)"
        else:
            our = f"({by}ORDER BY ts ROWS {length} PRECEDING)"
            their = f"({by}ORDER BY us, seq ROWS {length} PRECEDING)"
        ours.append(_over(call, f" OVER {our}"))
        theirs.append(call.theirs.format(over=f" OVER {their}"))
    text = f"SELECT {_listed(['id', 'ts'], ours)}\nFROM s{where}"
    batch = f"SELECT {_listed(['id', 'ts'], theirs)} FROM s{where}"
    return Question(draw(_script(text)), batch, 2)


def _over(call: Call, over: str) -> str:
    """OVER behind each call; behind FILTER where there is one."""
    if " - " in call.ours:
        return " - ".join(part + over for part in call.ours.split(" - "))
    return call.ours + over


@st.composite
def sliding(draw: st.DrawFn) -> Question:
    keys = draw(st.sampled_from([(), ("k",), ("k", "b")]))
    length, chosen, where = draw(st.integers(1, 8)), draw(calls()), draw(_predicate())
    by = f"PARTITION BY {', '.join(keys)} " if keys else ""
    names = [*keys, "window_start", "window_end"]
    ours = (
        f"SELECT {_listed(names, [c.ours for c in chosen])}\n"
        f"FROM s OVER ({by}ORDER BY ts RANGE INTERVAL '{length}' SECOND PRECEDING){where}"
    )
    over = f" OVER ({by}ORDER BY us RANGE {length * SECOND} PRECEDING)"
    bounds = [*keys, f"make_timestamptz(us - {length * SECOND})", "make_timestamptz(us)"]
    theirs = f"SELECT DISTINCT {_listed(bounds, _answers(chosen, over))} FROM s{where}"
    return Question(draw(_script(ours)), theirs, len(names))


@st.composite
def messages(draw: st.DrawFn) -> Question:
    size = draw(st.integers(1, 6))
    slide = draw(st.integers(1, size))
    keys, chosen, where = draw(st.sampled_from([(), ("k",)])), draw(calls()), draw(_predicate())
    by = f"PARTITION BY {', '.join(keys)} " if keys else ""
    names = [*keys, "window_start", "window_end"]
    ours = (
        f"SELECT {_listed(names, [c.ours for c in chosen])}\n"
        f"FROM s OVER ({by}ROWS {size} PRECEDING ADVANCE BY {slide} ROWS){where}\n"
        f"GROUP BY {', '.join(names)}"
    )
    # DuckDB's // rounds towards zero, and the first windows would be lost
    first = (
        f"CASE WHEN n <= {size} THEN 1 ELSE (n - 1 - {size}) // {slide} * {slide} + {slide} + 1 END"
    )
    numbered = f"SELECT *, row_number() OVER ({by}ORDER BY seq) AS n FROM untimed"
    theirs = (
        f"SELECT {_listed([*keys, 'w', f'w + {size}'], _answers(chosen, ''))} FROM "
        f"(SELECT *, unnest(range({first}, n + 1, {slide})) AS w FROM ({numbered}){where}) "
        f"GROUP BY {', '.join([*keys, 'w'])}"
    )
    return Question(_declared(ours, 0), theirs, len(names))


@st.composite
def sliding_messages(draw: st.DrawFn) -> Question:
    size, chosen, where = draw(st.integers(1, 6)), draw(calls()), draw(_predicate())
    keys = draw(st.sampled_from([(), ("k",)]))
    by = f"PARTITION BY {', '.join(keys)} " if keys else ""
    names = [*keys, "window_start", "window_end"]
    ours = (
        f"SELECT {_listed(names, [c.ours for c in chosen])}\n"
        f"FROM s OVER ({by}ROWS {size} PRECEDING){where}"
    )
    over = f" OVER ({by}ORDER BY n RANGE {size - 1} PRECEDING)"
    bounds = [*keys, f"greatest(1, n - {size - 1})", "n + 1"]
    numbered = f"SELECT *, row_number() OVER ({by}ORDER BY seq) AS n FROM untimed"
    theirs = f"SELECT {_listed(bounds, _answers(chosen, over))} FROM ({numbered}){where}"
    return Question(_declared(ours, 0), theirs, len(names))


def _answers(chosen: list[Call], over: str) -> list[str]:
    return [call.theirs.format(over=over) for call in chosen]


def _listed(names: list[str], values: list[str]) -> str:
    """Values get names of their own, that none may be taken for a column."""
    return ", ".join([*names, *(f"{value} AS v{at}" for at, value in enumerate(values))])


def _predicate() -> st.SearchStrategy[str]:
    return st.sampled_from(["", "", *(f" WHERE {predicate}" for predicate in PREDICATES)])


@st.composite
def _script(draw: st.DrawFn, select: str) -> str:
    """With any lateness and policy under which every row counts in the end."""
    late = draw(st.sampled_from(["", "EMIT LATE ON UPDATE\n", "EMIT LATE EVERY 3 SECONDS\n"]))
    return _declared(f"{select}\n{late}RETAIN INTERVAL '1' DAY", draw(st.integers(0, 5)))


def _declared(select: str, delay: int) -> str:
    return f"CREATE STREAM s (\n  {COLUMNS.format(delay=delay)}\n);\n{select}"
