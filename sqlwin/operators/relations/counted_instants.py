"""RSTREAM of a relation of rows, `RSTREAM(S [PARTITION BY k ROWS n])`: the whole relation, whenever
it changes.

Each row that enters is an instant, and at it the last n rows of every key are emitted, `+I`, each
known by its position and that of the row that entered. A late row of a result that leaves as it
enters changes nothing, and is none. The stores are those of the relation.

Worked example, n = 2: 1, 2 and 3 come in one batch: 1; 1 and 2; 2 and 3.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import WORD
from sqlwin.operators.relations.changes import there_at
from sqlwin.operators.relations.counted import LEAVES, NEW, STEP, CountedRelation
from sqlwin.schema import PART, POSITION, SEQ

ENTERS, GOES, AT = "__enters", "__goes", "__instant"
BY_PART, BY_SEQ = "__by_part", "__by_seq"


@dataclass(frozen=True)
class CountedInstants(CountedRelation):
    """All rows go to one bucket. instant: what the position of the message is called."""

    instant: str | None = None

    @property
    def output(self) -> dict[str, pl.DataType]:
        named: dict[str, pl.DataType] = {} if self.instant is None else {self.instant: pl.Int64()}
        return {**self.carried, **named}

    def _enter(self, come: pl.DataFrame, word: str, stores: Stores) -> pl.DataFrame:
        if come.is_empty():
            return self.nothing()
        placed = self._placed(self._beside(come, None, stores))
        self._keep(placed, stores)
        known = self._there(placed).with_columns(pl.lit(word).alias(WORD))
        if self.instant is not None:
            known = known.with_columns(pl.col(BY_SEQ).alias(self.instant))
        return there_at(known, self.stream, self.output, {BY_PART: pl.Int32(), BY_SEQ: pl.Int64()})

    def _there(self, placed: pl.DataFrame) -> pl.DataFrame:
        """Rows as often as they are there after a row has entered, in the order of these."""
        new = placed.filter(NEW).sort(*POSITION).with_row_index(ENTERS)
        rows = self._spans(placed, new)
        most = rows[GOES].to_numpy() - rows[ENTERS].to_numpy()
        index = np.repeat(np.arange(len(rows)), most)
        offsets = np.arange(len(index)) - np.repeat(np.cumsum(most) - most, most)
        every = rows[index].with_columns(pl.col(ENTERS) + pl.Series(offsets, dtype=pl.Int64))
        stayed = rows.filter(NEW, pl.col(GOES) > pl.col(ENTERS)).select(ENTERS)
        by = new.select(
            pl.col(ENTERS).cast(pl.Int64), pl.col(PART).alias(BY_PART), pl.col(SEQ).alias(BY_SEQ)
        )
        held = every.join(stayed, on=ENTERS, how="semi").join(by, on=ENTERS, how="left")
        return held.sort(ENTERS, *POSITION)

    def _spans(self, placed: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
        """With the number of the new row at which a row enters, 0 if it is held, and leaves."""
        numbers = new.select(*POSITION, ENTERS)
        goes = new.select(*self.partition, pl.col(STEP).alias(LEAVES), pl.col(ENTERS).alias(GOES))
        entered = placed.join(numbers, on=list(POSITION), how="left", maintain_order="left")
        on = [*self.partition, LEAVES]
        left = entered.join(goes, on=on, how="left", nulls_equal=True, maintain_order="left")
        stays = pl.when(pl.col(LEAVES).is_null()).then(len(new)).otherwise(GOES)
        return left.with_columns(
            pl.col(ENTERS).fill_null(0).cast(pl.Int64), stays.cast(pl.Int64).alias(GOES)
        )
