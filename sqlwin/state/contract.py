"""What a store promises: records with a time, kept by slice of time until they expire.

A store holds records: rows of one schema, distinguished by their key columns and
their order columns, the first of which is the time. Operators see only `Store`;
which one it is (in memory, or segments under a host's blobs) changes no answer,
and one test suite says so.

>>> layout = Layout(
...     name="panes",
...     columns=(("user", pl.String()), ("__ts", pl.Int64()), ("count", pl.Int64())),
...     keys=("user",),
...     order=("__ts",),
...     slice_width=60,
... )
>>> layout.time, layout.identity, layout.slice_of(-1), layout.slice_of(60)
('__ts', ('__ts', 'user'), -60, 60)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import polars as pl

from sqlwin.instants import END
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import empty

Combine = Callable[[pl.DataFrame], pl.DataFrame]
"""Folds the records of equal identity into one; see `Store` for its laws."""

HORIZON = "__floor"
"""The column of `Store.cut` with the times below which records go."""

_NAME = re.compile(r"[A-Za-z0-9_.]+")


@dataclass(frozen=True)
class Layout:
    """How one store's records look.

    name: of the store, stable for ever; letters, digits, `_` and `.`.
    columns: name and Polars type of every column, in order.
    keys: the columns compared for equality; may be none, their values may be NULL.
    order: with `keys`, what distinguishes records; the first is the time, Int64, never NULL.
    slice_width: microseconds (or messages) of time whose records lie together.
    """

    name: str
    columns: tuple[tuple[str, pl.DataType], ...]
    keys: tuple[str, ...]
    order: tuple[str, ...]
    slice_width: int

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"a store's name is letters, digits, _ and . only: {self.name!r}")
        if not 0 < self.slice_width <= END:
            raise ValueError(f"need 0 < slice_width <= {END}, got {self.slice_width}")
        names = [name for name, _ in self.columns]
        missing = [name for name in self.keys + self.order if name not in names]
        if missing or len(set(names)) < len(names):
            raise ValueError(f"store {self.name}: columns {names} lack {missing} or repeat")
        if not self.order or self.schema[self.time] != pl.Int64:
            raise ValueError(f"store {self.name}: the first order column is the time, Int64")

    @cached_property
    def schema(self) -> pl.Schema:
        return pl.Schema(self.columns)

    @cached_property
    def names_and_types(self) -> tuple[list[str], list[pl.DataType]]:
        """Of the columns, in order."""
        return self.schema.names(), self.schema.dtypes()

    @cached_property
    def time(self) -> str:
        return self.order[0]

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """The columns that distinguish records, in the order a scan is sorted by."""
        return tuple(dict.fromkeys(self.order + self.keys))

    def slice_of(self, time: int) -> int:
        """The first time of the slice that holds `time`."""
        return time // self.slice_width * self.slice_width

    def empty(self) -> pl.DataFrame:
        return self._empty.clone()

    @cached_property
    def _empty(self) -> pl.DataFrame:
        return empty(self.schema)


class Store(Protocol):
    """Records by time, combined when read, gone when expired or cut.

    *Times* are `START <= time < END` of `sqlwin.instants`; negative ones are as
    good as any. Every range is half-open: `lo <= time < hi`; `lo` and `hi` may
    be any integers, and `lo >= hi` is an empty range.

    *Identity* is the values of the key and the order columns. NULL equals NULL,
    in identity as in `keys`; only the time cannot be NULL.

    *Combining*: a scan shows one record for each identity: what `combine` makes
    of all that were put, in the order they were put. When and how often it is
    called is the store's affair, so `combine` keeps to three laws: it returns the
    layout's columns and looks at nothing beyond groups of equal identity;
    `combine(a + b) == combine(combine(a) + b) == combine(a + combine(b))`; it
    keeps the identity columns. So it leaves a record alone that has no equal.

    *Order*: a scan is sorted by the order columns (time first), and ties by the
    key columns; NULL comes before every value. Identities are unique in a scan,
    so nothing is left to chance.

    *Expiry*: the horizon starts at `START`, only rises, and hides every record
    below it at once. A record put below the horizon is silently not kept: the
    operator has judged it already, the store only keeps the promise.

    *Cuts* are horizons of single keys: `cut` hides, at once, every record that
    agrees with a row of `horizons` (NULL with NULL) and whose time is below that
    row's `__floor`. As with expiry, a key's horizon only rises, a record put below
    it is silently not kept, and it is never forgotten before the store's own
    horizon passes it: to delete a key that may come again is not what a cut is for.
    The columns beside `__floor` are whichever of the layout's the caller names,
    the keys or not, so a store of rows without keys can be cut too; but a column
    that is not of the identity must be the same in all records of one identity.
    Cuts by different columns are apart: a record has to be above all that fit it.

    *Erasing* deletes for good: `erase` hides at once every record that agrees with a
    row of `gone`. It leaves memory then and there and the segments with the next
    flush, and so do the horizons of cuts by those columns. Nothing is remembered of
    it: that nothing agrees with `gone` ever again is the caller's promise.

    *Errors*: `StateError` for records or keys whose columns do not fit the layout,
    for a NULL or impossible time or horizon, and for stored bytes that cannot be trusted.
    After an error nothing of that call was taken.
    """

    layout: Layout

    @property
    def horizon(self) -> int:
        """No record's time is below it."""

    def put(self, records: pl.DataFrame) -> None:
        """Take records; columns as the layout's, in any order. No rows: no effect."""

    def scan(self, lo: int, hi: int, keys: pl.DataFrame | None = None) -> pl.DataFrame:
        """The records with `lo <= time < hi`, combined and sorted; maybe no rows.

        keys: some or all of the key columns; only records that agree with one of
        its rows (NULL with NULL) are read. Repeated rows change nothing; no rows
        read nothing. A frame of no columns fits a layout with no keys, and reads all.
        """

    def expire(self, before: int) -> None:
        """Raise the horizon to `before`; a lower one than now has no effect."""

    def cut(self, horizons: pl.DataFrame) -> None:
        """Raise the horizons of single keys.

        horizons: some columns of the layout, with its types, and `__floor`, Int64 and
        never NULL. Of repeated keys the greatest horizon counts; one not above the key's
        horizon of now has no effect. With no column but `__floor` it is an `expire`.
        What is hidden leaves memory and disk later, when that pays.
        """

    def erase(self, gone: pl.DataFrame) -> None:
        """Delete for good; see the class. As dear as a scan of all time, so call it seldom.

        gone: some columns of the identity, with the layout's types.
        """

    def __len__(self) -> int:
        """The records a scan of all time shows; as dear as that scan."""

    def _check(self) -> None:
        """Assert every invariant; the AssertionError shows the insides."""


class Blobs(Protocol):
    """Named bytes, kept by a host. A name is written once."""

    def get(self, name: str) -> bytes:
        """KeyError when there is none."""

    def put(self, name: str, data: bytes) -> None: ...

    def delete(self, name: str) -> None:
        """No effect when there is none."""

    def names(self) -> list[str]:
        """Sorted."""


class SegmentCache(Protocol):
    """Decoded segments by name; it may forget at any time."""

    def get(self, name: str) -> pl.DataFrame | None: ...

    def put(self, name: str, frame: pl.DataFrame) -> None: ...

    def drop(self, name: str) -> None:
        """No effect when there is none."""
