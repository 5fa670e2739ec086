"""A relation of rows, `S [ROWS n]` or `S [PARTITION BY k ROWS n]`: the last n of each key.

Each row is an instant of its own: it enters, `+I`, and the n-th before it leaves, `-D`. Rows
of a declared stream are in the order of their positions and enter as they come. Rows of a
result are in that of their event time (`timed`) and enter as the watermark reaches them; one
that is late enters behind its time: the oldest of the last n leaves, which may be itself.

| store | record                                                     |
|-------|------------------------------------------------------------|
| last  | partition, slot: a row of the relation and its position    |
| rows  | where `timed`: rows that the watermark has not reached     |

Invariant: the slots 0, 1, … of a partition hold its relation in order; it never shrinks.

Worked example, n = 2: 1, 2 and 3 come in one batch: `+I` 1, `+I` 2, `+I` 3, `-D` 1.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import WORD
from sqlwin.operators.load import Load, Records
from sqlwin.operators.relations.changes import LEFT, ROWS, STAGE, WAITS, Entering, changed, entering
from sqlwin.operators.store_spec import ONE_SLICE, StoreSpec, layout_of
from sqlwin.polars_frames import PLACE
from sqlwin.schema import OP, PART, POSITION, SEQ, TS
from sqlwin.state.combine import last_written
from sqlwin.state.slices import slice_width

LAST, SLOT = "last", "__slot"
NEW, STEP, LEAVES = "__new", "__step", "__leaves"
INT: pl.DataType = pl.Int64()


@dataclass(frozen=True)
class CountedRelation(Entering):
    """carried: the input columns, with those of `partition`. size: n, at least 1."""

    stream: str
    carried: dict[str, pl.DataType]
    size: int
    partition: tuple[str, ...]
    timed: bool = False

    @property
    def last_columns(self) -> dict[str, pl.DataType]:
        return {**self.carried, **PLACE, SLOT: INT}

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """Of a row that waits."""
        return {**self.carried, **PLACE, STAGE: pl.Int8()}

    def stores(self) -> list[StoreSpec]:
        last = layout_of(LAST, self.last_columns, self.partition, (SLOT,), ONE_SLICE)
        kept = StoreSpec(last, last_written(last), "rows of each key", self._last)
        return [kept, entering(self.columns, slice_width(0), 0)] if self.timed else [kept]

    def _last(self, load: Load) -> Records:
        return self.size * load.keys_if(bool(self.partition))

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if not self.timed:
            return self._enter(batch, "full", stores)
        reached = pl.col(TS) <= stores.watermark
        waits = batch.filter(~reached).with_columns(pl.lit(WAITS, pl.Int8).alias(STAGE))
        stores[ROWS].put(waits)
        return self._enter(batch.filter(reached), "late", stores)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        before, after = stores.watermark, max(stores.watermark, watermark)
        stores.watermark = after
        if not self.timed or after == before:
            return self.nothing()
        come = self._waiting(before, after, stores)
        stores[ROWS].expire(after + 1)
        return self._enter(come, "full", stores)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        """All that wait enter; nothing leaves for it."""
        if not self.timed:
            return self.nothing()
        come = self._waiting(stores.watermark, END, stores)
        stores[ROWS].put(come.with_columns(pl.lit(LEFT, pl.Int8).alias(STAGE)))
        return self._enter(come, "full", stores)

    def _waiting(self, before: int, after: int, stores: Stores) -> pl.DataFrame:
        return stores[ROWS].scan(before + 1, after + 1).filter(pl.col(STAGE) == WAITS)

    def _enter(self, come: pl.DataFrame, word: str, stores: Stores) -> pl.DataFrame:
        """Rows that enter one after another, in their order."""
        if come.is_empty():
            return self.nothing()
        keys = come.select(self.partition) if self.partition else None
        placed = self._placed(self._beside(come, keys, stores))
        self._keep(placed, stores)
        return self._changes(placed.with_columns(pl.lit(word).alias(WORD)))

    def _beside(
        self, come: pl.DataFrame, keys: pl.DataFrame | None, stores: Stores
    ) -> pl.DataFrame:
        """Rows that enter and those that are there, of `keys` or of all, in their order."""
        names = [*self.carried, *PLACE, NEW]
        held = stores[LAST].scan(START, END, keys).with_columns(pl.lit(False).alias(NEW))
        new = come.with_columns(pl.lit(True).alias(NEW))
        both = pl.concat([held.select(names), new.select(names)])
        return both.sort(*self.partition, *POSITION)

    def _placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """With `__step`, how many of the partition have entered up to each row, and `__leaves`, the
        step at which it leaves, NULL where it stays.

        A row leaves as the n-th above it enters; those held above it count already.
        """
        held = (~pl.col(NEW)).cast(INT)
        above = self._within(held.sum()) - self._within(held.cum_sum())
        step = self._within(pl.col(NEW).cast(INT).cum_sum())
        leaves = step + pl.max_horizontal(self.size - above, 0)
        most = self._within(pl.col(NEW).cast(INT).sum())
        return rows.with_columns(
            step.alias(STEP), pl.when(leaves <= most).then(leaves).alias(LEAVES)
        )

    def _keep(self, placed: pl.DataFrame, stores: Stores) -> None:
        stay = placed.filter(pl.col(LEAVES).is_null())
        number = self._within(pl.int_range(pl.len(), dtype=pl.Int64))
        stores[LAST].put(stay.with_columns(number.alias(SLOT)).select(*self.last_columns))

    def _changes(self, placed: pl.DataFrame) -> pl.DataFrame:
        """In the order in which rows enter; behind each the row that leaves for it."""
        new = placed.filter(NEW)
        come = changed(new, self.stream, self.carried, "+I")
        leaving = placed.filter(pl.col(LEAVES).is_not_null())
        on = [*self.partition, LEAVES]
        causes = new.select(*self.partition, pl.col(STEP).alias(LEAVES), *_marked())
        beside = leaving.join(causes, on=on, how="left", nulls_equal=True, maintain_order="left")
        removed = changed(leaving, self.stream, self.carried, "-D").with_columns(
            beside[_mark(name)] for name in POSITION
        )
        both = pl.concat([come.with_columns(_marked()), removed])
        ordered = both.sort(*map(_mark, POSITION), OP, maintain_order=True)
        return ordered.drop(*POSITION, *map(_mark, POSITION))

    def _within(self, expr: pl.Expr) -> pl.Expr:
        return expr.over(self.partition) if self.partition else expr


def _mark(name: str) -> str:
    return f"__of{name}"


def _marked() -> list[pl.Expr]:
    return [pl.col(name).alias(_mark(name)) for name in (TS, PART, SEQ)]
