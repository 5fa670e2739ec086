"""Pairs of a session join: what overlaps now and did not before.

Rows of a batch make sessions grow, so that rows pair which were all there before. What has
grown is seen as *parts*: each session that went into it, and the rows that are new. A
session that did not grow is one part. Parts pair if their sessions overlap now, and their
own old bounds, where both have some, did not: then all their rows are new pairs, and of
other parts none is. So no row is looked at that is in no new pair, but for further keys and
the residual.

Invariant: every pair of rows whose sessions overlap was among the parts of one batch, once.

Worked example, gaps of 10: left rows at 0 and 20, so [0, 10) and [20, 30); a right row at 24,
so [24, 34): it pairs with the row at 20. A late left row at 10 makes them [0, 30), with parts
[0, 10), [20, 30) and the new row. The first and the last have new pairs, that with 24.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from sqlwin.kernels.joins import coded, near
from sqlwin.kernels.overlaps import overlapping
from sqlwin.operators.contract import Stores
from sqlwin.operators.join_sides import Arrivals
from sqlwin.operators.pairing import Pairing
from sqlwin.operators.session_sides import SessionSide
from sqlwin.operators.spanning import extent_of, within
from sqlwin.schema import TS, empty
from sqlwin.state.session_store import FROM, UNTIL

OWN_FROM, OWN_UNTIL = "__own_from", "__own_until"
PART, PAIR = "__of_part", "__pair"


@dataclass(frozen=True)
class Grown:
    """What a batch did to the sessions of a side: those it touched, as they were and are."""

    side: SessionSide
    rows: pl.DataFrame
    old: pl.DataFrame
    new: pl.DataFrame

    def parts(self, near: pl.DataFrame) -> pl.DataFrame:
        """Bounds, own bounds and `__of_part`. near: sessions that may be in a new pair."""
        key = self.side.partition
        on = [*key, FROM, UNTIL]
        own = self.old.rename({FROM: OWN_FROM, UNTIL: OWN_UNTIL})
        same = near.join(self.new, on=on, how="anti", nulls_equal=True)
        columns = [*on, OWN_FROM, OWN_UNTIL]
        none = [pl.lit(None, pl.Int64()).alias(name) for name in (OWN_FROM, OWN_UNTIL)]
        parts = [
            same.with_columns(pl.col(FROM).alias(OWN_FROM), pl.col(UNTIL).alias(OWN_UNTIL)),
            within(own, OWN_FROM, self.new, key),
            self.new.with_columns(none),
        ]
        return pl.concat([part.select(columns) for part in parts]).with_row_index(PART)

    def held(self, parts: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The rows of these parts, with `__of_part`."""
        side = self.side
        bounds = [FROM, UNTIL]
        new = parts.filter(pl.col(OWN_FROM).is_null()).drop(OWN_FROM, OWN_UNTIL)
        old = parts.drop_nulls(OWN_FROM).drop(bounds).rename({OWN_FROM: FROM, OWN_UNTIL: UNTIL})
        rows = [(within(self.rows, TS, new, side.partition), new), (side.held(old, stores), old)]
        on = [*side.partition, *bounds]
        return pl.concat(found.join(of, on=on).select(*side.row, PART) for found, of in rows)


@dataclass(frozen=True)
class SessionPairing(Pairing):
    left: SessionSide
    right: SessionSide

    def changes(
        self, left: Arrivals, right: Arrivals, stores: Stores
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """None that are withdrawn, and those made; takes the rows into sessions."""
        lefts = Grown(self.left, left.new, *self.left.grow(left.new, stores))
        rights = Grown(self.right, right.new, *self.right.grow(right.new, stores))
        made = [empty(self.columns), *self._made(lefts, rights, stores)]
        return made[0], pl.concat(made)

    def _made(self, left: Grown, right: Grown, stores: Stores) -> Iterator[pl.DataFrame]:
        first = left.parts(_near(left, right, stores))
        second = right.parts(_near(right, left, stores))
        keys = left.side.partition, right.side.partition
        for a, b in overlapping(first, second, *keys, FROM, UNTIL):
            pairs = _unknown(first[a], second[b])
            lefts = _replicated(left.held(_of(first, pairs, "left"), stores), pairs, "left")
            rights = _replicated(right.held(_of(second, pairs, "right"), stores), pairs, "right")
            on = [PAIR, *left.side.rest], [PAIR, *right.side.rest]
            found = near(*coded(lefts, rights, *on, TS), None, None)
            yield self.joined(lefts.drop(PAIR, PART), rights.drop(PAIR, PART), found)


def _of(parts: pl.DataFrame, pairs: pl.DataFrame, side: str) -> pl.DataFrame:
    return parts.filter(pl.col(PART).is_in(pairs[side].implode()))


def _replicated(rows: pl.DataFrame, pairs: pl.DataFrame, side: str) -> pl.DataFrame:
    """Each row once for each pair of parts that it is in."""
    return rows.join(pairs.select(pl.col(side).alias(PART), PAIR), on=PART)


def _unknown(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Of overlapping parts, row by row, those whose rows did not pair before."""
    bounds = [OWN_FROM, OWN_UNTIL]
    both = pl.concat(
        [
            left.select(pl.col(PART).alias("left"), *bounds),
            right.select(
                pl.col(PART).alias("right"), *(pl.col(b).alias(f"right.{b}") for b in bounds)
            ),
        ],
        how="horizontal",
    )
    before = (pl.col(OWN_FROM) < pl.col(f"right.{OWN_UNTIL}")) & (
        pl.col(f"right.{OWN_FROM}") < pl.col(OWN_UNTIL)
    )
    return both.filter(~before.fill_null(False)).select("left", "right").with_row_index(PAIR)


def _near(grown: Grown, other: Grown, stores: Stores) -> pl.DataFrame:
    """Sessions of the one side among which are all that overlap what has grown on either."""
    key = grown.side.partition
    named = dict(zip(other.side.partition, key, strict=True))
    touched = pl.concat([grown.new, other.new.rename(named).select(grown.new.columns)])
    keys = touched.select(key).drop_nulls().unique()
    return grown.side.between(*extent_of(touched), keys, stores)
