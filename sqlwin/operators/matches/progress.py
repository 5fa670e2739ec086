"""How far the matching of each partition has come: where attempts begin, and where it is open.

    begin   no row before it begins a match that may still change: attempts are made anew from here
    open    what begins before it is decided by the rows below the watermark, and was emitted

Both are positions, and not of rows that there must be. A partition in which no match waits is open
at the watermark. One without a record has its begin before all its rows.

Invariant: begin <= open. A record's time is that of its begin, so it goes with the rows before it.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.load import Load, Records
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.polars_frames import PLACE
from sqlwin.schema import PART, SEQ, TS
from sqlwin.state.combine import last_written
from sqlwin.state.contract import HORIZON

STORE = "progress"
BEGIN = ("__begin", "__begin_part", "__begin_seq")
OPEN = ("__open", "__open_part", "__open_seq")
PLACES = (TS, PART, SEQ)
NO_PART, NO_SEQ = -(2**31), -(2**63)
"""Before every position of an instant."""


@dataclass(frozen=True)
class Progress:
    """partition: its columns."""

    partition: dict[str, pl.DataType]

    @property
    def columns(self) -> dict[str, pl.DataType]:
        places = {
            name: PLACE[own]
            for names in (BEGIN, OPEN)
            for name, own in zip(names, PLACES, strict=True)
        }
        return {**self.partition, **places}

    def spec(self, slice_width: int) -> StoreSpec:
        layout = layout_of(STORE, self.columns, tuple(self.partition), BEGIN[:1], slice_width)
        words = "where each partition is open"
        return StoreSpec(layout, last_written(layout), words, self._partitions)

    def _partitions(self, load: Load) -> Records:
        return load.keys_if(bool(self.partition))

    def of(self, keys: pl.DataFrame, stores: Stores, passed: int) -> pl.DataFrame:
        """Records of partitions, one a line of `keys`, which has their columns once each.

        passed: the watermark up to which all rows were seen; one that waits for none is open there.
        """
        waits = pl.col(OPEN[1]) > NO_PART
        at = pl.when(waits).then(OPEN[0]).otherwise(pl.max_horizontal(OPEN[0], pl.lit(passed)))
        return self._known(keys, stores).with_columns(at.alias(OPEN[0]))

    def _known(self, keys: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        known = everything(stores, STORE)
        if not self.partition:
            return (known if len(known) else self._absent()).head(len(keys))
        on = list(self.partition)
        found = keys.select(on).join(
            known, on=on, how="left", nulls_equal=True, maintain_order="left"
        )
        return found.with_columns(pl.col(name).fill_null(value) for name, value in _ABSENT.items())

    def _absent(self) -> pl.DataFrame:
        """Of one without a record, where rows have no partition."""
        return pl.DataFrame({n: [v] for n, v in _ABSENT.items()}, schema=self.columns)

    def put(self, records: pl.DataFrame, stores: Stores) -> None:
        """In the place of those of the same partitions."""
        if records.is_empty():
            return
        store = stores[STORE]
        kept = pl.col(BEGIN[0]) >= store.horizon  # else no row is left before that
        least = zip(BEGIN, (store.horizon, NO_PART, NO_SEQ), PLACES, strict=True)
        records = records.with_columns(
            pl.when(kept).then(name).otherwise(pl.lit(value, PLACE[own])).alias(name)
            for name, value, own in least
        )
        moved = records.select(*self.partition, pl.col(BEGIN[0]).alias(HORIZON))
        store.cut(moved) if self.partition else store.expire(int(moved[HORIZON][0]))
        store.put(records.select(*self.columns))


_ABSENT = {
    **dict(zip(BEGIN, (START, NO_PART, NO_SEQ), strict=True)),
    **dict(zip(OPEN, (START, NO_PART, NO_SEQ), strict=True)),
}


def before(names: tuple[str, ...], others: tuple[str, ...]) -> pl.Expr:
    """Whether the position in columns `names` is before that in `others`."""
    (ts, part, seq), (other_ts, other_part, other_seq) = names, others
    same = pl.col(ts) == pl.col(other_ts)
    sooner = (pl.col(part) < pl.col(other_part)) | (
        (pl.col(part) == pl.col(other_part)) & (pl.col(seq) < pl.col(other_seq))
    )
    return (pl.col(ts) < pl.col(other_ts)) | (same & sooner)
