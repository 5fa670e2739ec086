"""Random joins above windows, above joins and below windows, over the streams `l`, `r`, `z`.

What is joined has corrections of its own: windows emitted early and late, pairs of a join that
are retracted. The join above is to end up as if they had been emitted once. A side has the
columns `k`, `ws`, `we`, `n`, `x` to sqlwin and to DuckDB alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.properties.query_groups import HAVINGS, Windowed, of_groups, windowed
from tests.properties.query_joins import DECLARED, KINDS, OPS, POLICIES, JoinQuestion, islands
from tests.properties.query_policies import by_hours

WHERES = ("", "", " WHERE i > 0", " WHERE b")
HINTS = ("", "", "/*+ JOIN_WINDOW('small') */ ", "/*+ JOIN_WINDOW('large') */ ")
HOUR = "RETAIN 1 HOUR"
RETAINED = (HOUR, "RETAIN 1 HOUR OR 100000 ROWS")
"""Of a join whose inputs all have an event time."""
OUTGROWN = " HAVING COUNT(*) < 3"
"""What an early revision passes and a later one does not: the group is retracted."""


@dataclass(frozen=True)
class Side:
    """stream: what it is made of. ours: with its policies."""

    stream: str
    ours: str
    theirs: str

    def named(self, name: str) -> tuple[str, str]:
        return f"({self.ours}) {name}", f"({self.theirs}) {name}"


def chained() -> SearchStrategy[JoinQuestion]:
    timed = (_same_windows(), _with_windows(), _asof_windows(), three(), _windows_above())
    return st.one_of(*timed, _without_time(), _above_full(), numbered(), in_sessions())


@st.composite
def _side(draw: DrawFn, window: Windowed, stream: str) -> Side:
    """Groups of windows, or the rows that lie in them."""
    where, having = draw(st.sampled_from(WHERES)), draw(st.sampled_from((*HAVINGS, OUTGROWN)))
    grouped = bool(window.there) or draw(st.sampled_from([True, True, False]))
    made = "COUNT(*) AS n, SUM(i) AS x" if grouped else "id AS n, i AS x"
    source = window.source.replace("TABLE s,", f"TABLE {stream},")
    rows = window.unnested.format(where=where).replace("FROM s", f"FROM {stream}")
    first, last = window.bounds
    made_by = f" GROUP BY k, window_start, window_end{having}\n{draw(by_hours())}"
    return Side(
        stream,
        f"SELECT k, window_start AS ws, window_end AS we, {made} FROM {source}{where}"
        f"{made_by if grouped else ''}",
        f"SELECT k, {first} AS ws, {last} AS we, {made} FROM ({rows})"
        f"{f' GROUP BY k, w, e{window.having(having)}' if grouped else ''}",
    )


@st.composite
def _same_windows(draw: DrawFn) -> JoinQuestion:
    window, kind = draw(of_groups()), draw(st.sampled_from(KINDS))
    a, b = draw(_side(window, "l")), draw(_side(window, draw(st.sampled_from("rrl"))))
    ours, theirs = (
        f"FROM {left} {kind} JOIN {right} ON a.k = b.k AND a.ws = b.ws AND a.we = b.we"
        for left, right in zip(a.named("a"), b.named("b"), strict=True)
    )
    residual = draw(st.sampled_from(["", "", " AND a.x <= b.x", " AND a.n >= b.n"]))
    shown = _columns(kind, "k ws we n x")
    return _drawn(
        draw, shown, ours + residual, theirs + residual, a.stream, b.stream, kept=RETAINED
    )


@st.composite
def _with_windows(draw: DrawFn) -> JoinQuestion:
    """A stream with windows, on either side."""
    kind, first = draw(st.sampled_from(KINDS)), draw(st.booleans())
    side = draw(_side(draw(windowed()), draw(st.sampled_from("rrl"))))
    stream, made = ("a", "b") if first else ("b", "a")
    back, ahead = draw(st.integers(0, 15)), draw(st.integers(0, 5))
    near = f"{made}.we - INTERVAL '{back}' SECOND AND {made}.we + INTERVAL '{ahead}' SECOND"
    more = ["", "", f" AND {stream}.i <= {made}.x", f" AND {stream}.i >= {made}.n"]
    on = f"ON a.k = b.k AND {stream}.ts BETWEEN {near}{draw(st.sampled_from(more))}"
    ours, theirs = (
        f"FROM l a {kind} JOIN {made_by} {on}" if first else f"FROM {made_by} {kind} JOIN l b {on}"
        for made_by in side.named(made)
    )
    of = {stream: "id i", made: "ws we n x"}
    shown = _columns(kind, of["a"], of["b"])
    return _drawn(draw, shown, ours, theirs, "l", side.stream, kept=RETAINED)


@st.composite
def _asof_windows(draw: DrawFn) -> JoinQuestion:
    kind, op = draw(st.sampled_from(["", "LEFT "])), draw(st.sampled_from(OPS))
    grouped = _side(draw(windowed()), draw(st.sampled_from("rrl")))
    side = draw(grouped.filter(lambda side: "GROUP BY" in side.ours))
    made_by, batch = side.named("b")
    ours = f"FROM l a {kind}ASOF JOIN {made_by} MATCH_CONDITION (a.ts {op} b.we) ON a.k = b.k"
    theirs = f"FROM l a ASOF {kind}JOIN {batch} ON a.k = b.k AND a.ts {op} b.we"
    return _drawn(draw, _columns("LEFT", "id", "ws we n x"), ours, theirs, "l", side.stream)


@st.composite
def in_sessions(draw: DrawFn) -> JoinQuestion:
    """Sessions of windows, by their ends, with those of others or of a stream."""
    kind, plain = draw(st.sampled_from(KINDS)), draw(st.sampled_from(["", "", "a", "b"]))
    streams = {"a": "l", "b": draw(st.sampled_from("rrl"))}
    keys, ours, theirs = draw(st.sampled_from(["k", "k", "k, n"])), [], []
    for name, stream in streams.items():
        side = Side(stream, f"SELECT k, ts AS we, i AS n, id AS x FROM {stream}", "")
        side = replace(side, theirs=side.ours)
        if name != plain:
            side = draw(_side(draw(windowed()), stream))
        gap = draw(st.integers(1, 25))
        over = f"OVER (PARTITION BY {keys} ORDER BY we SESSION INTERVAL '{gap}' SECOND GAP)"
        ours.append(f"({side.ours}) {over} {name}")
        timed = f"(SELECT *, epoch_us(we) AS us FROM ({side.theirs}))"
        theirs.append(f"{islands(timed, keys, str(gap))} {name}")
    equal = " AND ".join(f"a.{key} = b.{key}" for key in keys.split(", "))
    on = f"ON {equal}" + draw(st.sampled_from(("", "", " AND a.x <= b.x", " AND a.n = b.n")))
    source = f"FROM {ours[0]} {kind} JOIN {ours[1]} {on}"
    batch = f"FROM {theirs[0]} {kind} JOIN {theirs[1]} {on} AND a.w < b.e AND b.w < a.e"
    return _drawn(draw, _columns(kind, "k we n x"), source, batch, *streams.values())


@st.composite
def three(draw: DrawFn) -> JoinQuestion:
    """By times that are not padded: the next join needs one."""
    one = draw(st.sampled_from([kind for kind in KINDS if kind != "FULL"]))
    two = draw(st.sampled_from(KINDS))
    by = draw(st.sampled_from({"INNER": "ab", "RIGHT": "b"}.get(one, "a")))
    first = _near(draw, "a", "b", ["", "", " AND a.i <= b.i"])
    second = _near(draw, by, "c", ["", "", " AND c.i > 0", f" AND {by}.i <= c.i"])
    source = f"FROM l a {one} JOIN r b ON {first} {two} JOIN z c ON {second}"
    shown = _columns(one, "id") + ([] if two in ("SEMI", "ANTI") else ["c.id AS cid"])
    return _drawn(draw, shown, source, source, "l", "r", "z", kept=RETAINED)


@st.composite
def _without_time(draw: DrawFn) -> JoinQuestion:
    """A stream with groups of no window, on either side: RETAIN is of the stream alone."""
    kind, first = draw(st.sampled_from(KINDS)), draw(st.booleans())
    where, having = draw(st.sampled_from(WHERES)), draw(st.sampled_from(("", OUTGROWN)))
    groups = f"(SELECT k, COUNT(*) AS n, SUM(i) AS x FROM r{where} GROUP BY k{having})"
    of = {"a": "id i", "b": "n x"} if first else {"a": "n x", "b": "id i"}
    more = draw(st.sampled_from(["", "", f" AND {'a.i <= b.x' if first else 'a.x <= b.i'}"]))
    source = f"FROM l a {kind} JOIN {groups} b" if first else f"FROM {groups} a {kind} JOIN l b"
    source += f" ON a.k = b.k{more}"
    return _drawn(draw, _columns(kind, of["a"], of["b"]), source, source, "l", "r")


@st.composite
def _above_full(draw: DrawFn) -> JoinQuestion:
    """What a FULL join pads has no event time."""
    kind = draw(st.sampled_from(KINDS))
    first = _near(draw, "a", "b", ["", "", " AND a.i <= b.i"])
    source = f"FROM l a FULL JOIN r b ON {first} {kind} JOIN z c ON COALESCE(a.k, b.k) = c.k"
    shown = ["a.id AS aid", "b.id AS bid"] + ([] if kind in ("SEMI", "ANTI") else ["c.id AS cid"])
    return _drawn(draw, shown, source, source, "l", "r", "z")


@st.composite
def numbered(draw: DrawFn) -> JoinQuestion:
    """Windows in ROWS of windows of time, one row of each, by their ends; or of one such side and
    the messages of a stream."""
    kind, plain = draw(st.sampled_from(KINDS)), draw(st.sampled_from(["", "", "a", "b"]))
    streams = {"a": "l", "b": "r" if plain else draw(st.sampled_from("rrl"))}
    rows = [draw(st.sampled_from([None, 1, 2, 3])) for _ in "ab"]
    rows[draw(st.integers(0, 1))] = draw(st.integers(1, 3))
    ours, theirs = [], []
    for (name, stream), size in zip(streams.items(), rows, strict=True):
        over = "" if size is None else f" OVER (ROWS {size} PRECEDING)"
        if name == plain:
            ours.append(f"{stream}{over} {name}")
            theirs.append(f"{stream} {name}")
            continue
        side = draw(_in_order(draw(windowed()), stream))
        ours.append(f"({side.ours}) {name}{over}")
        theirs.append(
            f"(SELECT *, ROW_NUMBER() OVER (ORDER BY we) AS pos FROM ({side.theirs})) {name}"
        )
    values = ["i" if name == plain else "x" for name in streams]
    compared = ("", " AND a.{} <= b.{}", " AND a.{} = b.{}")
    on = "ON TRUE" + draw(st.sampled_from(compared)).format(*values)
    behind = "" if rows[1] is None else f" AND b.pos - a.pos >= {1 - rows[1]}"
    ahead = "" if rows[0] is None else f" AND b.pos - a.pos <= {rows[0] - 1}"
    source = f"FROM {ours[0]} {kind} JOIN {ours[1]} {on}"
    batch = f"FROM {theirs[0]} {kind} JOIN {theirs[1]} {on}{behind}{ahead}"
    of = {name: "id i" if name == plain else "we n x" for name in streams}
    case = _drawn(draw, _columns(kind, of["a"], of["b"]), source, batch, *streams.values())
    return replace(case, rising=True)


@st.composite
def _in_order(draw: DrawFn, window: Windowed, stream: str) -> Side:
    """A row of each window."""
    where, having = draw(st.sampled_from(WHERES)), draw(st.sampled_from((*HAVINGS, OUTGROWN)))
    source = window.source.replace("TABLE s,", f"TABLE {stream},")
    rows = window.unnested.format(where=where).replace("FROM s", f"FROM {stream}")
    made = f"{window.bounds[1]} AS we, COUNT(*) AS n, SUM(i) AS x"
    return Side(
        stream,
        f"SELECT window_end AS we, COUNT(*) AS n, SUM(i) AS x FROM {source}{where} "
        f"GROUP BY window_start, window_end{having}\n{draw(by_hours())}",
        f"SELECT {made} FROM ({rows}) GROUP BY w, e{having}",
    )


def _near(draw: DrawFn, one: str, other: str, more: list[str]) -> str:
    back, ahead = draw(st.integers(0, 20)), draw(st.integers(0, 20))
    reach = f"{one}.ts - INTERVAL '{back}' SECOND AND {one}.ts + INTERVAL '{ahead}' SECOND"
    residual = draw(st.sampled_from(more))
    return f"{one}.k = {other}.k AND {other}.ts BETWEEN {reach}{residual}"


@st.composite
def _windows_above(draw: DrawFn) -> JoinQuestion:
    """Windows over pairs of windows; one of the two sides may be missing."""
    below, above = draw(windowed()), draw(windowed())
    kind = draw(st.sampled_from([kind for kind in KINDS if kind != "FULL"]))
    a, b = draw(_side(below, "l")), draw(_side(below, "r"))
    own, other = ("b", "a") if kind == "RIGHT" else ("a", "b")
    value = f"{own}.x" if kind in ("SEMI", "ANTI") else f"{other}.x"
    pairs, batch = (
        f"SELECT {own}.k AS k, {own}.we AS we, {own}.n AS n, {value} AS x FROM {left} "
        f"{kind} JOIN {right} ON a.k = b.k AND a.ws = b.ws AND a.we = b.we"
        for left, right in zip(a.named("a"), b.named("b"), strict=True)
    )
    pairs += f"\n{draw(st.sampled_from(POLICIES))}{HOUR}"
    made = "COUNT(*) AS c, SUM(n) AS s, MAX(x) AS m"
    source = above.source.replace("TABLE s, DESCRIPTOR(ts)", f"TABLE ({pairs}), DESCRIPTOR(we)")
    timed = f"(SELECT *, epoch_us(we) AS us FROM ({batch}))"
    rows = above.unnested.format(where="").replace("FROM s", f"FROM {timed}")
    text = (
        f"SELECT window_start, window_end, {made}\nFROM {source}\n"
        f"GROUP BY window_start, window_end\n{draw(by_hours())}"
    )
    answer = f"SELECT {', '.join(above.bounds)}, {made} FROM ({rows}) GROUP BY w, e"
    return _declared(draw, text, answer, "l", "r")


def _columns(kind: str, left: str, right: str | None = None) -> list[str]:
    of = {"a": left} if kind in ("SEMI", "ANTI") else {"a": left, "b": right or left}
    return [f"{side}.{name} AS {side}{name}" for side in of for name in of[side].split()]


def _drawn(
    draw: DrawFn,
    shown: list[str],
    ours: str,
    theirs: str,
    *streams: str,
    kept: tuple[str, ...] = (HOUR,),
) -> JoinQuestion:
    hint, policy = draw(st.sampled_from(HINTS)), draw(st.sampled_from(POLICIES))
    text = f"SELECT {hint}{', '.join(shown)}\n{ours}\n{policy}{draw(st.sampled_from(kept))}"
    return _declared(draw, text, f"SELECT {', '.join(shown)} {theirs}", *streams)


def _declared(draw: DrawFn, text: str, batch: str, *streams: str) -> JoinQuestion:
    names = tuple(sorted(set(streams)))
    replays, delay = draw(st.booleans()), draw(st.integers(0, 5))
    more = f", WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND" + ", OFFSET id" * replays
    declared = [DECLARED.format(what="STREAM", name=name, more=more) for name in names]
    return JoinQuestion("".join(declared) + text, batch, replays=replays, streams=names)
