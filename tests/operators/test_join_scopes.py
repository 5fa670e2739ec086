"""The windows of a join are those that a plain loop over the rows it keeps finds."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import END, START
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.state_queries import StateQuery
from tests.support.operators.joins import Fast, Joined, Source, Step, joins, steps

Row = dict[str, Any]


def plain(side: Side, other: Side, joined: Joined, lo: int, hi: int) -> list[Row]:
    low, high = side.window.low, side.window.high
    own, others = (s.scan(joined.stores).sort("__ts", "__part", "__seq") for s in (side, other))
    found = []
    for row in own.rows(named=True):
        first = None if low is None else row[side.at] + low
        last = None if high is None else row[side.at] + high
        if (START if first is None else first) > hi or (END if last is None else last) < lo:
            continue
        partners = [p for p in others.rows(named=True) if _near(side, other, row, p, first, last)]
        partners.sort(key=lambda p: p[side.at])
        found.append(
            {
                "__side": side.name,
                **{name: row[name] for name in (*side.columns, "__ts", "__part", "__seq")},
                "__window_start": first,
                "__window_end": last,
                "__first": partners[0]["__seq"] if partners else None,
                "__last": partners[-1]["__seq"] if partners else None,
                "__rows": len(partners),
            }
        )
    return found


def _near(side: Side, other: Side, row: Row, p: Row, first: int | None, last: int | None) -> bool:
    keys = zip(side.keys, other.keys, strict=True)
    if any(row[own] is None or row[own] != p[its] for own, its in keys):
        return False
    at = p[side.at]
    return (first is None or first <= at) and (last is None or at <= last)


@given(joins(), steps(), st.integers(-5, 60), st.integers(0, 60))
def test_the_windows_of_a_join(operator: Fast, taken: list[Step], lo: int, length: int) -> None:
    joined, source, watermark, now = Joined(operator, False), Source(operator), 0, 0
    for step in taken:
        retain = operator.policy.retain
        horizon = START if retain is None else joined.stores.watermark - retain
        batch = source.batch(step, watermark, horizon)
        watermark, now = watermark + step.watermark, now + step.clock
        joined.step(*batch, now, watermark, step.end)
    for question in (StateQuery(), StateQuery(None, lo, lo + length)):
        windows = operator.windows(question, joined.stores)
        expected: list[Row] = []
        for side, other in ((operator.left, operator.right), (operator.right, operator.left)):
            expected += plain(side, other, joined, question.lo, question.hi)
        known = windows.with_columns(pl.col("__window_start", "__window_end").to_physical())
        found = [
            {name: row[name] for name in expected_of(row, operator)}
            for row in known.rows(named=True)
        ]
        assert in_order(found) == in_order(expected)


def expected_of(row: Row, operator: Fast) -> list[str]:
    """What a row has of its own side."""
    others = operator.right if row["__side"] == "left" else operator.left
    return [name for name in row if name not in others.columns and name != "__state"]


def in_order(rows: list[Row]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)
