"""Joins of sessions in ROWS: what the definition says at each step, and at the end in any cut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.operators.joins.sessions.counted import CountedSessionJoin
from sqlwin.operators.joins.sessions.operator import SessionJoin
from tests.reference.joins import join_sides as defined
from tests.reference.joins.session_joins import ReferenceCountedSessions
from tests.support.operators.driving import records
from tests.support.operators.joins import LEFT, RIGHT, Joined, Step, rows_of, steps
from tests.support.operators.session_joins import GAPS, session_join, session_joins

Messages = list[tuple[bool, str]]


def counted(join: SessionJoin) -> CountedSessionJoin:
    left, right = (replace(side, timed=False) for side in (join.left, join.right))
    policy = replace(join.policy, retain=0)
    return CountedSessionJoin(left, right, join.kind, policy, join.residual, join.update_before)


def specified(fast: CountedSessionJoin) -> ReferenceCountedSessions:
    left, right = (
        defined.Side(side.columns, side.keys, side.window, timed=False)
        for side in (fast.left, fast.right)
    )
    return ReferenceCountedSessions(
        left, right, fast.kind, fast.policy, fast.update_before, residual=fast.residual,
        sessions=(fast.left.session, fast.right.session), session_keys=len(fast.left.partition),
    )  # fmt: skip


@given(session_joins(weighted=False), steps(), st.booleans())
def test_each_call_emits_what_the_definition_emits(
    join: SessionJoin, taken: list[Step], restarts: bool
) -> None:
    fast = counted(join)
    driven, slow = Joined(fast, restarts), Joined(specified(fast))
    come, now = [0, 0], 0
    for step in taken:
        batch = [_batch(come, side, rows) for side, rows in enumerate((step.left, step.right))]
        prepared = [fast.prepare(rows, side) for side, rows in enumerate(batch)]
        now += step.clock
        found = driven.step(*prepared, now, step.watermark, step.end)
        known = [slow.operator.prepare(rows, side) for side, rows in enumerate(batch)]
        expected = slow.step(*known, now, step.watermark, step.end)
        columns = [*fast.output]
        assert records(found, columns) == records(expected, columns)
        assert fast.next_deadline(driven.stores) == slow.operator.next_deadline(slow.stores)


def _batch(come: list[int], side: int, rows: tuple[tuple[Any, ...], ...]) -> pl.DataFrame:
    first = come[side]
    come[side] += len(rows)
    columns = (LEFT, RIGHT)[side]
    taken = [(*values, 0, first + n, first + n + 1, 1) for n, (*values, _) in enumerate(rows)]
    return rows_of(columns, *taken)


@given(
    st.tuples(GAPS, GAPS),
    st.lists(st.tuples(st.booleans(), st.sampled_from("aab")), max_size=12),
    st.data(),
)
def test_pairs_do_not_depend_on_the_cut(
    gaps: tuple[int, int], messages: Messages, data: st.DataObject
) -> None:
    fast = counted(session_join(gaps=gaps, retain=0))
    driven, come, out = Joined(fast), [0, 0], set[tuple[int, int]]()
    while messages_left := len(messages) - sum(come):
        size = data.draw(st.integers(1, messages_left))
        part = messages[sum(come) :][:size]
        sides = [tuple((key, 1, 0, 0) for of, key in part if of is bool(s)) for s in (0, 1)]
        batch = [fast.prepare(_batch(come, s, rows), s) for s, rows in enumerate(sides)]
        found = driven.step(*batch)
        assert found["__op"].unique().to_list() in ([], ["+I"])
        out |= {_numbers(key) for key in found["__row_key"].to_list()}
    assert out == _pairs(gaps, messages)


def _numbers(row_key: str) -> tuple[int, int]:
    left, right = row_key.strip("[]").split("],[")
    return int(left.split(",")[1]) + 1, int(right.split(",")[1]) + 1


def _pairs(gaps: tuple[int, int], messages: Messages) -> set[tuple[int, int]]:
    found = [_spans([key for of, key in messages if of is bool(s)], gaps[s]) for s in (0, 1)]
    return {
        (a, b)
        for a, (key, first, until) in found[0].items()
        for b, (other, since, to) in found[1].items()
        if key == other and first < to and since < until
    }


def _spans(keys: list[str], gap: int) -> dict[int, tuple[str, int, int]]:
    """Of each number its key, and its session from the first number to past the last one."""
    spans: dict[int, tuple[str, int, int]] = {}
    for key in set(keys):
        numbers = [n for n, own in enumerate(keys, 1) if own == key]
        for n in numbers:
            first = last = n
            while any(first - gap <= m < first for m in numbers):
                first = max(m for m in numbers if m < first)
            while any(last < m <= last + gap for m in numbers):
                last = min(m for m in numbers if m > last)
            spans[n] = key, first, last + gap
    return spans
