"""Admission: expiry by RETAIN n ROWS, and deduplication of replayed messages.

The input pipeline expires rows by event time and needs no state. Two checks need
state, and come before the operator sees a row, in SAMZA-552's order:

1. With `RETAIN n ROWS` a late row is expired iff n rows of its key are newer than
   all it could correct; it goes to the error stream whole.
2. With a declared OFFSET that is not TRUSTED, a message that was admitted before
   is a no-op. The `seen` store has the positions of the rows within retention, and of
   all messages still stored; an older one expires before it is looked up. A tuple window
   needs no more than the greatest offset of each source partition, since its
   offsets rise with arrival.

Invariant: no position is in the `seen` store twice, and the position of every row that the
operator was given and that has not left retention is there.

Worked example, OFFSET id, RETAIN 1 HOUR: ids 1, 2 arrive, then 2, 3, 3. Of the second
batch 3 is admitted, once; two replays are counted.
"""

from __future__ import annotations

from dataclasses import field

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.load import Load, Records, Retained
from sqlwin.operators.over import base_sums
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.operators.windows import messages
from sqlwin.polars_frames import PLACE
from sqlwin.runtime.inputs.retention import RowRetention
from sqlwin.runtime.rows.error_stream import EXPIRED, INTERNAL, WHOLE, no_rejects, refused
from sqlwin.schema import PART, POSITION, SEQ, TS
from sqlwin.state.combine import keep_all
from sqlwin.state.contract import HORIZON, Store

SEEN, KNOWN = "seen", "__known"
MESSAGES = (messages.MESSAGES, base_sums.ROWS)
"""What message stores are called: a durable store keeps them apart."""


@dataclass(frozen=True)
class Admission:
    """stream: for messages. replays: positions show repeated messages. rising: by offset alone.

    by_rows: the keys within which RETAIN n ROWS counts and their dtypes, None without
    it. retention: of event time; None: for ever. slice_width: of the `seen` store.
    nameless: keys have a TTL, and positions outlive it: they are kept without the keys.
    at: the number of the input. retain_rows: the n of RETAIN n ROWS.
    """

    stream: str
    replays: bool
    rising: bool
    by_rows: tuple[tuple[str, pl.DataType], ...] | None
    retention: RowRetention | None
    slice_width: int
    nameless: bool = False
    at: int = 0
    retain_rows: int | None = None

    @property
    def store(self) -> str:
        """Of positions; each input of a query has its own."""
        return SEEN if self.at == 0 else f"{SEEN}{self.at}"

    def stores(self) -> list[StoreSpec]:
        if not self.replays or self.rising:
            return []
        columns = {**({} if self.nameless else dict(self.by_rows or ())), **PLACE}
        layout = layout_of(self.store, columns, (), POSITION, self.slice_width)
        words = f"positions of the messages of {self.stream}"
        return [StoreSpec(layout, keep_all(layout), words, self._expected, ttl=None)]

    def _expected(self, load: Load) -> Records:
        """Positions of rows, as long as one that came again would not have expired."""
        kept = self.retention
        retain = None if kept is None else kept.retain
        reach = 0 if kept is None or kept.window is None else kept.window.size or 0
        rows = Retained(retain, self.retain_rows, self.slice_width, bool(self.by_rows), self.at)
        return rows.rows(load, reach)

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.by_rows or ())

    def retire(
        self,
        watermark: int,
        stores: Stores,
        horizons: pl.DataFrame | None,
        kept: list[Store],
        oldest: int = END,
    ) -> None:
        """Evict expired positions, but of no stored message: a recovery may have to replay it.

        kept: the stores that pin the positions of their messages. oldest: no row before it counts.
        """
        if self.store not in stores.named:
            return
        if horizons is not None and len(horizons) and not self.nameless:
            stores[self.store].cut(self._lowered(horizons, watermark, kept))
        if self.retention is not None:
            pinned = [store.horizon for store in kept]
            stores[self.store].expire(min([self.retention.horizon(watermark), oldest, *pinned]))

    def _lowered(self, horizons: pl.DataFrame, watermark: int, kept: list[Store]) -> pl.DataFrame:
        """Retention horizons, lowered to the watermark and to the oldest message of the keys."""
        reached = pl.min_horizontal(HORIZON, pl.lit(watermark, pl.Int64))
        lowered = horizons.drop_nulls(HORIZON).select(*self.keys, reached)
        if not kept or lowered.is_empty():
            return lowered
        messages = kept[0].scan(START, END).select(*self.keys, TS)
        least = messages.group_by(self.keys).min() if self.keys else messages.min()
        lowest = _with_floor(least, lowered, self.keys).drop_nulls(HORIZON)
        return lowest.select(*self.keys, pl.min_horizontal(HORIZON, TS))


