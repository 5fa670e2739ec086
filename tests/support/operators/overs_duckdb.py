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
    return frame.unit is Unit.RANGE or not peers


def numbered(last: pl.DataFrame) -> pl.DataFrame:
    number = pl.col(ROW_KEY).str.extract(r"(\d+)\]$").cast(pl.Int64).alias(SEQ)
    return last.select(number, pl.selectors.starts_with("a"))


def answers(calls: list[Called], rows: list[tuple[Any, ...]]) -> list[tuple[int, tuple[Any, ...]]]:
    operator = ", ".join(_question(*call) for call in calls)
    with duckdb.connect(config={"threads": 1}) as con:
        con.execute("CREATE TABLE s (k TEXT, j BIGINT, v BIGINT, ts BIGINT, part INT, seq BIGINT)")
        if rows:
            con.executemany("INSERT INTO s VALUES (?, ?, ?, ?, ?, ?)", rows)
        answer = con.sql(f"SELECT seq, {operator} FROM s").fetchall()
    lists = [name == "list" for name, *_ in calls]
    return [
        (seq, tuple(v or [] if is_list else v for v, is_list in zip(values, lists, strict=True)))
        for seq, *values in answer
    ]


def _question(
    name: str, partition: tuple[str, ...], frame: Frame, keys: Keys = (), timed: bool = True
) -> str:
    by = f"PARTITION BY {', '.join(partition)} " if partition else ""
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


def _key(key: Order) -> str:
    down = " DESC" if key.descending else " ASC"
    return f"{key.column}{down} NULLS {'LAST' if key.nulls_last else 'FIRST'}"


def _bound(length: int | None, own: str, other: str) -> str:
    if length is None:
        return f"UNBOUNDED {own}"
    return f"{abs(length)} {own if length >= 0 else other}"
