"""Rows that an input retracts, by definition: what there is, is the rows now there.

A row of weight -1 retracts the one of its position, if that is there; a row of weight +1 is
there from now on. In a batch one that is replaced by its equal is as if neither had come.
A row that is there and comes again, for it was forgotten below, is retracted before; unless it
is older than a horizon, behind which nothing is.

>>> row = {"__ts": 5, "__part": 0, "__seq": 1, "x": 7}
>>> gone, came = changed([{**row, "__weight": -1}, {**row, "x": 8, "__weight": 1}], [row])
>>> gone, [row["x"] for row in came]
({(5, 0, 1)}, [8])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores
from sqlwin.policies import Policy
from sqlwin.schema import PART, SEQ, TS, WEIGHT
from tests.reference.definitions.window import Position, comparable, position
from tests.reference.kernels.rows import Row

Ident = Callable[[Row], Position]


def effective(batch: Sequence[Row]) -> list[Row]:
    """The rows of a batch that say something; by position, what is retracted first."""
    minus = {(row[PART], row[SEQ]): row for row in batch if row[WEIGHT] < 0}
    plus = {(row[PART], row[SEQ]): row for row in batch if row[WEIGHT] > 0}
    same = {at for at in minus.keys() & plus.keys() if _equal(minus[at], plus[at])}
    return [rows[at] for rows in (minus, plus) for at in sorted(rows) if at not in same]


def acting(
    batch: Sequence[Row], taken: Sequence[Row], horizon: int, ident: Ident = position
) -> list[Row]:
    """The rows of a batch that change something of `taken`."""
    rows, there = effective(batch), {ident(row) for row in taken}
    known = [row for row in rows if row[WEIGHT] > 0 or ident(row) in there]
    gone, came = ({_at(row) for row in known if row[WEIGHT] == weight} for weight in (-1, 1))
    again = [row for row in taken if _at(row) in came - gone and row[TS] >= horizon]
    return effective([*({**row, WEIGHT: -1} for row in again), *known])


def horizon(policy: Policy, stores: Stores) -> int:
    """What is older is out of retention; all, where it has horizons, for then nothing below forgets
    rows, and what is replaced is retracted."""
    if policy.retain_rows is not None:
        return END
    return START if policy.retain is None else stores.watermark - policy.retain


def changed(
    batch: Sequence[Row], taken: Sequence[Row], ident: Ident = position
) -> tuple[set[Position], list[Row]]:
    """What those of `taken` are known by that a batch retracts, and the rows it brings."""
    rows = effective(batch)
    gone = {ident(row) for row in rows if row[WEIGHT] < 0}
    came: list[Row] = [_plain(row) for row in rows if row[WEIGHT] > 0]
    return gone & {ident(row) for row in taken}, came


def _at(row: Row) -> tuple[int, int]:
    return row[PART], row[SEQ]


def _plain(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != WEIGHT}


def _equal(one: Row, other: Row) -> bool:
    return comparable(_plain(one)) == comparable(_plain(other))