@dataclass(frozen=True)
class Admitted:
    """rows: without internal columns. errors: as `rejects`. replayed: how many were no-ops."""

    rows: pl.DataFrame
    errors: pl.DataFrame = field(default_factory=no_rejects)
    replayed: int = 0


def admit(
    rule: Admission,
    rows: pl.DataFrame,
    stores: Stores,
    offsets: dict[int, int],
    horizons: pl.DataFrame | None,
    watermark: int,
) -> Admitted:
    """Check `rows` of an input pipeline. offsets: the greatest by partition, advanced here.

    horizons: key columns and `__floor`, of `RETAIN n ROWS`. watermark: before the batch.
    """
    kept, errors = _unexpired(rule, rows, horizons, watermark)
    fresh = _fresh(rule, kept, stores, offsets) if rule.replays else kept
    return Admitted(fresh.drop(INTERNAL, strict=False), errors, len(kept) - len(fresh))


def _unexpired(
    rule: Admission, rows: pl.DataFrame, horizons: pl.DataFrame | None, watermark: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    if rule.by_rows is None or horizons is None or horizons.is_empty() or rows.is_empty():
        return rows, no_rejects()
    floored = _with_floor(rows, horizons, rule.keys)
    old = (pl.col(TS) < watermark) & (pl.col(TS) < pl.col(HORIZON))
    gone = floored.filter(old.fill_null(False))
    if gone.is_empty():
        return rows, no_rejects()
    return floored.filter(~old.fill_null(False)).drop(HORIZON), _refused(rule, gone, watermark)


def expired_before(
    rule: Admission, rows: pl.DataFrame, offsets: dict[int, int], watermark: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """New rows, less replayed ones that `RETAIN n ROWS` had expired.

    While the message store is lost the horizons are unknown: such rows are late, and not beyond
    the greatest offset.
    """
    known = _with_known(rows, offsets)
    old = ((pl.col(TS) < watermark) & (pl.col(SEQ) <= pl.col(KNOWN))).fill_null(False)
    return known.filter(~old).drop(KNOWN), _refused(rule, known.filter(old), watermark)


def _refused(rule: Admission, gone: pl.DataFrame, watermark: int) -> pl.DataFrame:
    return refused(rule.stream, gone, gone[WHOLE].to_list(), [EXPIRED] * len(gone), watermark)


def _with_floor(rows: pl.DataFrame, horizons: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    if not keys:
        return rows.with_columns(pl.lit(horizons[HORIZON][0], pl.Int64).alias(HORIZON))
    return rows.join(
        horizons.select(*keys, HORIZON),
        on=list(keys),
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )


def _fresh(
    rule: Admission, rows: pl.DataFrame, stores: Stores, offsets: dict[int, int]
) -> pl.DataFrame:
    once = rows.unique(POSITION, keep="first", maintain_order=True)
    if once.is_empty():
        return once
    if rule.rising:
        return _risen(once, offsets)
    known = stores[rule.store]
    seen = known.scan(*bounds(once[TS])).select(POSITION)
    fresh = once.join(seen, on=list(POSITION), how="anti", maintain_order="left")
    known.put(fresh.select(known.layout.schema.names()))
    for part, seq in fresh.group_by(PART).agg(pl.col(SEQ).max()).iter_rows():
        offsets[part] = max(seq, offsets.get(part, seq))
    return fresh


def _risen(rows: pl.DataFrame, offsets: dict[int, int]) -> pl.DataFrame:
    known = _with_known(rows, offsets)
    fresh = known.filter(pl.col(KNOWN).is_null() | (pl.col(SEQ) > pl.col(KNOWN)))
    offsets.update(fresh.group_by(PART).agg(pl.col(SEQ).max()).iter_rows())
    return fresh.drop(KNOWN)


def _with_known(rows: pl.DataFrame, offsets: dict[int, int]) -> pl.DataFrame:
    known = pl.DataFrame(
        {PART: list(offsets), KNOWN: list(offsets.values())},
        schema={PART: pl.Int32, KNOWN: pl.Int64},
    )
    return rows.join(known, on=PART, how="left", maintain_order="left")
