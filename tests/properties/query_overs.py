"""Random OVER clauses: frames with any bounds, analytic functions, QUALIFY, the first n."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.features import has, one_of
from tests.properties.query_calls import Call, calls, listed, ours, theirs
from tests.properties.question import SECOND, Question, partitioned, partitions, predicates

EXCLUDED = ["", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS"]


@dataclass(frozen=True)
class Framed:
    """unit, low, high: offsets from the row, negative before it, None unbounded. computed: the
    bounds are sums or products."""

    unit: str
    low: int | None
    high: int | None
    exclude: str = ""
    computed: bool = False

    @property
    def by_hand(self) -> bool:
        """DuckDB has no sessions; and, told (us, seq) for ROWS, it sees no peers, which are rows of
        one instant."""
        peers = self.exclude in (" EXCLUDE GROUP", " EXCLUDE TIES")
        return self.unit == "SESSION" or (self.unit == "ROWS" and peers)

    def text(self, unit: str) -> str:
        """unit: what a number stands in, as `INTERVAL '{}' SECOND`."""
        low = _bound(self.low, unit, "UNBOUNDED PRECEDING")
        high = _bound(self.high, unit, "UNBOUNDED FOLLOWING")
        return f"{self.unit} BETWEEN {low} AND {high}{self.exclude}"

    @property
    def ours(self) -> str:
        if self.unit == "SESSION":
            gap = _SECONDS.format(self.high)
            return f"ORDER BY ts SESSION WITH GAP {gap}{self.exclude}"
        plain, computed = (_SECONDS, _TIMES) if self.unit == "RANGE" else ("{}", "2 + {} - 1 * 2")
        return f"ORDER BY ts {self.text(computed if self.computed else plain)}"

    @property
    def theirs(self) -> str:
        if self.unit == "ROWS":
            return f"ORDER BY us, seq {self.text('{}')}"
        return f"ORDER BY us {self.text('{}000000' if self.unit == 'RANGE' else '{}')}"


_SECONDS, _TIMES = "INTERVAL '{}' SECOND", "{} * INTERVAL '1' SECOND"


def _bound(offset: int | None, unit: str, unbounded: str) -> str:
    if offset is None:
        return unbounded
    side = "PRECEDING" if offset < 0 else "FOLLOWING"
    return f"{unit.format(abs(offset))} {side}" if offset else "CURRENT ROW"


@st.composite
def frames(draw: DrawFn) -> Framed:
    unit = draw(st.sampled_from(["ROWS", "RANGE", "GROUPS", "SESSION"]))
    if unit == "SESSION":
        gap = draw(st.integers(1, 4))
        return Framed(unit, -gap, gap, draw(st.sampled_from(EXCLUDED)) if has("exclude") else "")
    if not has("frames") or draw(st.booleans()):
        return Framed(unit, -draw(st.integers(0, 8)), 0, computed=draw(st.booleans()))
    if draw(st.integers(0, 15)) == 0:
        return Framed(unit, *draw(st.sampled_from([(-1, -3), (-2, -6), (3, 1)])))
    low = draw(st.none() | st.integers(-6, 3))
    least = -6 if low is None else low
    high = draw(st.none() | st.integers(least, max(least, 5)))
    exclude = draw(st.sampled_from(EXCLUDED)) if has("exclude") else ""
    return Framed(unit, low, high, exclude)


Columns = tuple[str, str]
"""A value of the select list: ours, theirs."""


@st.composite
def framed(draw: DrawFn) -> Columns:
    keys, (call,), frame = draw(partitions()), draw(calls().map(lambda c: c[:1])), draw(frames())
    by = partitioned(keys)
    if frame.by_hand:
        return call.ours.format(over=f" OVER ({by}{frame.ours})"), _looked_up(keys, call, frame)
    overs = (f" OVER ({by}{frame.ours})", f" OVER ({by}{frame.theirs})")
    return call.ours.format(over=overs[0]), call.theirs.format(over=overs[1])


def _looked_up(keys: tuple[str, ...], call: Call, frame: Framed) -> str:
    own = " AND ".join(f"r.{key} IS NOT DISTINCT FROM o.{key}" for key in keys) or "true"
    n = f"rn{len(keys)}"
    low = "" if frame.low is None else f" AND r.{n} >= o.{n} + {frame.low}"
    high = "" if frame.high is None else f" AND r.{n} <= o.{n} + {frame.high}"
    if frame.unit == "SESSION":
        low, high = "", f" AND r.{_session(keys, frame)} = o.{_session(keys, frame)}"
    kept = {
        " EXCLUDE CURRENT ROW": " AND r.seq <> o.seq",
        " EXCLUDE GROUP": " AND r.us <> o.us",
        " EXCLUDE TIES": " AND (r.us <> o.us OR r.seq = o.seq)",
    }.get(frame.exclude, "")
    where = f"{own}{low}{high}{kept}"
    return f"(SELECT {call.theirs.format(over='')} FROM numbered r WHERE {where})"


def _session(keys: tuple[str, ...], frame: Framed) -> str:
    """The column that numbers the sessions of a partition."""
    return f"sn{len(keys)}_{frame.high}"


_BY_TIME, _BY_PLACE = "ORDER BY us", "ORDER BY us, seq"


def _analytic(function: str, order: str = _BY_PLACE, theirs_: str = "") -> Columns:
    return (
        f"{function} OVER ({{by}}ORDER BY ts)",
        f"{theirs_ or function} OVER ({{by}}{order})",
    )


ANALYTIC: list[Columns] = [
    *(_analytic(f"{name}(i, {n})") for name in ("LAG", "LEAD") for n in (1, 2)),
    _analytic("LAG(i, 1, 0)"),
    _analytic("LEAD(i, 2 * 2 - 1)"),
    _analytic("LAG(i, -1, id)"),
    _analytic("LEAD(i, -2) IGNORE NULLS", theirs_="lead(i, -2 IGNORE NULLS)"),
    _analytic("LEAD(k, 2, 'none')"),
    _analytic("LAG(i, 1) IGNORE NULLS", theirs_="lag(i, 1 IGNORE NULLS)"),
    _analytic("LEAD(i, 2) IGNORE NULLS", theirs_="lead(i, 2 IGNORE NULLS)"),
    _analytic("ROW_NUMBER()"),
    (
        "ARRAY_AGG(i) OVER ({by}ORDER BY ts DESC)",
        "coalesce(list(i ORDER BY us DESC, seq DESC) FILTER (WHERE i IS NOT NULL) "
        "OVER ({by}ORDER BY us DESC), [])",
    ),
    (
        "STRING_AGG(k, ';') OVER ({by}ORDER BY ts DESC)",
        "string_agg(k, ';' ORDER BY us DESC, seq DESC) OVER ({by}ORDER BY us DESC)",
    ),
    _analytic("NTILE(3)"),
    *(_analytic(f"{name}()", _BY_TIME) for name in ("RANK", "DENSE_RANK", "PERCENT_RANK")),
    _analytic("CUME_DIST()", _BY_TIME),
    _analytic("SUM(i)", _BY_TIME),
    _analytic("FIRST_VALUE(i)", _BY_TIME, "arg_min_null(i, (us, seq))"),
    _analytic("LAST_VALUE(k)", _BY_TIME, "arg_max_null(k, (us, seq))"),
    (
        "FIRST_VALUE(i) IGNORE NULLS OVER ({by}ORDER BY ts)",
        "arg_min_null(i, (us, seq)) FILTER (WHERE i IS NOT NULL) OVER ({by}ORDER BY us)",
    ),
    (
        "NTH_VALUE(i, 2) OVER ({by}ORDER BY ts)",
        "(list(i ORDER BY us, seq) OVER ({by}ORDER BY us))[2]",
    ),
    ("COUNT(i) OVER ({by})", "COUNT(i) OVER ({by})"),
]


KEYS: list[Columns] = [
    ("i", "i NULLS FIRST"),
    ("i DESC, k", "i DESC NULLS LAST, k NULLS FIRST"),
    ("k DESC NULLS FIRST", "k DESC NULLS FIRST"),
    ("f NULLS LAST", "f NULLS LAST"),
]
"""Keys behind event time: ours, theirs."""

_PLACED = ", seq"
ORDERED: list[tuple[str, str, str]] = [
    *((call, call, _PLACED) for call in ("LAG(id, 2)", "LEAD(i)", "ROW_NUMBER()", "NTILE(3)")),
    *((f"{name}()", f"{name}()", "") for name in ("RANK", "DENSE_RANK", "CUME_DIST")),
    ("SUM(i)", "SUM(i)", ""),
    ("FIRST_VALUE(id)", "first(id)", _PLACED),
]
"""Ours, theirs, what theirs needs behind its keys."""

_ALONE = [("i", "i NULLS FIRST"), ("i DESC", "i DESC NULLS LAST"), ("f", "f NULLS FIRST")]
_ALONG = ["RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING", "RANGE 3 PRECEDING"]


def _along(call: str, keys: Columns, frame: str) -> Columns:
    mine, theirs_ = (f"{call} OVER ({{by}}ORDER BY {key} {frame})" for key in keys)
    return mine, theirs_


DISTANT = [_along(c, k, f) for c in ("SUM(i)", "COUNT(*)") for k in _ALONE for f in _ALONG]
"""Frames with a distance along a key that is not event time."""


INSTANT: list[Columns] = [
    ("SUM(i) OVER (PARTITION BY ts)", "SUM(i) OVER (PARTITION BY us)"),
    (
        "LEAD(id) OVER (PARTITION BY ts, k ORDER BY i)",
        "LEAD(id) OVER (PARTITION BY us, k ORDER BY i NULLS FIRST, seq)",
    ),
    (
        "DENSE_RANK() OVER (PARTITION BY ts ORDER BY i DESC)",
        "DENSE_RANK() OVER (PARTITION BY us ORDER BY i DESC NULLS LAST)",
    ),
    (
        "COUNT(*) OVER (PARTITION BY ts ORDER BY k, id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
        "COUNT(*) OVER (PARTITION BY us ORDER BY k NULLS FIRST, id "
        "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    ),
]
"""Partitions of one instant."""


@st.composite
def analytic(draw: DrawFn) -> Columns:
    by = partitioned(draw(partitions()))
    if has("orders") and draw(st.booleans()):
        return draw(st.one_of(ordered(by), ordered(by), st.sampled_from(INSTANT)))
    mine, theirs_ = draw(st.sampled_from(ANALYTIC))
    return mine.format(by=by), theirs_.format(by=by)


@st.composite
def ordered(draw: DrawFn, by: str, timed: bool = True) -> Columns:
    """A call over an order whose keys begin with event time, or of those keys alone."""
    (mine, theirs_), (ours_, call, place) = (
        draw(st.sampled_from(KEYS)),
        draw(st.sampled_from(ORDERED)),
    )
    first = ("ts, ", "us, ") if timed else ("", "")
    placed = place and f"{', us' * (not timed)}{place}"
    return (
        f"{ours_} OVER ({by}ORDER BY {first[0]}{mine})",
        f"{call} OVER ({by}ORDER BY {first[1]}{theirs_}{placed})",
    )


@st.composite
def distant(draw: DrawFn, by: str) -> Columns:
    ours_, theirs_ = draw(st.sampled_from(DISTANT))
    return ours_.format(by=by), theirs_.format(by=by)


QUALIFIED: list[Columns] = [
    (
        "ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) <= 2",
        "row_number() OVER (PARTITION BY k ORDER BY us, seq) <= 2",
    ),
    ("RANK() OVER (ORDER BY ts) <= 3", "rank() OVER (ORDER BY us) <= 3"),
    (
        "COUNT(*) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '3' SECOND PRECEDING "
        "AND INTERVAL '2' SECOND FOLLOWING) > 2",
        "COUNT(*) OVER (ORDER BY us RANGE BETWEEN 3000000 PRECEDING AND 2000000 FOLLOWING) > 2",
    ),
]


@st.composite
def overs(draw: DrawFn) -> Question:
    kinds = [framed(), *([analytic()] if has("analytic") else [])]
    values = draw(st.lists(st.one_of(kinds), min_size=1, max_size=4))
    if all("DENSE_RANK() OVER (PARTITION BY ts " in mine for mine, _ in values):
        values.append(INSTANT[0])  # ranks alone are a top-n, where RETAIN n ROWS is refused
    return _over(values, draw(predicates()), draw(one_of([("", "")] * 3, qualify=QUALIFIED)))


@st.composite
def timeless(draw: DrawFn) -> Question:
    """Some of the orders do not begin with event time."""
    by = partitioned(draw(partitions()))
    first = draw(st.one_of(ordered(by, timed=False), distant(by)))
    kinds = [framed(), analytic(), ordered(by, timed=False), distant(by)]
    values = [first, *draw(st.lists(st.one_of(kinds), max_size=3))]
    return _over(values, draw(predicates()), draw(one_of([("", "")] * 3, qualify=QUALIFIED)))


def _over(values: list[Columns], where: str, qualify: Columns) -> Question:
    clauses = [f"\nQUALIFY {clause}" if clause else "" for clause in qualify]
    texts = [listed(["id", "ts"], list(side)) for side in zip(*values, strict=True)]
    keyed = {
        len(keys): f"OVER ({partitioned(keys)}{_BY_PLACE})" for keys in ((), ("k",), ("k", "b"))
    }
    numbers = ", ".join(f"row_number() {over} AS rn{n}" for n, over in keyed.items())
    named = re.findall(r"r\.sn(\d)_(\d)", texts[1])
    sessions = {(keyed[int(n)], int(gap), f"{n}_{gap}") for n, gap in named}
    begun = "".join(
        f", coalesce(us - lag(us) {over} > {gap * SECOND}, true)::INT AS bn{name}"
        for over, gap, name in sorted(sessions)
    )
    numbers += "".join(f", sum(bn{name}) {over} AS sn{name}" for over, _, name in sorted(sessions))
    select = f"SELECT {texts[0]}\nFROM s{where}{clauses[0]}"
    batch = (
        f"WITH numbered AS (SELECT *, {numbers} FROM (SELECT *{begun} FROM s{where})) "
        f"SELECT {texts[1]} FROM numbered o{clauses[1]}"
    )
    return Question(select, batch, 2)


@st.composite
def sliding(draw: DrawFn) -> Question:
    keys = draw(partitions())
    length, chosen, where = draw(st.integers(1, 8)), draw(calls()), draw(predicates())
    by, names = partitioned(keys), [*keys, "window_start", "window_end"]
    select = (
        f"SELECT {listed(names, ours(chosen))}\n"
        f"FROM s OVER ({by}ORDER BY ts RANGE INTERVAL '{length}' SECOND PRECEDING){where}"
    )
    over = f" OVER ({by}ORDER BY us RANGE {length * SECOND} PRECEDING)"
    bounds = [*keys, f"make_timestamptz(us - {length * SECOND})", "make_timestamptz(us)"]
    batch = f"SELECT DISTINCT {listed(bounds, theirs(chosen, over))} FROM s{where}"
    return Question(select, batch, len(names))


ORDERS: list[Columns] = [
    ("i DESC", "i DESC NULLS LAST"),
    ("f", "f NULLS FIRST"),
    ("d DESC NULLS FIRST, k", "d DESC NULLS FIRST, k NULLS FIRST"),
    ("ts DESC", "us DESC"),
]


@st.composite
def tops(draw: DrawFn) -> Question:
    """The first rows of each key in an order that is not event time; ties by position."""
    by, where = partitioned(draw(partitions())), draw(predicates())
    (mine, theirs_), limit = draw(st.sampled_from(ORDERS)), draw(st.integers(1, 3))
    function = draw(st.sampled_from(["ROW_NUMBER()", "RANK()", "DENSE_RANK()"]))
    ties = ", us, seq" if function == "ROW_NUMBER()" else ""
    made = "SELECT id, k, i, {} OVER ({}ORDER BY {}) AS rn FROM s{}"
    texts = [made.format(function, by, order, where) for order in (mine, theirs_ + ties)]
    case = [f"SELECT id, k, i, rn FROM ({text}) WHERE rn <= {limit}" for text in texts]
    return Question(case[0], case[1], 1)
