"""The end of the input: the last revisions are DuckDB's answer, whatever came when."""

from __future__ import annotations

from typing import Any

import duckdb
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.policies import Early, Late
from sqlwin.schema import OP, REVISION, ROW_KEY, SEQ
from sqlwin.windows import Exclude, Frame, Unit
from tests.operators.driving import Driven, rows_of
from tests.operators.overs import COLUMNS, PARTITIONS, Called, Step, frames, over, steps

QUESTIONS = {
    "count": "count(*) OVER {over}",
    "sum": "sum(v) OVER {over}",
    "distinct": "count(DISTINCT v) OVER {over}",
    "first": "first(v ORDER BY ts, seq) OVER {over}",
    "list": "list(v ORDER BY ts, seq) FILTER (WHERE v IS NOT NULL) OVER {over}",
}


@st.composite
def called(draw: st.DrawFn) -> list[Called]:
    names = st.sampled_from(list(QUESTIONS))
    asked = frames().filter(_decided)
    return draw(st.lists(st.tuples(names, PARTITIONS, asked), min_size=1, max_size=3))


def _decided(frame: Frame) -> bool:
    """DuckDB orders by ts for who is a peer, and by ts and seq for who comes first: not by both."""
    peers = frame.exclude in (Exclude.GROUP, Exclude.TIES)
    return frame.unit is Unit.RANGE or not peers


@given(
    called(),
    steps(),
    st.sampled_from([None, *Early]),
    st.sampled_from([Late.EVERY, Late.ON_UPDATE]),
    st.sampled_from([1, 4, 16]),
    st.booleans(),
)
def test_last_revisions_are_the_batch_answer(
    calls: list[Called],
    taken: list[Step],
    early: Early | None,
    late: Late,
    slice_width: int,
    restarts: bool,
) -> None:
    policy: dict[str, Any] = {"early": early, "early_rows": 2, "early_period": 3, "late": late}
    operator = over(*calls, slice_width=slice_width, retain=8, **policy)
    driven, rows, told, watermark, now = Driven(operator, restarts), [], [], 0, 0
    for step in taken:
        new = [
            (k, j, v, watermark + at, 0, len(rows) + n) for n, (k, j, v, at) in enumerate(step.rows)
        ]
        watermark, now = watermark + step.watermark, now + step.clock
        rows += new
        told.append(driven.step(rows_of(COLUMNS, *new) if new else None, now, watermark))
    told.append(driven.step(None, now + 9, watermark, end=True))
    last = pl.concat(told).sort(REVISION, maintain_order=True).unique(ROW_KEY, keep="last")
    assert set(last[OP]) <= {"+I", "+U"}
    found = {row[0]: row[1:] for row in _numbered(last).rows()}
    assert found == dict(_answers(calls, rows))


def _numbered(last: pl.DataFrame) -> pl.DataFrame:
    number = pl.col(ROW_KEY).str.extract(r"(\d+)\]$").cast(pl.Int64).alias(SEQ)
    return last.select(number, pl.selectors.starts_with("a"))


def _answers(calls: list[Called], rows: list[tuple[Any, ...]]) -> list[tuple[int, tuple[Any, ...]]]:
    asked = ", ".join(_question(*call) for call in calls)
    with duckdb.connect(config={"threads": 1}) as con:
        con.execute("CREATE TABLE s (k TEXT, j BIGINT, v BIGINT, ts BIGINT, part INT, seq BIGINT)")
        if rows:
            con.executemany("INSERT INTO s VALUES (?, ?, ?, ?, ?, ?)", rows)
        answer = con.sql(f"SELECT seq, {asked} FROM s").fetchall()
    lists = [name == "list" for name, _, _ in calls]
    return [
        (seq, tuple(v or [] if is_list else v for v, is_list in zip(values, lists, strict=True)))
        for seq, *values in answer
    ]


def _question(name: str, partition: tuple[str, ...], frame: Frame) -> str:
    by = f"PARTITION BY {', '.join(partition)} " if partition else ""
    order = "ts" if frame.unit is Unit.RANGE else "ts, seq"
    bounds = (
        f"{_bound(frame.preceding, 'PRECEDING', 'FOLLOWING')} AND "
        f"{_bound(frame.following, 'FOLLOWING', 'PRECEDING')}"
    )
    framed = f"{frame.unit.value} BETWEEN {bounds} EXCLUDE {frame.exclude.value}"
    return QUESTIONS[name].format(over=f"({by}ORDER BY {order} {framed})")


def _bound(length: int | None, own: str, other: str) -> str:
    if length is None:
        return f"UNBOUNDED {own}"
    return f"{abs(length)} {own if length >= 0 else other}"
