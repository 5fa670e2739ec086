"""What DuckDB says of OVER."""

from __future__ import annotations

from typing import Any

import duckdb
import polars as pl
from hypothesis import strategies as st

from sqlwin.schema import ROW_KEY, SEQ, Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame
from tests.support.operators.overs import PARTITIONS, Called, Keys, windows

QUESTIONS = {
    "count": "count(*) OVER {over}",
    "sum": "sum(v) OVER {over}",
    "distinct": "count(DISTINCT v) OVER {over}",
    "first": "first(v ORDER BY {place}) OVER {over}",
    "list": "list(v ORDER BY {place}) FILTER (WHERE v IS NOT NULL) OVER {over}",
}


@st.composite
def called(draw: st.DrawFn) -> list[Called]:
    names = st.sampled_from(list(QUESTIONS))
    made = st.tuples(names, PARTITIONS, windows().filter(lambda window: _decided(window[0])))
    return [
        (name, by, *window) for name, by, window in draw(st.lists(made, min_size=1, max_size=3))
    ]


def _decided(frame: Frame) -> bool:
    """DuckDB orders by ts for who is a peer, and by ts and seq for who comes first: not by both."""
    peers = frame.exclude in (Exclude.GROUP, Exclude.TIES)
    return frame.unit in (Unit.RANGE, Unit.SESSION) or not peers


def numbered(last: pl.DataFrame) -> pl.DataFrame:
    number = pl.col(ROW_KEY).str.extract(r"(\d+)\]$").cast(pl.Int64).alias(SEQ)
    return last.select(number, pl.selectors.starts_with("a"))


def answers(calls: list[Called], rows: list[tuple[Any, ...]]) -> list[tuple[int, tuple[Any, ...]]]:
    operator = ", ".join(_question(*call) for call in calls)
    with duckdb.connect(config={"threads": 1}) as con:
        con.execute("CREATE TABLE s (k TEXT, j BIGINT, v BIGINT, ts BIGINT, part INT, seq BIGINT)")
        if rows:
            con.executemany("INSERT INTO s VALUES (?, ?, ?, ?, ?, ?)", rows)
        numbered = "".join(f", {_session(*gap)} AS {_number(*gap)}" for gap in _gaps(calls))
        begun = f"SELECT *{numbered} FROM ({_begun(calls)})"
        answer = con.sql(f"WITH o AS ({begun}) SELECT seq, {operator} FROM o").fetchall()
    lists = [name == "list" for name, *_ in calls]
    return [
        (seq, tuple(v or [] if is_list else v for v, is_list in zip(values, lists, strict=True)))
        for seq, *values in answer
    ]


def _question(
    name: str, partition: tuple[str, ...], frame: Frame, keys: Keys = (), timed: bool = True
) -> str:
    by = _by(partition)
    if frame.unit is Unit.SESSION:
        return _of_session(name, partition, frame, keys)
    time = ", ".join((*(["ts"] if timed else []), *map(_key, keys)))
    place = f"{time}, ts, seq"
    order = place if frame.unit is Unit.ROWS else time
    peers = len(keys) + timed > 1 and frame.unit is Unit.RANGE
    unit = "GROUPS" if peers else frame.unit.value
    bounds = (
        f"{_bound(frame.preceding, 'PRECEDING', 'FOLLOWING')} AND "
        f"{_bound(frame.following, 'FOLLOWING', 'PRECEDING')}"
    )
    framed = f"{unit} BETWEEN {bounds} EXCLUDE {frame.exclude.value}"
    return QUESTIONS[name].format(over=f"({by}ORDER BY {order} {framed})", place=place)


Gap = tuple[tuple[str, ...], int]


def _gaps(calls: list[Called]) -> list[Gap]:
    """Partitions and gaps of the sessions among the frames."""
    made = ((by, frame) for _, by, frame, *_ in calls)
    return list(dict.fromkeys((by, f.preceding or 0) for by, f in made if f.unit is Unit.SESSION))


def _begun(calls: list[Called]) -> str:
    """Rows with whether they begin a session."""
    begins = (
        f", coalesce(ts - lag(ts) OVER ({_by(by)}ORDER BY ts, seq) > {gap}, true)::INT "
        f"AS b{_number(by, gap)}"
        for by, gap in _gaps(calls)
    )
    return f"SELECT *{''.join(begins)} FROM s"


def _session(by: tuple[str, ...], gap: int) -> str:
    return f"sum(b{_number(by, gap)}) OVER ({_by(by)}ORDER BY ts, seq)"


def _number(by: tuple[str, ...], gap: int) -> str:
    return f"g{''.join(by)}{gap}"


def _by(partition: tuple[str, ...]) -> str:
    return f"PARTITION BY {', '.join(partition)} " if partition else ""


def _of_session(name: str, partition: tuple[str, ...], frame: Frame, keys: Keys) -> str:
    number = _number(partition, frame.preceding or 0)
    by = (*partition, number)
    place = ", ".join((*("ts", *map(_key, keys)), "seq"))
    own = " AND ".join(f"r.{key} IS NOT DISTINCT FROM o.{key}" for key in by)
    equal = ("ts", *(key.column for key in keys))
    peer = " AND ".join(f"r.{key} IS NOT DISTINCT FROM o.{key}" for key in equal)
    kept = {
        Exclude.NO_OTHERS: "true",
        Exclude.CURRENT_ROW: "r.seq <> o.seq",
        Exclude.GROUP: f"NOT ({peer})",
        Exclude.TIES: f"(r.seq = o.seq OR NOT ({peer}))",
    }[frame.exclude]
    call = QUESTIONS[name].format(over="", place=place).removesuffix(" OVER ")
    return f"(SELECT {call} FROM o r WHERE {own} AND {kept})"


def _key(key: Order) -> str:
    down = " DESC" if key.descending else " ASC"
    return f"{key.column}{down} NULLS {'LAST' if key.nulls_last else 'FIRST'}"


def _bound(length: int | None, own: str, other: str) -> str:
    if length is None:
        return f"UNBOUNDED {own}"
    return f"{abs(length)} {own if length >= 0 else other}"
