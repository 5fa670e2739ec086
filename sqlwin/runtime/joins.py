"""From a join of the plan to the operator that runs it.

A residual condition is computed as all scalars are, over pairs that are near enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.errors import RunError
from sqlwin.operators.asof import AsOfJoin
from sqlwin.operators.join_sides import Side
from sqlwin.operators.joining import WindowJoin
from sqlwin.plan.facts import changing
from sqlwin.plan.nodes import Join, Scalar
from sqlwin.runtime.scalars import evaluate
from sqlwin.runtime.slices import ENDLESS, slice_width
from sqlwin.schema import polars_schema
from sqlwin.windows import AsOf, JoinWindow

HELD = "held"


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


def joined(join: Join, withdraw: bool) -> WindowJoin | AsOfJoin:
    """withdraw: a filter above wants both sides of a change."""
    left, right = (polars_schema(node.schema) for node in (join.left, join.right))
    weighted = [changing(side) for side in (join.left, join.right)]
    if isinstance(join.match, AsOf):
        sides = (left, join.left_keys), (right, join.right_keys)
        width = slice_width(_retained(join))
        rest = (join.kind, join.policy, width, withdraw)
        return AsOfJoin.of(join.match, *sides, *rest, weighted=any(weighted))
    width = slice_width(_reach(join.match) + _retained(join))
    first = Side("left", left, join.left_keys, join.match, width, join.large, weighted[0])
    mirrored = join.match.mirrored
    second = Side("right", right, join.right_keys, mirrored, width, join.large, weighted[1])
    residual = None if join.residual is None else Condition(join.residual)
    return WindowJoin(first, second, join.kind, join.policy, residual, withdraw)


def _reach(window: JoinWindow) -> int:
    """How far apart the partners of a row may be."""
    if window.low is None or window.high is None:
        return ENDLESS
    return window.high - window.low


def _retained(join: Join) -> int:
    return ENDLESS if join.policy.retain is None else join.policy.retain
