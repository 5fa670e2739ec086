"""Ranked rows that change or go: what is held of each, and what of it was emitted.

Where the input retracts rows, a place is freed as well as taken: so all rows are held,
also those beyond the limit, and each with what was last emitted of it.

| a row                                            | `__there` | `__sent`, `__old.*`        |
|--------------------------------------------------|-----------|----------------------------|
| is in the input, emitted                         | true      | place, values last emitted |
| is in the input, not emitted, or retracted since | true      | NULL                       |
| was retracted by the input, is emitted           | false     | place, values last emitted |

One that is neither in the input nor emitted is not held.

Worked example, the best row: b (5 points) is emitted `+I` 0, c (3) is not. b is retracted: it
goes out `-D` 1, c `+I` 0. Were b replaced by b (4) instead, it would go out `+U` 1.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.emitter.schema import OLD
from sqlwin.polars_frames import whole
from sqlwin.schema import PART, POSITION, REVISION, SEQ

THERE = "__there"
SENT = "__sent"
CAME = "__came"


@dataclass(frozen=True)
class TopChanges:
    """carried: the columns of a row. name: of its place. partition: columns of it."""

    carried: dict[str, pl.DataType]
    name: str
    partition: tuple[str, ...]

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """What is held beside a row."""
        return {THERE: pl.Boolean(), **{OLD + name: t for name, t in self.carried.items()}}

    def applied(
        self, held: pl.DataFrame, removed: pl.DataFrame, added: pl.DataFrame
    ) -> pl.DataFrame:
        """The rows that are held after a batch took some away and brought others."""
        left = self._less(held, removed)
        new = self._final_before(added, left, held)
        others = left.join(new, on=self._place, how="anti", nulls_equal=True)
        return pl.concat([others, new.select(held.columns)]).filter(
            pl.col(THERE) | pl.col(SENT).is_not_null()
        )

    def differs(self, within: pl.Expr) -> pl.Expr:
        """Whether what is emitted of a row is not what is to be emitted."""
        changed = [pl.col(name).ne_missing(pl.col(OLD + name)) for name in self.carried]
        moved = pl.any_horizontal(pl.col(self.name).ne_missing(pl.col(SENT)), *changed)
        return pl.when(within).then(moved).otherwise(pl.col(SENT).is_not_null())

    def emitted(self, placed: pl.DataFrame, within: pl.Expr) -> pl.DataFrame:
        """Rows once all that differs was emitted; what is neither emitted nor there is evicted."""
        more = pl.when(self.differs(within)).then(pl.col(REVISION) + 1).otherwise(pl.col(REVISION))
        return placed.filter(THERE).with_columns(
            more.cast(pl.Int32).alias(REVISION),
            pl.when(within).then(pl.col(self.name)).alias(SENT),
            *(pl.when(within).then(pl.col(name)).alias(OLD + name) for name in self.carried),
        )

    @property
    def _place(self) -> list[str]:
        return [*self.partition, PART, SEQ]

    def _less(self, held: pl.DataFrame, removed: pl.DataFrame) -> pl.DataFrame:
        """One that is not there in this place, at this instant, cannot be retracted."""
        on = list(dict.fromkeys((*self.partition, *POSITION)))
        marked = removed.select(*on, pl.lit(False).alias(CAME))
        known = whole(held).join(marked, on=on, how="left", nulls_equal=True, maintain_order="left")
        return known.with_columns(pl.col(THERE) & pl.col(CAME).fill_null(True)).drop(CAME)

    def _final_before(
        self, added: pl.DataFrame, left: pl.DataFrame, held: pl.DataFrame
    ) -> pl.DataFrame:
        """New rows with what is emitted under their positions."""
        beside = [name for name in held.columns if name not in added.columns]
        there = whole(left.select(*self._place, *beside))
        new = whole(added).join(there, on=self._place, how="left", nulls_equal=True)
        return new.with_columns(pl.lit(True).alias(THERE), pl.col(REVISION).fill_null(-1))
