"""Random joins of the streams `l` and `r`, each with the same question to DuckDB.

There `us` is the event time, `seq` the position, by which ties go, and `pos` the number of
a message. Nothing expires: event times lie 40 s apart at most, and RETAIN is an hour, or a
question says how late a row may be.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

KINDS = ("INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
DECLARED = "CREATE {what} {name} (id BIGINT, k STRING, i BIGINT, b BOOLEAN, ts TIMESTAMP{more});\n"
KEYS = ("l.k = r.k", "l.b = r.b")
RESIDUALS = ("", "", " AND l.i <= r.i", " AND l.i + r.i > 0 AND l.b", " AND r.i > 0")
OFTEN = ("", "EMIT EARLY EVERY 1 SECOND ", "EMIT EARLY EVERY 10 SECONDS ")
POLICIES = (*OFTEN, "EMIT EARLY ON UPDATE ", "EMIT CHANGES ", "EMIT LATE EVERY 3 SECONDS ",
            "EMIT EARLY EVERY 5 SECONDS LATE EVERY 7 SECONDS ")  # fmt: skip
OPS = (">=", ">", "<=", "<")
SECOND = 1_000_000


@dataclass(frozen=True)
class JoinQuestion:
    """text: the script. batch: for DuckDB over `l` and `r`. itself: both are the stream `s`.

    rising: messages are numbered. replays: streams declare an OFFSET. table: `r` is static.
    late: seconds that a row may be behind what came before it; None for any.
    streams: those that are read.
    """

    text: str
    batch: str
    itself: bool = False
    rising: bool = False
    replays: bool = False
    table: bool = False
    late: int | None = None
    streams: tuple[str, ...] = ("l", "r")


@dataclass(frozen=True)
class Parts:
    """source: FROM up to the condition, with `{kind}`. on: what sqlwin is told, and DuckDB.

    keys: how many of KEYS the condition may have. late: see JoinQuestion, less the delay.
    """

    kinds: tuple[str, ...]
    source: str
    on: str
    batch_on: str
    policies: tuple[str, ...] = POLICIES
    retain: str = "RETAIN 1 HOUR"
    rising: bool = False
    table: bool = False
    keys: tuple[int, ...] = (0, 1, 1, 1, 2)
    batch_source: str = "l {kind} JOIN r"
    late: int | None = None


def questions() -> SearchStrategy[JoinQuestion]:
    parts = [_windows(), _interval(), _within(), _rows(), _sessions(), st.just(STATIC)]
    return st.one_of([*map(_case, parts), _asof()])


@st.composite
def _case(draw: DrawFn, parts: SearchStrategy[Parts]) -> JoinQuestion:
    made = draw(parts)
    kind = draw(st.sampled_from(made.kinds))
    keys = KEYS[: draw(st.sampled_from(made.keys))]
    residual = draw(st.sampled_from(RESIDUALS))
    above = draw(st.sampled_from(_above(kind)))
    on = " AND ".join([*keys, *([made.on] if made.on else [])]) or "TRUE"
    batch_on = " AND ".join([*keys, *([made.batch_on] if made.batch_on else [])]) or "TRUE"
    shown = _shown(kind)
    text = (
        f"SELECT {shown}\nFROM {made.source.format(kind=kind)} ON {on}{residual}{above}\n"
        f"{draw(st.sampled_from(made.policies))}{made.retain}"
    )
    source = made.batch_source.format(kind=kind)
    batch = f"SELECT {shown} FROM {source} ON {batch_on}{residual}{above}"
    itself = not made.table and draw(st.sampled_from([False, False, True]))
    return _declared(draw, text, batch, itself, made)


def _declared(draw: DrawFn, text: str, batch: str, itself: bool, made: Parts) -> JoinQuestion:
    rising, table = made.rising, made.table
    replays, delay = draw(st.booleans()), 0 if rising else draw(st.integers(0, 5))
    timed = f", WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND"
    more = timed + (", OFFSET id" if replays else "")
    declared = [DECLARED.format(what="STREAM", name="s" if itself else "l", more=more)]
    if not itself:
        what = "TABLE" if table else "STREAM"
        declared.append(DECLARED.format(what=what, name="r", more="" if table else more))
    if itself:
        text = text.replace("FROM l", "FROM s", 1)
        text = text.replace("JOIN r", "JOIN s", 1).replace("FROM r", "FROM s", 1)
    late = None if made.late is None else made.late + delay
    ours = "".join(declared) + _aliased(text, itself)
    return JoinQuestion(ours, batch, itself, rising, replays, table, late)


def _aliased(text: str, itself: bool) -> str:
    """Both inputs need a name where they are one stream."""
    return text.replace("{l}", " l" if itself else "").replace("{r}", " r" if itself else "")


def _shown(kind: str) -> str:
    left = "l.id AS lid, l.k AS lk, l.i AS li"
    return left if kind in ("SEMI", "ANTI") else f"{left}, r.id AS rid, r.i AS ri"


def _above(kind: str) -> list[str]:
    """Conditions on the joined rows; in the batch they stand at the same place."""
    own = ["", "", " WHERE l.i > 0", " WHERE l.i IS NULL OR l.i < 2"]
    if kind in ("SEMI", "ANTI"):
        return own
    return [*own, " WHERE r.i IS NULL", " WHERE coalesce(l.i, 0) <= coalesce(r.i, 1)"]


# --- what lies near enough ---------------------------------------------------------------


@st.composite
def _windows(draw: DrawFn) -> Parts:
    left, right = (draw(st.none() | st.integers(0, 20)) for _ in "lr")
    source = f"l{_over(left)}{{{{l}}}} {{kind}} JOIN r{_over(right)}{{{{r}}}}"
    return Parts(KINDS, source, "", _apart("us", right, left, SECOND))


def _over(seconds: int | None) -> str:
    return "" if seconds is None else f" OVER (ORDER BY ts RANGE '{seconds}' SECOND PRECEDING)"


def _apart(at: str, before: int | None, after: int | None, unit: int) -> str:
    parts = [] if before is None else [f"r.{at} - l.{at} >= {-before * unit}"]
    parts += [] if after is None else [f"r.{at} - l.{at} <= {after * unit}"]
    return " AND ".join(parts)


@st.composite
def _interval(draw: DrawFn) -> Parts:
    parts = []
    for ops in ((">", ">="), ("<", "<=")):
        if draw(st.sampled_from([True, True, False])):
            by = draw(st.integers(-12, 12))
            sign = "-" if by < 0 else "+"
            op = draw(st.sampled_from(ops))
            parts.append((op, f"r.ts {op} l.ts {sign} INTERVAL '{abs(by)}' SECOND", by))
    on = " AND ".join(text for _, text, _ in parts)
    batch = " AND ".join(f"r.us - l.us {op} {by * SECOND}" for op, _, by in parts)
    lows = [by + (op == ">") / SECOND for op, _, by in parts if op[0] == ">"]
    highs = [by - (op == "<") / SECOND for op, _, by in parts if op[0] == "<"]
    if lows and highs and lows[0] > highs[0]:  # refused: it leaves no time
        on = batch = ""
    return Parts(KINDS, "l{{l}} {kind} JOIN r{{r}}", on, batch)


@st.composite
def _within(draw: DrawFn) -> Parts:
    before, after = draw(st.integers(0, 15)), draw(st.integers(0, 15))
    source = f"l{{{{l}}}} {{kind}} JOIN r{{{{r}}}} WITHIN ({before} SECONDS, {after} SECONDS)"
    kept = draw(st.sampled_from(["RETAIN 1 HOUR", "GRACE"]))
    grace = " GRACE PERIOD 1 HOUR" if kept == "GRACE" else ""
    retain = "" if kept == "GRACE" else kept
    return Parts(KINDS, source + grace, "", _apart("us", before, after, SECOND), retain=retain)


@st.composite
def _rows(draw: DrawFn) -> Parts:
    left, right = draw(st.none() | st.integers(1, 6)), draw(st.integers(1, 6))
    near = _apart("pos", right - 1, None if left is None else left - 1, 1)
    windows = ["" if n is None else f" OVER (ROWS {n} PRECEDING)" for n in (left, right)]
    if draw(st.booleans()):
        drawn = [("", "l.pos <= n") if left is None else draw(_stepped("l")), draw(_stepped("r"))]
        windows = [window for window, _ in drawn]
        near = f"len(list_filter(range(100), lambda n: {drawn[0][1]} AND {drawn[1][1]})) > 0"
    source = "l{}{{{{l}}}} {{kind}} JOIN r{}{{{{r}}}}".format(*windows)
    return Parts(KINDS, source, "", near, OFTEN, retain="", rising=True)


@st.composite
def _stepped(draw: DrawFn, name: str) -> tuple[str, str]:
    """A window in ROWS that advances, and whether it holds a row at the number `n`."""
    step = draw(st.integers(1, 4))
    size = draw(st.integers(step, 6))
    moved, row = f"n - n % {step}", f"{name}.pos"
    window = f" OVER (ROWS {size} PRECEDING ADVANCE BY {step} ROWS)"
    return window, f"{row} <= {moved} AND {moved} < {row} + {size}"


@st.composite
def _sessions(draw: DrawFn) -> Parts:
    """Rows of overlapping sessions; to DuckDB those are gaps and islands, and two bounds.

    Of one side they may be rows in no session, at their instants.
    """
    keyed, keys = draw(st.sampled_from([(("k",), (1, 1, 2)), (("b",), (2,)), (("k", "b"), (2,))]))
    alone = draw(st.sampled_from(["", "", "l", "r"]))
    (left, of_l), (right, of_r) = (
        draw(_of_instants(name) if name == alone else _of_sessions(name, keyed)) for name in "lr"
    )
    late = draw(st.none() | st.integers(0, 12))
    return Parts(
        KINDS,
        f"{left} {{kind}} JOIN {right}",
        "",
        "l.w < r.e AND r.w < l.e",
        retain="RETAIN 1 HOUR" if late is None else f"RETAIN {late} SECONDS",
        keys=keys,
        batch_source=f"{of_l} l {{kind}} JOIN {of_r} r",
        late=late,
    )


@st.composite
def _of_sessions(draw: DrawFn, name: str, keyed: tuple[str, ...]) -> tuple[str, str]:
    """The rows of a stream as sqlwin is told, and for DuckDB with the bounds of their session."""
    gap, where = draw(st.integers(1, 9)), draw(st.sampled_from(["", "", " WHERE i <> 1"]))
    of_row = draw(st.sampled_from([None, None, 1, 12]))
    told, length = f"INTERVAL '{gap}' SECOND", str(gap)
    if of_row is not None:
        told = f"(CASE WHEN i > 0 THEN '{of_row} seconds' ELSE '{gap} seconds' END)"
        length = f"CASE WHEN i > 0 THEN {of_row} ELSE {gap} END"
    rows = f"(SELECT * FROM {name}{where})" if where else name
    own = ", ".join(draw(st.permutations(keyed)))
    ours = f"{rows} OVER (PARTITION BY {own} ORDER BY ts SESSION {told} GAP)"
    theirs = islands(f"{name}{where}", own, length)
    return ours + (f" {name}" if where else f"{{{{{name}}}}}"), theirs


@st.composite
def _of_instants(draw: DrawFn, name: str) -> tuple[str, str]:
    """The same of rows that are in no session."""
    window = draw(st.sampled_from(["", " [NOW]"]))
    return f"{name}{window}{{{{{name}}}}}", f"(SELECT *, us AS w, us + 1 AS e FROM {name})"


def islands(rows: str, own: str, seconds: str) -> str:
    """A query of the rows, with the bounds `w` and `e` of the session of `own` that each is in.

    rows: what follows FROM, with an instant `us`. seconds: how long each goes on.
    """
    before = f"OVER (PARTITION BY {own} ORDER BY us RANGE BETWEEN UNBOUNDED PRECEDING AND"
    return (
        f"(SELECT *, min(us) OVER island AS w, max(reach) OVER island AS e FROM (SELECT *, "
        f"sum(new::INT) {before} CURRENT ROW) AS n_ FROM (SELECT *, "
        f"coalesce(us > max(reach) {before} 1 PRECEDING), true) AS new FROM (SELECT *, "
        f"us + {SECOND} * {seconds} AS reach FROM {rows}))) "
        f"WINDOW island AS (PARTITION BY {own}, n_))"
    )


STATIC = Parts(
    ("INNER", "LEFT", "SEMI", "ANTI"), "l {kind} JOIN r", "", "", OFTEN, retain="", table=True
)


@st.composite
def _asof(draw: DrawFn) -> JoinQuestion:
    kind, how = draw(st.sampled_from(["", "LEFT "])), draw(st.sampled_from([*OPS, "version"]))
    versioned, op = how == "version", ">=" if how == "version" else how
    keys = " AND ".join(KEYS[: draw(st.sampled_from([1, 1, 2]))])
    shown, above = _shown("LEFT"), draw(st.sampled_from(_above("LEFT")))
    itself, policy = draw(st.booleans()), draw(st.sampled_from(POLICIES))
    source = (
        f"l{{l}} {kind}JOIN r FOR SYSTEM_TIME AS OF l.ts{{r}} ON {keys}"
        if versioned
        else f"l{{l}} {kind}ASOF JOIN r{{r}} MATCH_CONDITION (l.ts {op} r.ts) ON {keys}"
    )
    text = f"SELECT {shown}\nFROM {source}{above}\n{policy}RETAIN 1 HOUR"
    way = "DESC" if op[0] == ">" else "ASC"
    nearest = (
        f"SELECT * FROM r WHERE {keys} AND l.us {op} r.us ORDER BY r.us {way}, r.seq {way} LIMIT 1"
    )
    batch = f"SELECT {shown} FROM l {kind or 'INNER '}JOIN LATERAL ({nearest}) r ON TRUE{above}"
    return _declared(draw, text, batch, itself, Parts((), "", "", ""))
