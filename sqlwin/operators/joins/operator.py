"""Joins of two streams: pairs of rows that lie near enough, each emitted once.

A batch's rows look for partners among the rows of the other side that are kept, and among
each other (`pairing`). What rows do by themselves, padded or as rows of a SEMI or ANTI
join, says `padding`; `change_ledger` says what goes out when. A pair is `late` where the
watermark had passed both its rows, else `full`; it never changes.

| store                       | record                                       |
|-----------------------------|----------------------------------------------|
| `left`, `right`             | the row; see `sides`                         |
| `left_known`, `right_known` | see `padding`; where rows make results alone |
| `pending`, `revisions`      | see `change_ledger`                          |
| `left_floors`, `right_floors` | see `floors`; with RETAIN n ROWS of rows that may be retracted |
| `counts`                    | under ROWS: messages of each side            |

Invariant: every match of two rows of which one may still come is found when the second
comes, for the first is kept until none can; and the matches found before are counted.

Worked example, SAMZA-552's: Shipments JOIN Orders OVER (RANGE 2 min). A shipment holds
orders of up to 120 s before it, so `low` is -120 s. The order of 8:59:10 and the shipment of
9:01:10 are exactly so far apart: a pair. One of 9:01:11 is none, and once the watermark is
past 9:01:10 the order is evicted, if RETAIN is 0.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.horizon import by_time
from sqlwin.operators.joins.arrivals import Arrivals
from sqlwin.operators.joins.base import JoinBase
from sqlwin.operators.joins.changes.due_changes import Due
from sqlwin.operators.joins.changes.pair_changes import pair_changes
from sqlwin.operators.joins.changes.words import Moment
from sqlwin.operators.joins.counts import COUNTS, counts_of, read_counts, write_counts
from sqlwin.operators.joins.padding import Alone
from sqlwin.operators.joins.pairing import Pairing, Residual
from sqlwin.operators.joins.retention import Newest
from sqlwin.operators.joins.schema import POS
from sqlwin.operators.joins.scopes import reaching, scopes
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.state_queries import EDGES, SIDE, STATE, StateQuery, of_keys, said
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.windows.grouping import EXTENT
from sqlwin.policies import Policy
from sqlwin.schema import POSITION
from sqlwin.windows.joins import SpannedWindow

ALONE = {
    "inner": (),
    "left": ("left",),
    "right": ("right",),
    "full": ("left", "right"),
    "semi": ("left",),
    "anti": ("left",),
}
"""Whose rows make results by themselves, by the kind of join."""


@dataclass(frozen=True)
class WindowJoin(JoinBase):
    """left, right: sides whose windows mirror each other. kind: of `ALONE`.

    residual: which of the pairs that are near enough match; a frame of the left columns and
    then the right ones to BOOLEAN, NULL for no. update_before: a `+U` stands below its `-U`.
    """

    left: Side
    right: Side
    kind: str
    policy: Policy
    residual: Residual | None = None
    update_before: bool = False

    def __post_init__(self) -> None:
        if self.kind not in ALONE:
            raise ValueError(f"a join is one of {', '.join(ALONE)}, got {self.kind}")
        self._check_sides()

    @cached_property
    def pairing(self) -> Pairing:
        return Pairing(self.left, self.right, self.residual)

    @property
    def repeats(self) -> bool:
        return self.left.weighted or self.right.weighted

    @cached_property
    def alone(self) -> tuple[Alone, ...]:
        early = self.policy.early is not None
        sides = [side for side in (self.left, self.right) if side.name in ALONE[self.kind]]
        return tuple(Alone(side, self.kind, self.ledger, early) for side in sides)

    @property
    def by_count(self) -> bool:
        return self.left.at == POS

    @property
    def retains_rows(self) -> bool:
        return not self.by_count

    @cached_property
    def newest(self) -> tuple[Newest, ...]:
        """Of left and right, with RETAIN n ROWS."""
        n = self.policy.retain_rows
        return () if n is None else (Newest(self.left, n), Newest(self.right, n))

    def stores(self) -> list[StoreSpec]:
        kept = [side.spec(self.policy) for side in (self.left, self.right)]
        kept += [rows.spec(self.policy) for rows in self.alone]
        kept += [spec for part in self.newest for spec in part.stores()]
        counts = [counts_of(COUNTS, "messages of each side")] if self.by_count else []
        return [*kept, *self.ledger.stores(), *counts]

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        """Take prepared rows of both sides, none of them expired; emit what goes out at once."""
        lefts, rights = self.left.arrivals(left, stores), self.right.arrivals(right, stores)
        if not (lefts or rights or self.by_count):
            return self.nothing()
        bounds, due = self._bounds(stores), self.ledger.due(now)
        pairs = self.pairing.changes(lefts, rights, stores)
        removed, added = pairs.removed, pairs.added
        stores.note(pl.concat([removed, added]))
        self.left.put(lefts, stores)
        self.right.put(rights, stores)
        changes = [self._pairs(removed, -1, due, stores), self._pairs(added, 1, due, stores)]
        for each in self.alone:
            arrived = lefts if each.side is self.left else rights
            moment = Moment(now, due, stores.watermark, bounds[each.side.name])
            changes.append(self._by_themselves(each, arrived, removed, added, moment, stores))
        taken = self.ledger.emitted_ever(pl.concat(changes), stores)
        risen = [each.unmatched_of(pairs.untouched(each.side), stores, now) for each in self.alone]
        emitted = self.ledger.emit(pl.concat([taken, *risen]), stores, now)
        if not self.by_count:
            return emitted
        self._count(lefts, rights, stores)
        return pl.concat([emitted, self._become_complete(bounds, stores, now)])

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.watermark and not self.newest:
            return self.nothing()
        bounds = self._bounds(stores)
        stores.watermark = max(watermark, stores.watermark)
        for each in self.newest:
            each.note(stores)
            each.expire(by_time(stores.watermark, self.policy.retain), stores)
        return self.nothing() if self.by_count else self._become_complete(bounds, stores, now)

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """Of the rows of both sides, `__side` first, those that hold an instant of it."""
        found, complete = [], self._bounds(stores)
        for side, other in ((self.left, self.right), (self.right, self.left)):
            there = reaching(side, query.lo, query.hi, stores)
            rows = of_keys(there, self._keys_of(side, query.keys)).sort(POSITION)
            others = other.near(rows, side, stores).sort(POSITION)
            if stores.sides is not None and query.keys is not None:
                stores.sides.note_rows(side.name, rows)
            known = pl.lit(side.name).alias(SIDE), said(pl.col(side.at) < complete[side.name])
            found.append(scopes(rows, others, side, other).with_columns(*known))
        columns = (SIDE, *self.left.columns, *self.right.columns, *EDGES, STATE, *EXTENT, *POSITION)
        return pl.concat(found, how="diagonal").select(columns)

    # Pairs, and rows by themselves.

    def _pairs(self, pairs: pl.DataFrame, sign: int, due: Due, stores: Stores) -> pl.DataFrame:
        if self.kind in ("semi", "anti"):
            return self.ledger.none()
        return pair_changes(pairs, sign, self.ledger, due, stores.watermark)

    def _by_themselves(
        self,
        alone: Alone,
        arrivals: Arrivals,
        removed: pl.DataFrame,
        added: pl.DataFrame,
        moment: Moment,
        stores: Stores,
    ) -> pl.DataFrame:
        touched = alone.touched(arrivals, removed, added, stores)
        changes = self.ledger.emitted_ever(alone.changes(touched, arrivals.removed, moment), stores)
        alone.remember(touched, arrivals.removed, changes, moment, stores)
        return changes

    def show_all(self, stores: Stores, now: int) -> pl.DataFrame:
        changes = [each.unmatched(stores, now) for each in self.alone]
        return pl.concat([self.ledger.none(), *changes])

    # Certainty, and what leaves.

    def _bounds(self, stores: Stores) -> dict[str, int]:
        """Of each side the position below which rows are complete."""
        counts, retain = self._counted(stores), self.policy.retain
        return {
            side.name: side.complete_below(stores.watermark, counted, retain)
            for side, counted in zip((self.left, self.right), reversed(counts), strict=True)
        }

    def _become_complete(self, were: dict[str, int], stores: Stores, now: int) -> pl.DataFrame:
        bounds = self._bounds(stores)
        changes = [
            each.unmatched(stores, now, were[each.side.name], bounds[each.side.name])
            for each in self.alone
        ]
        by_side = {each.side.name: each for each in self.alone}
        for each in self.newest:
            changes += each.evict(by_side.get(each.side.name), stores, now)
        emitted = self.ledger.emit(pl.concat([self.ledger.none(), *changes]), stores, now)
        self._retire(stores)
        return emitted

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        return self.newest[side].horizons(stores) if self.newest else super().horizons(stores, side)

    def _retire(self, stores: Stores) -> None:
        counts, retain, horizons = self._counted(stores), self.policy.retain, []
        for side, counted in zip((self.left, self.right), reversed(counts), strict=True):
            horizons.append(side.horizon(stores.watermark, counted, retain))
            stores[side.name].expire(horizons[-1])
        for each in self.alone:
            stores[each.store].expire(stores[each.side.name].horizon)
        # a pair goes with the row that has a time; a row without one may be emitted by itself
        by_time = [
            horizon
            for side, horizon in zip((self.left, self.right), horizons, strict=True)
            if side.timed or side.name in ALONE[self.kind]
        ]
        self.ledger.retire(stores, min(by_time, default=START))

    def _counted(self, stores: Stores) -> tuple[int, int]:
        """Messages that have come, of the left and the right."""
        return read_counts(COUNTS, stores) if self.by_count else (0, 0)

    def reached(self, stores: Stores) -> int:
        """Results to come have a message of a greater number than this: where they are pairs, of a
        side of which so many have come; a row by itself waits until its lack of a match is final.
        """
        bounds = self._bounds(stores)
        return min(*self._counted(stores), *(bounds[each.side.name] - 1 for each in self.alone))

    def _count(self, left: Arrivals, right: Arrivals, stores: Stores) -> None:
        """A span may begin at a number up to which others are still to come."""
        before, emitted = self._counted(stores), stores.counted or (0, 0)
        spans = isinstance(self.left.window, SpannedWindow)
        arrived = [] if spans else left.new[POS].to_list(), right.new[POS].to_list()
        seen = [max(each) for each in zip(before, emitted, map(_most, arrived), strict=True)]
        write_counts(COUNTS, seen[0], seen[1], stores)


def _most(numbers: list[int]) -> int:
    return max(numbers, default=0)
