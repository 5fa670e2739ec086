"""Pairs of a session join: what overlaps now and did not before, and the other way round.

Rows of a batch make sessions grow, or part them, so that rows pair, or cease to, which were
all there before. What has changed is seen as *parts*: rows of the same session before and of
the same one now. Rows that are new were in none, and those retracted are in none. A session
that did not change is one part.

| two parts                              | their pairs |
|----------------------------------------|-------------|
| overlap now, and did not before        | are new     |
| overlapped before, and do not now      | are gone    |

So no row is looked at that is in no such pair, but for further keys and the residual.

Invariant: of every pair of rows whose sessions overlap it was emitted once more that it is new than
that it is gone.

Worked example, gaps of 10: left rows at 0 and 20, so [0, 10) and [20, 30); a right row at 24,
so [24, 34): it pairs with the row at 20. A late left row at 10 makes them [0, 30), with parts
[0, 10), [20, 30) and the new row. The first and the last have new pairs, that with 24. The row
at 10 is retracted: again there are three parts, and the pairs of two of them are gone.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from sqlwin.kernels.joins import coded, near
from sqlwin.kernels.overlaps import overlapping
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.arrivals import Arrivals
from sqlwin.operators.joins.pairing import Changes, Pairing
from sqlwin.operators.joins.sessions.sides import OWN_FROM, OWN_UNTIL, SessionSide
from sqlwin.operators.sessions.spans import extent_of, within
from sqlwin.polars_frames import empty
from sqlwin.schema import TS
from sqlwin.state.stores.session_store import FROM, UNTIL

PART, PAIR = "__of_part", "__pair"
Bounds = tuple[str, str]
NOW, BEFORE = (FROM, UNTIL), (OWN_FROM, OWN_UNTIL)
WERE = dict(zip(NOW, BEFORE, strict=True))


@dataclass(frozen=True)
class Grown:
    """What a batch did to the sessions of a side: those it touched, as they were and are."""

    side: SessionSide
    arrivals: Arrivals
    old: pl.DataFrame
    new: pl.DataFrame

    def parts(self, near: pl.DataFrame) -> pl.DataFrame:
        """The session key, bounds now and before, `__of_part`; NULL bounds for in none.

        near: sessions that may be in a pair that is new or gone.
        """
        key = self.side.partition
        same = near.join(self.new, on=[*key, *NOW], how="anti", nulls_equal=True)
        bounds = [pl.lit(None, pl.Int64()).alias(name) for name in (*NOW, *BEFORE)]
        parts = [
            same.with_columns(pl.col(FROM).alias(OWN_FROM), pl.col(UNTIL).alias(OWN_UNTIL)),
            *self._staying(),
            self.new.with_columns(bounds[2:]),
        ]
        if len(self.arrivals.removed):
            parts.append(self.old.rename(WERE).with_columns(bounds[:2]))
        columns = [*key, *NOW, *BEFORE]
        return pl.concat([part.select(columns) for part in parts]).with_row_index(PART)

    def _staying(self) -> Iterator[pl.DataFrame]:
        key = self.side.partition
        for a, b in overlapping(self.old, self.new, key, key, *NOW):
            was = self.old[a].rename(WERE)
            yield pl.concat([was, self.new[b].select(NOW)], how="horizontal")

    def held(self, parts: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """The rows of these parts, with `__of_part`."""
        side, come, go = self.side, pl.col(OWN_FROM).is_null(), pl.col(FROM).is_null()
        spans = parts.select(
            *side.partition,
            pl.max_horizontal(FROM, OWN_FROM).alias(FROM),
            pl.min_horizontal(UNTIL, OWN_UNTIL).alias(UNTIL),
            PART,
        )
        new, removed, stay = (
            spans.filter(parts.select(of).to_series()) for of in (come, go, ~come & ~go)
        )
        found = [
            (within(self.arrivals.new, TS, new, side.partition), new),
            (within(self.arrivals.removed, TS, removed, side.partition), removed),
            (side.less(side.held(stay, stores), self.arrivals.removed), stay),
        ]
        on = [*side.partition, *NOW]
        return pl.concat(rows.join(of, on=on).select(*side.row, PART) for rows, of in found)


@dataclass(frozen=True)
class SessionPairing(Pairing):
    left: SessionSide
    right: SessionSide

    def changes(self, left: Arrivals, right: Arrivals, stores: Stores) -> Changes:
        """Takes the rows into sessions."""
        sides, completed = [], {}
        for side, arrivals in ((self.left, left), (self.right, right)):
            made = side.regroup(arrivals, stores)
            sides.append(Grown(side, arrivals, made.old, made.new))
            completed[side.name] = made.completed
        lefts, rights = sides
        parts = (
            lefts.parts(_near(lefts, rights, stores)),
            rights.parts(_near(rights, lefts, stores)),
        )
        added = self._pairs((lefts, rights), parts, (NOW, BEFORE), stores)
        weighted = self.left.weighted or self.right.weighted
        removed = self._pairs((lefts, rights), parts, (BEFORE, NOW), stores) if weighted else ()
        none = empty(self.columns)
        return Changes(pl.concat([none, *removed]), pl.concat([none, *added]), completed)

    def _pairs(
        self,
        sides: tuple[Grown, Grown],
        parts: tuple[pl.DataFrame, pl.DataFrame],
        at: tuple[Bounds, Bounds],
        stores: Stores,
    ) -> Iterator[pl.DataFrame]:
        """Of parts that overlap by the first of the bounds, and not by the second."""
        left, right = sides
        first, second = (of.filter(pl.col(at[0][0]).is_not_null()) for of in parts)
        keys = left.side.partition, right.side.partition
        for a, b in overlapping(first, second, *keys, *at[0]):
            pairs = _apart(first[a], second[b], at[1])
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


def _apart(left: pl.DataFrame, right: pl.DataFrame, bounds: Bounds) -> pl.DataFrame:
    """Of parts, row by row, those that do not overlap by these bounds."""
    begin, end = bounds
    both = pl.concat(
        [
            left.select(pl.col(PART).alias("left"), *bounds),
            right.select(
                pl.col(PART).alias("right"), *(pl.col(b).alias(f"right.{b}") for b in bounds)
            ),
        ],
        how="horizontal",
    )
    overlap = (pl.col(begin) < pl.col(f"right.{end}")) & (pl.col(f"right.{begin}") < pl.col(end))
    return both.filter(~overlap.fill_null(False)).select("left", "right").with_row_index(PAIR)


def _near(grown: Grown, other: Grown, stores: Stores) -> pl.DataFrame:
    """Sessions of the one side among which are all that overlap what has changed on either."""
    key = grown.side.partition
    named = dict(zip(other.side.partition, key, strict=True))
    columns = grown.new.columns
    theirs = (each.rename(named).select(columns) for each in (other.old, other.new))
    touched = pl.concat([grown.old, grown.new, *theirs])
    keys = touched.select(key).drop_nulls().unique()
    return grown.side.between(*extent_of(touched), keys, stores)
