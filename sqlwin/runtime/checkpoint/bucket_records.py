"""The records of a store in all its old buckets together, with the bucket of each.

Numbers of TTL entries are of a bucket, so they are given anew: an entry, and each record that names
it, get the same `__new_number`.

Invariant: no two entries have one new number; a record whose entry is gone is gone with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.runtime.checkpoint.task_state import Metadata
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.ttl.entries import LIFE, ttl_store_name
from sqlwin.state.ttl.entries import STORE as TTL_ENTRIES
from sqlwin.state.ttl.join_entries import life_of
from sqlwin.state.ttl.pair_store import NOBODY

SIDES = ("left", "right")
TABLES = (TTL_ENTRIES, *map(ttl_store_name, SIDES))
TO, FROM, NEW, THERE = "__to_bucket", "__from_bucket", "__new_number", "__holds"


@dataclass(frozen=True)
class Entries:
    """The TTL entries of all buckets under their new numbers. numbers: by store, of which bucket
    (`__from_bucket`) and which number (`__life`) became which (`__new_number`)."""

    numbers: Mapping[str, pl.DataFrame]

    @staticmethod
    def of(tables: Sequence[Mapping[str, SegmentStore]]) -> Entries:
        numbers = {}
        for name in tables[0]:
            lifetimes = [
                each[name].scan(START, END).select(pl.lit(at, pl.Int64).alias(FROM), LIFE)
                for at, each in enumerate(tables)
            ]
            whole = pl.concat(lifetimes).sort(LIFE, FROM)
            numbers[name] = whole.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(NEW))
        return Entries(numbers)

    def renumbered(self, spec: StoreSpec, bucket: int, frame: pl.DataFrame) -> pl.DataFrame:
        """Records, or horizons, of a bucket."""
        if not self.numbers:
            return frame
        own = spec.name if spec.name in TABLES else self._table(spec)
        columns = {LIFE: own, **{life_of(side): ttl_store_name(side) for side in SIDES}}
        for column, table in columns.items():
            if column in frame.columns and table in self.numbers:
                frame = self._one(frame, column, table, bucket)
        return frame

    def _table(self, spec: StoreSpec) -> str:
        return ttl_store_name(spec.ttl) if spec.ttl in SIDES else TTL_ENTRIES

    def _one(self, frame: pl.DataFrame, column: str, table: str, bucket: int) -> pl.DataFrame:
        """Without those whose entry is gone; a pair that has no row of the side has none."""
        known = self.numbers[table].filter(pl.col(FROM) == bucket).select(LIFE, NEW)
        nobody = pl.DataFrame({LIFE: [NOBODY], NEW: [NOBODY]})
        names = frame.columns
        found = frame.join(
            pl.concat([known, nobody]), left_on=column, right_on=LIFE, maintain_order="left"
        )
        return found.with_columns(pl.col(NEW).alias(column)).select(names)

    def header(self, headers: Sequence[Metadata]) -> Any:
        """As `to_json` of the lifetimes: the next number of each, and incremental cleanup from
        the first entry on."""
        known = headers[0].get("ttl")
        if not known:
            return known
        if "next" in known:
            return self._of_table(known, TTL_ENTRIES)
        return {side: self._of_table(each, ttl_store_name(side)) for side, each in known.items()}

    def _of_table(self, known: Mapping[str, Any], table: str) -> dict[str, Any]:
        return {**known, "next": len(self.numbers[table]), "looked": -1}


class Records:
    """Of a store in all buckets: its records, with the bucket of each, and the horizons of its
    keys."""

    def __init__(self, spec: StoreSpec, entries: Entries, stores: Sequence[SegmentStore]) -> None:
        self.stores, self.like = stores, stores[0]
        each = [
            entries.renumbered(spec, at, store.scan(START, END)).with_columns(
                pl.lit(at, pl.Int64).alias(FROM)
            )
            for at, store in enumerate(stores)
        ]
        self.records = pl.concat(each)
        self.horizons = [
            entries.renumbered(spec, at, horizons)
            for at, store in enumerate(stores)
            for horizons in store.horizons()
        ]
