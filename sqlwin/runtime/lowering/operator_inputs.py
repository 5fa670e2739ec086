"""A batch handed to an operator, whether it has one input or joins two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import polars as pl

from sqlwin.operators.contract import JoinOperator, Operator, Stores
from sqlwin.runtime.lowering.lowered import Lowered


def on_batch(
    query: Lowered, batch: Mapping[int, pl.DataFrame], stores: Stores, now: int
) -> pl.DataFrame:
    """What the operator says at once. batch: prepared rows, by input, of one at least."""
    if len(query.inputs) == 1:
        return cast(Operator, query.operator).on_batch(batch[0], stores, now)
    left, right = (batch[at] if at in batch else nothing(query, at) for at in range(2))
    return cast(JoinOperator, query.operator).on_batch(left, right, stores, now)


def nothing(query: Lowered, at: int) -> pl.DataFrame:
    """No rows of an input, prepared."""
    return query.prepare(query.inputs[at].nothing(), at)
