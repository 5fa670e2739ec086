"""Joins with a static table: each left row looks its partners up, once, as it comes.

The table is whole before the first left row, and so is each later version of it, so all that is
true of a left row is known at once: its pairs, or that it has none. Nothing of it is kept, and
nothing is late; what it makes goes out `full`, at once or at the end of an EARLY period. A left row
of weight -1 retracts what the row of its position made.

| store              | record                                            |
|--------------------|---------------------------------------------------|
| `right`            | a row of the table, by its equal keys             |
| `pending`, `revisions` | see `change_ledger`                               |

Invariant: no left row is compared with a part of the table.

Worked example, LEFT, k = k: the table has (1, x), (1, y). A left row of k 1 makes two pairs,
with the row_keys `[left, right]`; one of k 2 is padded, `[left,null]`.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.errors import QueryError, RunError
from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import row_key
from sqlwin.operators.emitter.schema import DUE, SIGN
from sqlwin.operators.joins.base import JoinBase
from sqlwin.operators.joins.pairing import AT, Pairing, Residual, marked
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.load import not_estimated
from sqlwin.operators.state_queries import StateQuery
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Policy
from sqlwin.schema import EMIT, ROW_KEY, TS, WEIGHT

KINDS = ("inner", "left", "semi", "anti")


@dataclass(frozen=True)
class StaticJoin(JoinBase):
    """right: the table. Windows of both sides have no end. residual: as in `WindowJoin`. single:
    RunError for a left row with two partners."""

    left: Side
    right: Side
    kind: str
    policy: Policy
    residual: Residual | None = None
    update_before: bool = False
    single: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"a join with a table is one of {', '.join(KINDS)}, got {self.kind}")
        self._check_sides()

    @property
    def repeats(self) -> bool:
        return self.left.weighted

    def stores(self) -> list[StoreSpec]:
        table = self.right.spec(self.policy)
        kept = table.on(table.layout, words="the table", expected=not_estimated)
        return [kept, *self.ledger.stores()]

    @property
    def _kept(self) -> tuple[Side, ...]:
        return (self.right,)

    @cached_property
    def pairing(self) -> Pairing:
        return Pairing(self.left, self.right, self.residual)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        """Take prepared rows; those of the table come before any of the left. What they retract is
        an earlier result, where the table is made of another."""
        self.right.put(self.right.arrivals(right, stores), stores)
        removed = left.filter(pl.col(WEIGHT) < 0) if WEIGHT in left.columns else left.clear()
        added = left.filter(pl.col(WEIGHT) > 0) if WEIGHT in left.columns else left
        changes = [self._made(removed, -1, stores, now), self._made(added, 1, stores, now)]
        return self.ledger.emit(pl.concat(changes), stores, now)

    def forget_table(self, stores: Stores) -> None:
        """Before the rows of another version, which has all that is true from now on."""
        table = stores[self.right.name]
        table.erase(table.scan(START, END).select(table.layout.identity))

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(watermark, stores.watermark)
        return self.ledger.emit(self.ledger.none(), stores, now)

    def show_all(self, stores: Stores, now: int) -> pl.DataFrame:
        return self.ledger.none()

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        why = "a table has no time, so a join with it has no windows"
        raise QueryError(why, legal="messages(), the rows of the table")

    # What a left row makes.

    def _made(self, left: pl.DataFrame, sign: int, stores: Stores, now: int) -> pl.DataFrame:
        rows = left.select(*self.left.row)
        pairs = self.pairing.of(rows, self.right.near(rows, self.left, stores))
        first, on = marked(self.left), list(self.left.marks)
        matched = pairs.select(pl.col(new).alias(old) for old, new in first.items())
        if self.single and not matched.is_unique().all():
            self._refuse_several(rows, matched.filter(matched.is_duplicated()))
        alone = rows.join(matched, on=on, how="semi" if self.kind == "semi" else "anti")
        parts = [] if self._single else [pairs.with_columns(self._key(paired=True))]
        if self.kind != "inner":
            placed = alone.with_columns(
                *(pl.col(old).alias(new) for old, new in first.items()), pl.col(TS).alias(AT)
            )
            parts.append(placed.with_columns(self._key(paired=False)))
        emitted = (
            pl.lit(sign, pl.Int8()).alias(SIGN),
            pl.lit("full").alias(EMIT),
            pl.lit(self.ledger.due(now).early, pl.Int64()).alias(DUE),
        )
        return pl.concat([self._whole(part.with_columns(*emitted)) for part in parts])

    def _refuse_several(self, rows: pl.DataFrame, matched: pl.DataFrame) -> None:
        row = rows.join(matched, on=list(self.left.marks), how="semi").row(0, named=True)
        keys = ", ".join(f"{key} = {row[key]}" for key in self.left.keys)
        found = f" for {keys}" if keys else ""
        raise RunError(f"a query in an expression gives more than one row{found}")

    def _whole(self, changes: pl.DataFrame) -> pl.DataFrame:
        """With NULL for what a row that is alone lacks."""
        columns = self.ledger.columns
        lacking = {name: columns[name] for name in columns if name not in changes.columns}
        padded = changes.with_columns(pl.lit(None, dtype).alias(n) for n, dtype in lacking.items())
        return padded.select(*columns)

    def _key(self, paired: bool) -> pl.Expr:
        left, right = (
            row_key({marked(side)[name]: dtype for name, dtype in side.place.items()})
            for side in (self.left, self.right)
        )
        if self._single:
            return left.alias(ROW_KEY)
        other = right if paired else pl.lit("null")
        return pl.concat_str([pl.lit("["), left, pl.lit(","), other, pl.lit("]")]).alias(ROW_KEY)

    @property
    def _single(self) -> bool:
        return self.kind in ("semi", "anti")
