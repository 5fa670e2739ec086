"""From a join of the plan to the operator that runs it.

A residual condition is computed as all scalars are, over pairs that are near enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from sqlwin.errors import RunError
from sqlwin.operators.asof import AsOfJoin
from sqlwin.operators.join_sides import Side
from sqlwin.operators.joining import WindowJoin
from sqlwin.operators.static_join import StaticJoin
from sqlwin.plan.facts import changing
from sqlwin.plan.nodes import Join, Scalar
from sqlwin.runtime.scalars import evaluate
from sqlwin.runtime.slices import ENDLESS, slice_width
from sqlwin.schema import polars_schema
from sqlwin.windows import AsOf, JoinWindow, Unit

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


def joined(join: Join, withdraw: bool) -> WindowJoin | AsOfJoin | StaticJoin:
    """withdraw: a filter above wants both sides of a change."""
    left, right = (polars_schema(node.schema) for node in (join.left, join.right))
    weighted = [changing(side) for side in (join.left, join.right)]
    if isinstance(join.match, AsOf):
        sides = (left, join.left_keys), (right, join.right_keys)
        width = slice_width(_retained(join))
        more: dict[str, Any] = {"weighted": any(weighted)}
        return AsOfJoin.of(join.match, *sides, join.kind, join.policy, width, withdraw, **more)
    match = ANYWHERE if join.static else join.match
    width = _slice(match, _retained(join))
    first = Side("left", left, join.left_keys, match, width, join.large, weighted[0])
    second = Side("right", right, join.right_keys, match.mirrored, width, join.large, weighted[1])
    residual = None if join.residual is None else Condition(join.residual)
    of = StaticJoin if join.static else WindowJoin
    return of(first, second, join.kind, join.policy, residual, withdraw)


def _slice(window: JoinWindow, retained: int) -> int:
    """How much of what the window measures is a slice of a store."""
    endless = window.low is None or window.high is None
    reach = 0 if window.low is None or window.high is None else window.high - window.low
    if window.unit is Unit.ROWS:
        return COUNTED_SLICES if endless else max(1, reach)
    return slice_width((ENDLESS if endless else reach) + retained)


def _retained(join: Join) -> int:
    return ENDLESS if join.policy.retain is None else join.policy.retain
