"""ASOF joins: for each left row the nearest right row of its keys, or none.

A left row goes out when no nearer row can come, and is corrected when a late one does after
all. Which rows a batch may change is a range of time and its keys; for each of these the
nearest is found anew and compared with the one last emitted.

| store        | record                                                        |
|--------------|---------------------------------------------------------------|
| `left`       | the row, until it leaves by RETAIN                            |
| `right`      | the row; looking back, the newest of each key always stays    |
| `left_known` | what was emitted of the row; see `nearest`                       |
| `pending`, `revisions` | see `change_ledger`                                      |

Invariant: a row that is out is so with its nearest, but for what LATE NEVER keeps silent.
The nearest of a left row that is kept is kept: looking back, no row is evicted but for a
newer one that is itself out of retention; looking ahead, both sides are evicted together, or by
key with RETAIN n ROWS (`retention`).

With a TTL rows are forgotten besides. A left row that is out stays so with the right row it
was emitted with, though that is forgotten, until a nearer one comes. One that waits to be
complete is found a right row among those that are there then.

Worked example, `>=`, watermark 10: a left row at 8 and a right row at 5 have come; the left
row went out with it. A right row at 6: `+U late`, revision 1.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import row_key
from sqlwin.operators.emitter.schema import DUE, OLD, SIGN
from sqlwin.operators.joins.arrivals import Arrivals
from sqlwin.operators.joins.asof.nearest import FOUND, KNOWN, MEETS, TAKEN, Nearest, window_of
from sqlwin.operators.joins.asof.retention import Outnumbered, retire, versions
from sqlwin.operators.joins.base import JoinBase
from sqlwin.operators.joins.changes.replaced import as_they_were
from sqlwin.operators.joins.pairing import AT, marked
from sqlwin.operators.joins.schema import LIVE, OUT, REPLACED, WANTED
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Policy
from sqlwin.schema import EMIT, TS
from sqlwin.windows.joins import AsOf

COMPLETE = "__complete"


@dataclass(frozen=True)
class AsOfJoin(JoinBase):
    """kind: `inner`, where a row without a right one is no result, or `left`."""

    left: Side
    right: Side
    match: AsOf
    kind: str
    policy: Policy
    update_before: bool = False

    def __post_init__(self) -> None:
        if self.kind not in ("inner", "left"):
            raise ValueError(f"an ASOF join is inner or left, got {self.kind}")
        self._check_sides()

    @classmethod
    def of(
        cls,
        match: AsOf,
        left: tuple[Columns, tuple[str, ...]],
        right: tuple[Columns, tuple[str, ...]],
        kind: str,
        policy: Policy,
        slice_width: int,
        update_before: bool = False,
        **more: Any,
    ) -> AsOfJoin:
        """left, right: columns and keys of each side; more: as in `Side`."""
        window, ttls = window_of(match), policy.ttls
        one, other = ({"forgets": side in ttls, **more} for side in ("left", "right"))
        first = Side("left", *left, window, slice_width, **one)
        second = Side("right", *right, window.mirrored, slice_width, **other)
        return cls(first, second, match, kind, policy, update_before)

    @property
    def repeats(self) -> bool:
        return True

    @property
    def retains_rows(self) -> bool:
        return not (self.left.weighted or self.right.weighted or self.nearest.forgets)

    @cached_property
    def outnumbered(self) -> Outnumbered | None:
        n = self.policy.retain_rows
        return None if n is None else Outnumbered(self.nearest, n)

    def stores(self) -> list[StoreSpec]:
        words = "what was emitted of each left row"
        known = self.left.record(KNOWN, self.nearest.known, words, self.policy)
        return [
            self.left.spec(self.policy),
            versions(self.right, self.policy),
            known,
            *self.ledger.stores(),
        ]

    @cached_property
    def nearest(self) -> Nearest:
        return Nearest(self.left, self.right, self.match, self.policy.retain)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        """Take prepared rows of both sides, none of them expired; emit what goes out at once."""
        lefts, rights = self.left.arrivals(left, stores), self.right.arrivals(right, stores)
        if not (lefts or rights):
            return self.nothing()
        self.left.put(lefts, stores)
        self.right.put(rights, stores)
        moved = pl.concat([rights.new, rights.removed])
        near = self.left.near(moved, self.right, stores)
        rows = pl.concat([lefts.new, near]).unique(self.left.identity, maintain_order=True)
        judged = self._judged(rows, lefts, rights, stores)
        return self._tell(judged, lefts.removed, stores, now)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= stores.watermark and self.outnumbered is None:
            return self.nothing()
        closed, stores.watermark = stores.watermark, max(watermark, stores.watermark)
        since = closed if self.match.backward else START
        known = self.nearest.valued(self.left.scan(stores, since, stores.watermark), stores)
        complete = self.nearest.complete(stores.watermark) & ~self.nearest.was_complete(closed)
        final = known.filter(complete)
        if self.outnumbered is not None:
            floors = self.outnumbered.left_floors(known, stores)
            unmatched = self.outnumbered.below(known.filter(~complete, ~pl.col(FOUND)), floors)
            final = pl.concat([final, unmatched])
        emitted = self.ledger.emit(self._shown(final, stores, now), stores, now)
        if self.outnumbered is not None:
            self.outnumbered.evict(floors, stores)
        if self.policy.retain is not None:
            was, horizon = closed - self.policy.retain, stores.watermark - self.policy.retain
            self.ledger.retire(stores, retire(self.nearest, was, horizon, stores))
        return emitted

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        if self.outnumbered is None:
            return super().horizons(stores, side)
        return self.outnumbered.horizons(stores, side)

    def show_all(self, stores: Stores, now: int) -> pl.DataFrame:
        since = stores.watermark if self.match.backward else START
        known = self.nearest.valued(self.left.scan(stores, since, END), stores)
        return self._shown(known.filter(~self.nearest.was_complete(stores.watermark)), stores, now)

    # What changes.

    @property
    def _results(self) -> pl.Expr:
        return pl.col(FOUND) | pl.lit(self.kind == "left")

    def _judged(
        self, rows: pl.DataFrame, lefts: Arrivals, rights: Arrivals, stores: Stores
    ) -> pl.DataFrame:
        """Rows, and those retracted, with what was emitted and whether a result is wanted."""
        left, removed = self.left, (lefts.removed, rights.removed)
        alive = self.nearest.valued(rows, stores, removed).with_columns(pl.lit(True).alias(LIVE))
        dead = self.nearest.valued(left.less(lefts.removed, lefts.new), stores, removed)
        known = pl.concat([alive, dead.with_columns(pl.lit(False).alias(LIVE))])
        on, replaced = list(left.identity), lefts.removed.with_columns(pl.lit(True).alias(REPLACED))
        known = known.join(replaced.select(*on, REPLACED), on=on, how="left")
        sure = self.nearest.complete(stores.watermark)
        found = pl.col(FOUND) | pl.lit(self.match.backward or not self.nearest.forgets)
        emitted = (sure & found) | pl.col(OUT) | pl.lit(self.policy.early is not None)
        return known.with_columns(
            pl.col(REPLACED).fill_null(False),
            sure.alias(COMPLETE),
            (pl.col(LIVE) & emitted).alias(MEETS),
            (pl.col(LIVE) & emitted & self._results).alias(WANTED),
        )

    def _tell(
        self, known: pl.DataFrame, removed: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        other = [pl.col(name).ne_missing(pl.col(OLD + name)) for name in self.right.columns]
        changed = pl.col(REPLACED) | pl.any_horizontal(other)
        both = pl.col(OUT) & pl.col(WANTED)
        moved = known.filter((pl.col(OUT) != pl.col(WANTED)) | (both & changed))
        due = self.ledger.due(now)
        late = (pl.lit("late"), pl.lit(due.late, pl.Int64()))
        early = (pl.lit("early"), pl.lit(due.early, pl.Int64()))
        by_row = [pl.when(COMPLETE).then(a).otherwise(b) for a, b in zip(late, early, strict=True)]
        was_late = pl.col(TS) < stores.watermark
        by_old = [pl.when(was_late).then(a).otherwise(b) for a, b in zip(late, early, strict=True)]
        minus = [
            pl.when(REPLACED).then(a).otherwise(b) for a, b in zip(by_old, by_row, strict=True)
        ]
        changes = [
            self._change(self._as_emitted(moved.filter(OUT), removed), -1, *minus),
            self._change(moved.filter(WANTED), 1, *by_row),
        ]
        taken = self.ledger.emitted_ever(pl.concat(changes), stores)
        on = list(self.left.identity)
        marks = {new: old for old, new in marked(self.left).items()}
        emitted = (
            taken.select(*marks).rename(marks).unique().with_columns(pl.lit(True).alias(TAKEN))
        )
        judged = known.join(emitted, on=on, how="left", maintain_order="left").with_columns(
            pl.col(TAKEN).fill_null(False)
        )
        self.nearest.remember(judged, stores)
        return self.ledger.emit(taken, stores, now)

    def _shown(self, known: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        """Changes that emit rows for the first time."""
        rows = known.filter(~pl.col(OUT), self._results)
        true = (pl.lit(True).alias(name) for name in (WANTED, TAKEN, MEETS))
        self.nearest.remember(rows.with_columns(*true), stores)
        return self._change(rows, 1, pl.lit("full"), pl.lit(now, pl.Int64()))

    def _as_emitted(self, rows: pl.DataFrame, removed: pl.DataFrame) -> pl.DataFrame:
        """Rows with the values they were emitted with."""
        emitted = rows.with_columns(pl.col(OLD + name).alias(name) for name in self.right.columns)
        return as_they_were(self.left, emitted, removed)

    def _change(self, rows: pl.DataFrame, sign: int, word: pl.Expr, due: pl.Expr) -> pl.DataFrame:
        nulls = {new: self.right.marks[old] for old, new in marked(self.right).items()}
        return rows.with_columns(
            pl.lit(sign, pl.Int8()).alias(SIGN),
            word.alias(EMIT),
            due.alias(DUE),
            pl.col(TS).alias(AT),
            row_key(self.left.place),
            *(pl.col(old).alias(new) for old, new in marked(self.left).items()),
            *(pl.lit(None, dtype).alias(name) for name, dtype in nulls.items()),
        ).select(*self.ledger.columns)
