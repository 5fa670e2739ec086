"""An operator over rows that may be retracted, where a TTL forgets some: it knows which.

What was forgotten here cannot be retracted: accumulators would count it less than once. And a
row that was forgotten below comes again without being retracted first. So the inner operator
is given, of a batch,

| row                                         | is                                          |
|---------------------------------------------|---------------------------------------------|
| retracted, and known                        | taken                                       |
| retracted, and not known                    | passed over                                 |
| new, and known under its position (`again`) | taken; the known one is retracted before it |
| new                                         | taken                                       |

and prepares that. All that is taken writes its key, where keys have TTL entries; what is passed
over reads it. The rows are known as long as all else of their key is.

An OVER operator keeps its rows; of others a store `positions` keeps where each was, or, where
they come again, what each was; with its weight, for what was written last counts.

Worked example, SUM(n) by k: n = 5 of row 7 comes. All of k is forgotten. Row 7 becomes 6:
n = 5 is retracted, which is passed over, and n = 6 comes: the sum is 6, `+I`, not 1.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Operator, Stores, bounds, next_full
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.operators.weights import SIGN, effective, there, weighed
from sqlwin.polars_frames import PLACE
from sqlwin.schema import PART, POSITION, SEQ, TS, WEIGHT
from sqlwin.state.combine import last_written
from sqlwin.state.slices import ENDLESS, slice_width

POSITIONS = "positions"


@dataclass(frozen=True)
class ChangelogNormalizer:
    """carried: columns of the rows. keys: some of them, those of TTL entries.

    store: has the rows, by position and with weights. again: rows may come again that were not
    retracted. retain: how much older than the watermark a row may be; None: any.
    """

    inner: Operator
    carried: dict[str, pl.DataType]
    keys: tuple[str, ...]
    store: str
    again: bool
    retain: int | None

    @property
    def notes(self) -> bool:
        """Whether the store is one of its own."""
        return self.store == POSITIONS

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """Of a record of its own store."""
        kept = self.carried if self.again else {key: self.carried[key] for key in self.keys}
        return {**kept, **PLACE, **SIGN}

    def stores(self) -> list[StoreSpec]:
        below = self.inner.stores()
        if not self.notes:
            return below
        width = slice_width(ENDLESS if self.retain is None else self.retain)
        layout = layout_of(POSITIONS, self.columns, self.keys, POSITION, width)
        words = f"{'rows' if self.again else 'positions of rows'} that may be retracted"
        return [*below, StoreSpec(layout, last_written(layout), words)]

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return effective(rows).select(*self.carried, *POSITION, WEIGHT)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        rows = self.known(batch, stores)
        if stores.ttl_entries is not None:
            stores.ttl_entries.written(rows)
        if self.notes:
            # what is retracted is written first, for another may take its place
            stores[self.store].put(rows.select(*self.columns).sort(WEIGHT))
        return self.inner.on_batch(self.inner.prepare(rows), stores, now)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        out = self.inner.on_watermark(watermark, stores, now)
        if self.notes and self.retain is not None and stores.watermark > START:
            stores[self.store].expire(stores.watermark - self.retain)
        return out

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self.inner.on_tick(now, stores)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self.inner.on_end(stores, now)

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.inner.horizons(stores)

    def next_deadline(self, stores: Stores) -> int | None:
        return self.inner.next_deadline(stores)

    def next_full(self, stores: Stores) -> int | None:
        return next_full(self.inner, stores)

    def known(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """What is taken of a batch."""
        removed, added = (batch.filter(pl.col(WEIGHT) == weight) for weight in (-1, 1))
        if len(removed):
            rows = there(stores[self.store].scan(*bounds(removed[TS]))).select(POSITION)
            removed = removed.join(rows, on=list(POSITION), how="semi", maintain_order="left")
        if not self.again or added.is_empty():
            return pl.concat([removed, added])
        return effective(pl.concat([removed, self._replaced(removed, added, stores), added]))

    def _replaced(self, removed: pl.DataFrame, added: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Rows there that others come in place of, though nothing retracts them."""
        place = [PART, SEQ]
        since = START if self.retain is None else max(START, stores.watermark - self.retain)
        rows = there(stores[self.store].scan(since, END))
        again = rows.join(added, on=place, how="semi").join(removed, on=place, how="anti")
        return weighed(again, -1).select(added.columns)
