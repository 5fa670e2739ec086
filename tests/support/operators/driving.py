"""An operator driven as a task drives it: from memory, or from segments and restarts."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from sqlwin.operators.contract import Operator, Stores
from sqlwin.polars_frames import PLACE
from sqlwin.schema import EMIT, OP, REVISION, ROW_KEY
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.contract import Store
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.stores.memory import MemoryStore

SEGMENT_ROWS = 4


class Driven:
    """restarts: stores are written and made anew after each step."""

    def __init__(self, operator: Operator, restarts: bool = False) -> None:
        self.operator, self.restarts = operator, restarts
        self.blobs, self.steps = DictBlobs(), 0
        self.indexes: dict[str, Any] = {}
        self.stores = Stores(self._named())
        self.watermark = self.stores.watermark

    def step(
        self,
        rows: pl.DataFrame | None = None,
        now: int = 0,
        watermark: int | None = None,
        end: bool = False,
    ) -> pl.DataFrame:
        """One `take` of a task: what it emitted."""
        operator, out = self.operator, []
        self.watermark = max(self.watermark, self.watermark if watermark is None else watermark)
        if rows is not None:
            self.stores.last_input = now
            out.append(operator.on_batch(operator.prepare(rows), self.stores, now))
        out.append(operator.on_watermark(self.watermark, self.stores, now))
        out.append(operator.on_tick(now, self.stores))
        if end:
            out.append(operator.on_end(self.stores, now))
        self.stores._check()
        if self.restarts:
            self._restart()
        return pl.concat(out)

    @property
    def deadline(self) -> int | None:
        return self.operator.next_deadline(self.stores)

    def _named(self) -> dict[str, Store]:
        return {
            spec.name: self._store(spec.layout, spec.combine) for spec in self.operator.stores()
        }

    def _store(self, layout: Any, combine: Any) -> Store:
        if not self.restarts:
            return MemoryStore(layout, combine)
        return SegmentStore(
            layout,
            combine,
            self.blobs,
            index=self.indexes.get(layout.name),
            max_segments_per_slice=2,
            segment_rows=SEGMENT_ROWS,
        )

    def _restart(self) -> None:
        self.steps += 1
        for name, store in self.stores.named.items():
            assert isinstance(store, SegmentStore)
            self.indexes[name] = json.loads(json.dumps(store.flush(f"s{self.steps}")))
        self.stores.named = self._named()


class Defined(Driven):
    """The reference keeps its own state."""

    def _named(self) -> dict[str, Store]:
        return {}


def emissions(emitted: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """(op, emit, revision, the columns) of each emission."""
    return emitted.select(OP, EMIT, REVISION, *columns).rows()


def records(emitted: pl.DataFrame, columns: list[str]) -> list[tuple[Any, ...]]:
    """Comparable emissions, in an order of their own."""
    rows = emitted.select(ROW_KEY, OP, EMIT, REVISION, *columns).rows()
    return sorted(rows, key=repr)


def rows_of(schema: dict[str, pl.DataType], *rows: tuple[Any, ...]) -> pl.DataFrame:
    """Rows with their values and then (ts, part, seq)."""
    return pl.DataFrame(list(rows), schema={**schema, **PLACE}, orient="row")
