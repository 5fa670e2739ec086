"""Joins in ROWS of results: windows over rows that are numbered by event time.

Which rows pair says their number, see `sides`; a late row gives those behind it other
numbers, and so other partners. The join is that of rows which may be retracted, but for pairs
that stay: of two rows one of which goes and comes with another number, and is near enough still.

A row is *final* when neither its number nor those of its partners can change: then it may be
evicted. It is complete when the watermark is past it and past as many rows of the other side as its
window holds; of messages that come with their number, so many have come.

| store    | record                                                             |
|----------|--------------------------------------------------------------------|
| `past`   | of each side the time before which all its rows are evicted         |
| `left_ordered`, `left_counts`, … | see `ordering`                             |

Worked example, the right row at most one number ahead: left rows at 10 and 30 have the numbers 1
and 2, right ones at 11 and 31 as well. A late left row at 20 takes number 2: the one at 30 has 3
and no longer finds the right one at 11; that at 31 it finds as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.arrivals import Arrivals
from sqlwin.operators.joins.changes.words import Moment
from sqlwin.operators.joins.counts import counts_of, read_counts, write_counts
from sqlwin.operators.joins.operator import WindowJoin
from sqlwin.operators.joins.ordered.sides import NumberedSide
from sqlwin.operators.joins.pairing import Changes, Pairing, marked, of_pairs
from sqlwin.operators.joins.schema import POS
from sqlwin.operators.state_queries import SIDE, MessageRange, StateQuery
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.schema import TS

PAST = "past"


@dataclass(frozen=True)
class OrderedPairing(Pairing):
    left: NumberedSide
    right: NumberedSide

    def changes(self, left: Arrivals, right: Arrivals, stores: Stores) -> Changes:
        """Pairs that stay, though a row of theirs has another number, are in neither."""
        moved = super().changes(left, right, stores)
        numbers = [marked(side)[POS] for side in (self.left, self.right)]
        on = [name for name in self.columns if name not in numbers]
        goes, comes = (
            one.join(other, on=on, how="anti", nulls_equal=True, maintain_order="left")
            for one, other in ((moved.removed, moved.added), (moved.added, moved.removed))
        )
        return Changes(goes, comes)


@dataclass(frozen=True)
class OrderedJoin(WindowJoin):
    left: NumberedSide
    right: NumberedSide

    @cached_property
    def pairing(self) -> OrderedPairing:
        return OrderedPairing(self.left, self.right, self.residual)

    def stores(self) -> list[StoreSpec]:
        retain = self.policy.retain
        ordered = (*self.left.order_stores(retain), *self.right.order_stores(retain))
        past = counts_of(PAST, "rows of each side whose numbers are final")
        return [*super().stores(), *ordered, past]

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        return (self.left, self.right)[side].prepare(rows)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        were = self._bounds(stores)
        lefts, rights = self.left.arrivals(left, stores), self.right.arrivals(right, stores)
        self._count(lefts, rights, stores)
        bounds, due = self._bounds(stores), self.ledger.due(now)
        pairs = self.pairing.changes(lefts, rights, stores)
        removed, added = pairs.removed, pairs.added
        self.left.put(lefts, stores)
        self.right.put(rights, stores)
        changes = [self._pairs(removed, -1, due, stores), self._pairs(added, 1, due, stores)]
        risen = [self.ledger.none()]
        for each in self.alone:
            side, arrived = (self.left, lefts) if each.side is self.left else (self.right, rights)
            fresh, name = side.fresh(arrived, removed, added), side.name
            moment = Moment(now, due, stores.watermark, bounds[name])
            changes.append(self._by_themselves(each, fresh, removed, added, moment, stores))
            touched = (fresh.new, of_pairs(side, removed), of_pairs(side, added))
            waited = self._waited(side, arrived, touched, (were[name], bounds[name]), stores)
            risen.append(each.unmatched_of(waited, stores, now))
        taken = self.ledger.emitted_ever(pl.concat(changes), stores)
        emitted = self.ledger.emit(pl.concat([taken, *risen]), stores, now)
        self._retire(stores)
        return emitted

    def _waited(
        self,
        side: NumberedSide,
        arrived: Arrivals,
        touched: Iterable[pl.DataFrame],
        bounds: tuple[int, int],
        stores: Stores,
    ) -> pl.DataFrame:
        """Rows to which a batch gave nothing but a number, and that are complete by it.

        touched: other rows. bounds: below which rows were complete, and are.
        """
        on, (were, are) = list(side.identity), bounds
        rows = side.scan(stores, were, are)
        if arrived.moved is not None:
            waited, was_complete = _apart(arrived.moved, were)
            rose = arrived.new.join(waited, on=on, how="semi").filter(pl.col(POS) < are)
            rows = side.less(pl.concat([rows, rose]).unique(on, maintain_order=True), was_complete)
        for others in touched:
            rows = side.less(rows, others)
        return rows

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.watermark:
            return self.nothing()
        bounds = self._bounds(stores)
        for side in (self.left, self.right):
            side.pass_by(watermark, self.policy.retain, stores)
        stores.watermark = watermark
        return self._become_complete(bounds, stores, now)

    # State queries.

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        """By the numbers of rows."""
        return self._timed(super().windows(query, stores))

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        return self._timed(super().messages(between, stores))

    def _timed(self, found: pl.DataFrame) -> pl.DataFrame:
        """Messages of a stream have no time that is theirs."""
        come = [side.name for side in (self.left, self.right) if not side.by_time]
        return found.with_columns(pl.when(~pl.col(SIDE).is_in(come)).then(TS).alias(TS))

    # Certainty, and what leaves.

    def _bounds(self, stores: Stores) -> dict[str, int]:
        below = self._below(NumberedSide.complete, stores)
        return {side.name: at for side, at in zip((self.left, self.right), below, strict=True)}

    def _below(
        self, numbers: Callable[[NumberedSide, int, Stores], int], stores: Stores
    ) -> tuple[int, int]:
        """Of each side the number below which rows and their partners are among these."""
        counts = self._counted(stores)
        left, right = numbers(self.left, counts[0], stores), numbers(self.right, counts[1], stores)
        return self.left.final_below(left, right), self.right.final_below(right, left)

    def _retire(self, stores: Stores) -> None:
        horizons, before = self._below(NumberedSide.final, stores), read_counts(PAST, stores, START)
        sides = (self.left, self.right)
        past = [
            max(was, side.evict(horizon, stores))
            for side, horizon, was in zip(sides, horizons, before, strict=True)
        ]
        if tuple(past) != before:
            write_counts(PAST, past[0], past[1], stores)
        for each in self.alone:
            stores[each.store].expire(past[sides.index(each.side)])
        self.ledger.retire(stores, min(past))


def _apart(rows: pl.DataFrame, number: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Those from a number on, and those before it."""
    return rows.filter(pl.col(POS) >= number), rows.filter(pl.col(POS) < number)
