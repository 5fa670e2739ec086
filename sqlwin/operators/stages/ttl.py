"""An operator whose keys' state has a TTL; what its TTL entries hear, and when.

A batch is judged by processing time, or by the watermark as it stood before it, as
lateness is; what a batch brings in time counts from its end on.

| the inner operator                | its keys were |
|-----------------------------------|---------------|
| put something of a row's key      | written       |
| was given rows, and put nothing   | read          |
| emitted                           | read          |

Scans of all keys, such as its search for what is due, are no access to any of them, and to note
that messages of others made a session in ROWS full puts nothing of its key's rows. Where rows
may be retracted, `changelog_normalizer` says which of them write.

Worked example, the last row of each key, TTL 1 hour: a row of 9:00 comes at 9:00. At
9:40 one of 8:00 comes, which changes nothing: that reads the key. One that comes at
10:10 finds a state that was read within the hour; if only writes renew it, none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Operator, Stores
from sqlwin.operators.load import Load, Records
from sqlwin.operators.stages.ttl_stage import TtlStage
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.weights import effective
from sqlwin.policies import Ttl, TtlTime
from sqlwin.schema import TS, WEIGHT
from sqlwin.state.combine import last_written
from sqlwin.state.ttl.entries import STORE as TTL_ENTRIES
from sqlwin.state.ttl.entries import ttl_layout
from sqlwin.state.ttl.keyed_store import TtlStore, lived
from sqlwin.state.ttl.lifetimes import LATEST, Lifetimes

CAME = "__came"


@dataclass(frozen=True)
class OperatorTtl(TtlStage):
    """inner: an operator; all its rows, stores and emissions have the columns `keys`."""

    inner: Operator
    ttl: Ttl
    keys: dict[str, pl.DataType]

    @property
    def within(self) -> Operator:
        return self.inner

    def stores(self) -> list[StoreSpec]:
        """Each record has the number of its TTL entry, and these are a store."""
        layout = ttl_layout(self.keys)
        entries = StoreSpec(layout, last_written(layout), "TTL entries", self._each_key, ttl=None)
        return [*(self._lived(spec) for spec in self.inner.stores()), entries]

    def _lived(self, spec: StoreSpec) -> StoreSpec:
        return spec if spec.ttl is None else spec.on(lived(spec.layout))

    def _each_key(self, load: Load) -> Records:
        return load.keys_if(bool(self.keys))

    def open_ttl(self, stores: Stores, saved: Any, run: str | None) -> None:
        """As of `Expiring`."""
        stores.ttl_entries = Lifetimes(self.ttl, stores[TTL_ENTRIES], saved, run)
        for spec in self.stores():
            if spec.ttl is not None:
                inner = stores[spec.name]
                stores.named[spec.name] = TtlStore(inner, stores.ttl_entries, renews=spec.renews)

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """With what of the rows themselves a TTL goes by, where it does.

        Of rows that may be retracted those count that say something.
        """
        if WEIGHT in rows.columns:
            rows = effective(rows)
        known: list[pl.Expr] = []
        if self.ttl.time is TtlTime.EVENT:
            known.append(pl.col(TS).max().alias(LATEST))
        if self.ttl.cleanup.each_record:
            known.append(pl.len().cast(pl.Int64).alias(CAME))
        return _beside(self.inner.prepare(rows), rows, list(self.keys), known)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        self.begun(stores, now)
        assert stores.ttl_entries is not None
        stores.ttl_entries.accessed(batch, int(batch[CAME].sum()) if CAME in batch.columns else 0)
        out = self.inner.on_batch(batch.drop(LATEST, CAME, strict=False), stores, now)
        stores.ttl_entries.taken()
        return self.having_read(out, stores)

    def read(self, emitted: pl.DataFrame, stores: Stores) -> None:
        assert stores.ttl_entries is not None
        if len(emitted):
            stores.ttl_entries.read(emitted)

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.inner.horizons(stores)


def _beside(
    prepared: pl.DataFrame, rows: pl.DataFrame, keys: Sequence[str], known: list[pl.Expr]
) -> pl.DataFrame:
    """`prepared` with what is known of each key's rows; counts stand at the first of a key."""
    if not known:
        return prepared
    if not keys:
        beside = prepared.join(rows.select(known), how="cross")
    else:
        of_keys = rows.group_by(keys).agg(known)
        rest = {"nulls_equal": True, "maintain_order": "left"}
        beside = prepared.join(of_keys, on=list(keys), how="left", **rest)  # type: ignore[arg-type]
    if CAME not in beside.columns:
        return beside
    number = pl.int_range(pl.len())
    first = (number.over(keys) if keys else number) == 0
    return beside.with_columns(pl.when(first).then(CAME).otherwise(0).alias(CAME))
