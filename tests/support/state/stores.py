"""The stores of the contract tests, and a model of them in plain Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl

from sqlwin.instants import START
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.combine import keep_all, last_written, merged
from sqlwin.state.contract import Combine, Layout, Store
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.stores.memory import MemoryStore

Row = tuple[str | None, int | None, int, int | None, int]

LAYOUT = Layout(
    name="test",
    columns=(
        ("k", pl.String()),
        ("j", pl.Int32()),
        ("t", pl.Int64()),
        ("seq", pl.Int64()),
        ("x", pl.Int64()),
    ),
    keys=("k", "j"),
    order=("t", "seq"),
    slice_width=10,
)

COMBINES: dict[str, Combine] = {
    "keep_all": keep_all(LAYOUT),
    "last_written": last_written(LAYOUT),
    "merged": merged(LAYOUT, [pl.col("x").sum()]),
}


def frame(rows: Iterable[Row]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=LAYOUT.schema, orient="row")


def keys(*rows: tuple[str | None, int | None]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema={"k": pl.String, "j": pl.Int32}, orient="row")


def horizons(columns: str, *rows: tuple[Any, ...]) -> pl.DataFrame:
    """columns: their names, blank-separated; each row has their values, then the horizon."""
    names = columns.split()
    schema = {**{name: LAYOUT.schema[name] for name in names}, "__floor": pl.Int64}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


class Restarting:
    """Segments of few rows; after each action the store is built again from its index.

    Only what a host would keep survives: the index as JSON text and the blobs.
    """

    layout = LAYOUT

    def __init__(self, combine: Combine, every: bool) -> None:
        self.combine, self.every = combine, every
        self.blobs, self.flushes, self.text = DictBlobs(), 0, ""
        self.store = self._new(None)

    def _new(self, index: Any) -> SegmentStore:
        return SegmentStore(
            LAYOUT, self.combine, self.blobs, index=index, max_segments_per_slice=2, segment_rows=4
        )

    def flush(self) -> None:
        self.flushes += 1
        self.text = json.dumps(self.store.flush(f"f{self.flushes}"))

    def restart(self) -> None:
        """As after a crash: what was not flushed is gone."""
        self.store = self._new(json.loads(self.text) if self.text else None)

    def _acted(self) -> None:
        if self.every:
            self.flush()
            self.restart()

    @property
    def horizon(self) -> int:
        return self.store.horizon

    def put(self, records: pl.DataFrame) -> None:
        self.store.put(records)
        self._acted()

    def scan(self, lo: int, hi: int, keys: pl.DataFrame | None = None) -> pl.DataFrame:
        found = self.store.scan(lo, hi, keys)
        self._acted()
        return found

    def expire(self, before: int) -> None:
        self.store.expire(before)
        self._acted()

    def cut(self, horizons: pl.DataFrame) -> None:
        self.store.cut(horizons)
        self._acted()

    def erase(self, gone: pl.DataFrame) -> None:
        self.store.erase(gone)
        self._acted()

    def __len__(self) -> int:
        return len(self.store)

    def _check(self) -> None:
        self.store._check()


def segments(combine: Combine) -> Restarting:
    return Restarting(combine, every=False)


def restarting(combine: Combine) -> Restarting:
    return Restarting(combine, every=True)


def memory(combine: Combine) -> Store:
    return MemoryStore(LAYOUT, combine)


STORES: dict[str, Callable[[Combine], Store]] = {
    "memory": memory,
    "segments": segments,
    "restarting": restarting,
}


class Model:
    """What a store of LAYOUT must show, from a plain dict."""

    def __init__(self, combine: str) -> None:
        self.combine, self.horizon = combine, START
        self.rows: dict[tuple[str | None, int | None, int, int | None], int] = {}
        self.horizons: dict[tuple[Any, ...], int] = {}

    def copy(self) -> Model:
        twin = Model(self.combine)
        twin.horizon, twin.rows, twin.horizons = self.horizon, dict(self.rows), dict(self.horizons)
        return twin

    def put(self, rows: Iterable[Row]) -> None:
        for *identity, x in rows:
            key = (identity[0], identity[1], identity[2], identity[3])
            before = self.rows.get(key, 0) if self.combine == "merged" else 0
            if self._alive(key, before + x):
                self.rows[key] = before + x

    def expire(self, before: int) -> None:
        self.horizon = max(self.horizon, before)
        self._drop()

    def cut(self, columns: str, rows: Iterable[tuple[Any, ...]]) -> None:
        for *values, floor in rows:
            key = (columns, *values)
            self.horizons[key] = max(floor, self.horizons.get(key, floor))
        self._drop()

    def erase(self, columns: str, rows: Iterable[tuple[Any, ...]]) -> None:
        names, gone = columns.split(), set(rows)
        places = [list(LAYOUT.schema).index(name) for name in names]
        self.rows = {
            key: x for key, x in self.rows.items() if tuple(key[at] for at in places) not in gone
        }
        for key in list(self.horizons):
            values = dict(zip(key[0].split(), key[1:], strict=True))
            if set(names) <= set(values) and tuple(values[name] for name in names) in gone:
                del self.horizons[key]

    def _drop(self) -> None:
        self.rows = {key: x for key, x in self.rows.items() if self._alive(key, x)}

    def _alive(self, key: tuple[Any, ...], x: int) -> bool:
        record = dict(zip(LAYOUT.schema, (*key, x), strict=True))
        horizons = [
            floor
            for (columns, *values), floor in self.horizons.items()
            if [record[name] for name in columns.split()] == values
        ]
        return bool(record["t"] >= max([self.horizon, *horizons]))

    def scan(self, lo: int, hi: int, keys: list[tuple[Any, Any]] | None = None) -> list[Row]:
        found = [
            (*key, x)
            for key, x in self.rows.items()
            if lo <= key[2] < hi and (keys is None or key[:2] in keys)
        ]
        return sorted(found, key=scan_order)


def scan_order(row: Row) -> tuple[Any, ...]:
    """NULL before every value, in each of t, seq, k, j."""
    k, j, t, seq, _ = row
    return (t, seq is not None, seq or 0, k is not None, k or "", j is not None, j or 0)
