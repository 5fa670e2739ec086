"""A join of a plan lowered to its definition: all is read off the plan.

| `match` of the join                  | definition             |
|--------------------------------------|------------------------|
| a table on the right, whatever it is | `ReferenceStatic`      |
| `AsOf`                               | `ReferenceAsOf`        |
| `JoinSessions`                       | `ReferenceSessionJoin` |
| `JoinStays`                          | `ReferenceRelationJoin`|
| `JoinWindow`                         | `ReferenceJoin`        |

With a TTL of a side it stands in one that forgets (`joins/forgetting.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.errors import RunError
from sqlwin.plan.ir.nodes import Join, Scalar, Scan, StaticScan
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.changelog import changing, repeats
from sqlwin.plan.properties.facts import counts, ordered_sides, spanned, untimed
from sqlwin.polars_frames import polars_schema
from sqlwin.runtime.inputs.admission import Admission
from sqlwin.runtime.inputs.input import Input
from sqlwin.runtime.inputs.retention import RowRetention
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinSessions, JoinWindow
from sqlwin.windows.session import Session
from sqlwin.windows.stays import JoinStays
from tests.reference.cutting import admission, carried, columns, condition, pairs, until
from tests.reference.joins import join_sides
from tests.reference.joins.asof import ReferenceAsOf
from tests.reference.joins.forgetting import ForgettingAsOf, ForgettingJoin, ForgettingSessions
from tests.reference.joins.joins import ReferenceJoin
from tests.reference.joins.relations import ReferenceRelationJoin, Standing
from tests.reference.joins.session_joins import ReferenceCountedSessions, ReferenceSessionJoin
from tests.reference.joins.statics import ReferenceStatic

ANYWHERE = JoinWindow(Unit.RANGE, None, None)
Sources = Scan | StaticScan
NAMES = ("left", "right")
Single = (
    ReferenceJoin | ReferenceAsOf | ReferenceSessionJoin | ReferenceStatic | ReferenceRelationJoin
)
Forgetful = ForgettingJoin | ForgettingAsOf | ForgettingSessions


@dataclass(frozen=True)
class Residual:
    """Which pairs a condition is true of."""

    condition: Scalar

    def __call__(self, pairs: pl.DataFrame) -> pl.Series:
        done = evaluate(pairs, (("held", self.condition),))
        if done.rejected:
            at, reason = done.rejected[0]
            raise RunError(f"the condition of the join fails on {pairs.row(at)}: {reason}")
        return done.frame["held"]


def joined(query: Query, join: Join, derives: bool) -> Lowered:
    above, _ = until(query.plan, lambda node: node is join)
    having = condition(above)
    made = _definition(join, update_before=pairs(query, derives) or having is not None)
    return Lowered(
        query=query,
        inputs=(_input(join, 0), _input(join, 1)),
        operator=_forgetting(made) if join.policy.ttls else made,
        having=having,
        output=columns(above, join),
        derives=derives,
    )


def _definition(join: Join, update_before: bool) -> Single:
    if join.stays is not None:
        return _of_relations(join, join.stays)
    left, right = (_side(join, at) for at in range(2))
    how = (join.kind, join.policy, update_before)
    residual = None if join.residual is None else Residual(join.residual)
    if join.static:
        return ReferenceStatic(left, right, *how, residual=residual, single=join.single)
    match = join.match
    if isinstance(match, AsOf):
        return ReferenceAsOf(left, right, *how, match=match)
    if isinstance(match, JoinSessions):
        both = (match.left, match.right)
        of: type[ReferenceSessionJoin] = ReferenceSessionJoin
        if counts(join):
            of, both = ReferenceCountedSessions, (_of_numbers(both[0]), _of_numbers(both[1]))
        return of(left, right, *how, residual=residual, sessions=both, session_keys=match.keys)
    return ReferenceJoin(left, right, *how, residual=residual)


def _of_numbers(session: Session) -> Session:
    """At most `gap` messages of others stand between two of its rows."""
    return session if session.instant else Session((session.gap or 0) + 1)


def _of_relations(join: Join, match: JoinStays) -> ReferenceRelationJoin:
    retain, residual = join.policy.retain, None
    assert retain is not None
    if join.residual is not None:
        residual = Residual(join.residual)
    left = Standing(polars_schema(join.left.schema), join.left_keys, match.left)
    right = Standing(polars_schema(join.right.schema), join.right_keys, match.right)
    return ReferenceRelationJoin(left, right, join.kind, retain, match, residual)


def _side(join: Join, at: int) -> join_sides.Side:
    """Where a side is numbered by event time, messages of the other have the watermark's time."""
    name, by_time = NAMES[at], ordered_sides(join)
    number = join.numbers[at]
    types = polars_schema((join.left, join.right)[at].schema)
    return join_sides.Side(
        types if number is None else {**types, number: pl.Int64()},
        (join.left_keys, join.right_keys)[at],
        _window(join, at),
        timed=bool(by_time) or (name not in untimed(join) and not _of_messages(join)),
        by_time=name in by_time,
        number=number,
    )


def _of_messages(join: Join) -> bool:
    return counts(join) and isinstance(join.match, JoinSessions)


def _window(join: Join, at: int) -> JoinWindow:
    """How far partners are from the rows of a side."""
    if join.static or join.stays is not None or not isinstance(join.match, JoinWindow):
        return ANYWHERE
    return join.match if at == 0 else join.match.mirrored


def _forgetting(made: Single) -> Forgetful:
    if isinstance(made, ReferenceAsOf):
        return ForgettingAsOf(made)
    if isinstance(made, ReferenceSessionJoin):
        return ForgettingSessions(made)
    assert isinstance(made, ReferenceJoin)  # a table has no TTL
    return ForgettingJoin(made)


def _input(join: Join, at: int) -> Input:
    below, scan = until(
        (join.left, join.right)[at], lambda node: isinstance(node, Scan | StaticScan)
    )
    assert isinstance(scan, Scan | StaticScan)
    static, stream = isinstance(scan, StaticScan), scan.stream
    numbered = counts(join) and not stream.of
    timed = stream.ts is not None and not numbered
    retain = join.policy.retain
    return Input(
        stream=stream,
        where=condition(below),
        columns=columns(below, scan),
        keys=join.buckets[at],
        retention=RowRetention(retain) if timed and not static and retain is not None else None,
        timed=timed,
        admission=_admission(join, at, scan, numbered),
        carried=carried(scan, passes=False),
        numbered=numbered,
        ordered=counts(join) and not (numbered or spanned(stream)),
        spanned=spanned(stream),
        static=static,
    )


def _admission(join: Join, at: int, scan: Sources, rising: bool) -> Admission | None:
    side = _side(join, at)
    counted = None if join.policy.retain_rows is None else {k: side.columns[k] for k in side.keys}
    replays = isinstance(scan, Scan) and repeats(scan.stream) and not changing(scan)
    return admission(scan.stream.name, replays, rising, counted, at)
