"""From a join of the plan to the operator that runs it.

A residual condition is computed as all scalars are, over pairs that are near enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import JoinOperator
from sqlwin.operators.joins.asof.operator import AsOfJoin
from sqlwin.operators.joins.operator import WindowJoin
from sqlwin.operators.joins.ordered.operator import OrderedJoin
from sqlwin.operators.joins.ordered.sides import NumberedSide
from sqlwin.operators.joins.sessions.counted import CountedSessionJoin
from sqlwin.operators.joins.sessions.operator import SessionJoin
from sqlwin.operators.joins.sessions.sides import SessionSide
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.operators.joins.static import StaticJoin
from sqlwin.operators.relations.joined import RelationJoin
from sqlwin.operators.relations.staying_side import StayingSide
from sqlwin.operators.stages.join_ttl import JoinTtl
from sqlwin.plan.ir.nodes import Join, Scalar
from sqlwin.plan.properties.changelog import carries_weights, changing
from sqlwin.plan.properties.facts import arriving, counts, ordered_sides, scans, untimed
from sqlwin.polars_frames import polars_schema
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.state.slices import ENDLESS, slice_width
from sqlwin.state.stores.session_store import segment_interval
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinSessions, JoinWindow
from sqlwin.windows.session import Session
from sqlwin.windows.stays import JoinStays

HELD = "held"
ANYWHERE = JoinWindow(Unit.RANGE, None, None)
COUNTED_SLICES = 10_000
"""Messages of a slice where a window in ROWS has no end."""


@dataclass(frozen=True)
class Condition:
    """Which pairs a condition is true of; RunError where it fails on one."""

    condition: Scalar

    def __call__(self, pairs: pl.DataFrame) -> pl.Series:
        done = evaluate(pairs, ((HELD, self.condition),))
        if done.rejected:
            at, reason = done.rejected[0]
            raise RunError(f"the condition of the join fails on {pairs.row(at)}: {reason}")
        return done.frame[HELD]


def joined(join: Join, update_before: bool) -> WindowJoin | AsOfJoin | StaticJoin | RelationJoin:
    """update_before: a filter above wants both sides of a change."""
    left, right = (polars_schema(node.schema) for node in (join.left, join.right))
    if join.stays is not None:
        return _of_relations(join, join.stays, left, right)
    weighted = [changing(join.left), any(map(carries_weights, scans(join.right)))]
    if isinstance(join.match, AsOf):
        sides = (left, join.left_keys), (right, join.right_keys)
        width = slice_width(_retained(join))
        more: dict[str, Any] = {"weighted": any(weighted)}
        return AsOfJoin.of(join.match, *sides, join.kind, join.policy, width, update_before, **more)
    if isinstance(join.match, JoinSessions):
        if counts(join):
            return _of_counted(join, join.match, (left, right), update_before)
        return _of_sessions(join, join.match, (left, right), weighted, update_before)
    if counts(join) and not arriving(join):
        return _ordered(join, join.match, (left, right), update_before)
    match = ANYWHERE if join.static else join.match
    width = _slice(match, _retained(join))
    ttls = join.policy.ttls
    of_left = (join.large, weighted[0], "left" in ttls, "left" not in untimed(join))
    of_right = (join.large, weighted[1], "right" in ttls, "right" not in untimed(join))
    numbers = join.numbers
    left, right = (_with_number(*each) for each in zip((left, right), numbers, strict=True))
    first = Side("left", left, join.left_keys, match, width, *of_left, numbers[0])
    second = Side("right", right, join.right_keys, match.mirrored, width, *of_right, numbers[1])
    how = (join.kind, join.policy, _residual(join), update_before)
    if join.static:
        return StaticJoin(first, second, *how, single=join.single)
    return WindowJoin(first, second, *how)


def _with_number(columns: Columns, name: str | None) -> Columns:
    return columns if name is None else {**columns, name: pl.Int64()}


def _of_relations(join: Join, match: JoinStays, left: Columns, right: Columns) -> RelationJoin:
    retain = join.policy.retain
    assert retain is not None
    first = StayingSide("left", left, join.left_keys, match.left, retain)
    second = StayingSide("right", right, join.right_keys, match.right, retain)
    return RelationJoin(first, second, join.kind, retain, match, _residual(join))


def _ordered(
    join: Join, match: JoinWindow, columns: tuple[Columns, Columns], update_before: bool
) -> OrderedJoin:
    """Rows of a result are numbered by event time; those of a declared stream come with theirs."""
    by_time = ordered_sides(join)
    left, right = (
        NumberedSide(
            name,
            types,
            keys,
            window,
            slice_width(_retained(join)),
            large=join.large,
            weighted=name in by_time,
            by_time=name in by_time,
            rows_per_slice=_slice(window, 0),
        )
        for name, types, keys, window in zip(
            ("left", "right"),
            columns,
            (join.left_keys, join.right_keys),
            (match, match.mirrored),
            strict=True,
        )
    )
    return OrderedJoin(left, right, join.kind, join.policy, _residual(join), update_before)


def _of_sessions(
    join: Join,
    match: JoinSessions,
    columns: tuple[Columns, Columns],
    weighted: Sequence[bool],
    update_before: bool,
) -> SessionJoin:
    width, interval = slice_width(match.gap + _retained(join)), segment_interval(_retained(join))
    made = {"slice_width": width, "interval": interval}
    sessions = (match.left, match.right)
    left, right = _session_sides(join, columns, sessions, join.buckets, weighted, made)
    return SessionJoin(left, right, join.kind, join.policy, _residual(join), update_before)


def _of_counted(
    join: Join, match: JoinSessions, columns: tuple[Columns, Columns], update_before: bool
) -> CountedSessionJoin:
    """A number later than the gap a message still joins; one by itself is in no session."""
    sessions = [
        each if each.instant else Session((each.gap or 0) + 1) for each in (match.left, match.right)
    ]
    width = max(1, match.gap)
    made = {"slice_width": width, "interval": width, "timed": False}
    partitions = (join.left_keys[: match.keys], join.right_keys[: match.keys])
    left, right = _session_sides(join, columns, sessions, partitions, (False, False), made)
    policy = replace(join.policy, retain=0)
    return CountedSessionJoin(left, right, join.kind, policy, _residual(join), update_before)


def _session_sides(
    join: Join,
    columns: tuple[Columns, Columns],
    sessions: Sequence[Session],
    partitions: Sequence[tuple[str, ...]],
    weighted: Sequence[bool],
    of_both: Mapping[str, Any],
) -> Iterator[SessionSide]:
    each = zip(
        ("left", "right"),
        columns,
        (join.left_keys, join.right_keys),
        sessions,
        partitions,
        weighted,
        strict=True,
    )
    for name, types, keys, session, partition, changes in each:
        yield SessionSide(
            name,
            types,
            keys,
            ANYWHERE,
            weighted=changes,
            forgets=name in join.policy.ttls,
            session=session,
            partition=partition,
            **of_both,
        )


def _residual(join: Join) -> Condition | None:
    return None if join.residual is None else Condition(join.residual)


def _slice(window: JoinWindow, retained: int) -> int:
    """How much of what the window measures is a slice of a store."""
    endless = window.low is None or window.high is None
    reach = 0 if window.low is None or window.high is None else window.high - window.low
    if window.unit is Unit.ROWS:
        return COUNTED_SLICES if endless else max(1, reach)
    return slice_width((ENDLESS if endless else reach) + retained)


def _retained(join: Join) -> int:
    return ENDLESS if join.policy.retain is None else join.policy.retain


def with_ttls(operator: JoinOperator) -> JoinOperator:
    """The operator with the TTL of each side's keys; static joins have none."""
    assert isinstance(operator, WindowJoin | AsOfJoin)
    return JoinTtl(operator)
