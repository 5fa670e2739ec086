"""State queries on committed state, while another process may be writing it.

Where the state is stored is the host's concern: `read` gives the blobs of its buckets, all of
one commit, with the checkpoint metadata and the segments of the stores that are needed. Each
state query reads again, and nothing stays open in between.

    fetch, windows, messages   as of an embedded query, see `state_queries`
    stores                     what is kept, and how large it is
    records                    the records of one store, as they are
    sql                        a SELECT over the stores, by their names; DuckDB runs it, locked
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol

import duckdb
import polars as pl
import pyarrow as pa

from sqlwin.errors import InputError, QueryError, StateError
from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.plan.ir.statements import Script
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.python_functions.function import UserFunction
from sqlwin.runtime.checkpoint.task_state import METADATA, TABLES, TaskState
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.queryable_state import QueryableState
from sqlwin.runtime.state_queries import StateQueries
from sqlwin.sandbox.locked import locked
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.contract import Layout
from sqlwin.state.ttl.entries import STORE as TTL_ENTRIES
from sqlwin.state.ttl.entries import ttl_store_name

BUCKET = "bucket"
SIZES = {"rows": pl.Int64(), "bytes": pl.Int64(), "buckets": pl.Int64()}


@dataclass(frozen=True)
class Bucket:
    """label: what the host calls it. blobs: of one commit."""

    label: int
    blobs: DictBlobs


class Read(Protocol):
    def __call__(self, stores: Collection[str], keys: pl.DataFrame | None) -> list[Bucket]:
        """The buckets that may hold one of `keys`; None: all. Headers, and of `stores` the rest."""


@dataclass(frozen=True)
class Snapshot(QueryableState):
    """`read` as above."""

    query: Lowered
    read: Read

    @cached_property
    def _state_queries(self) -> StateQueries:
        return StateQueries(self.query)

    @contextmanager
    def _open_stores(self, keys: pl.DataFrame | None) -> Iterator[Sequence[Stores]]:
        buckets = self.read(list(self._layouts), keys)
        yield [self._opened(bucket) for bucket in buckets] or [self._nothing]

    def stores(self) -> pa.Table:
        """name, layout (what records are known by, and what they hold), rows, bytes, buckets.

        rows and bytes: as written; records that a read would put together count each.
        """
        indexes = [self._indexes(bucket) for bucket in self.read((), None)]
        rows = []
        for name, layout in self._layouts.items():
            found = [index[name]["segments"] for index in indexes if name in index]
            segments = [segment for each in found for segment in each]
            sizes = [sum(segment[size] for segment in segments) for size in ("rows", "bytes")]
            rows.append((name, _layout_text(layout), *sizes, sum(bool(each) for each in found)))
        schema = {"name": pl.String(), "layout": pl.String(), **SIZES}
        return pl.DataFrame(rows, schema=schema, orient="row").to_arrow()

    def records(self, store: str) -> pa.Table:
        """What one store holds, `bucket` first; InputError where the query has no such store."""
        if store not in self._layouts:
            raise InputError(f"no store is called {store!r}; there are {self._names}")
        return self._records(store, self._read([store])).to_arrow()

    def sql(self, text: str) -> pa.Table:
        """A SELECT over the stores' records; QueryError where DuckDB cannot run it."""
        named = [name for name in self._layouts if re.search(rf"\b{re.escape(name)}\b", text)]
        buckets = self._read(named)
        with locked() as db:
            for name in named:
                db.register(name, self._records(name, buckets).to_arrow())
            legal = f"SELECT … FROM {self._names}"
            try:
                statements = db.extract_statements(text)
                if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
                    raise QueryError(f"one SELECT, not {text!r}", legal=legal)
                return db.sql(text).to_arrow_table()
            except duckdb.Error as error:
                raise QueryError(str(error), legal=legal) from None

    # What was read.

    def _read(self, stores: list[str]) -> list[Bucket]:
        """With the tables of TTL entries, which say which records may be read."""
        return self.read([*stores, *(name for name in self._layouts if name in TABLES)], None)

    def _records(self, store: str, buckets: list[Bucket]) -> pl.DataFrame:
        none = self._layouts[store].empty().select(pl.lit(0, pl.Int64).alias(BUCKET), pl.all())
        records = [
            _readable(self._opened(bucket), store).select(
                pl.lit(bucket.label, pl.Int64).alias(BUCKET), pl.all()
            )
            for bucket in buckets
        ]
        return pl.concat([none.clear(), *records])

    def _opened(self, bucket: Bucket) -> Stores:
        state = TaskState(bucket.blobs)
        stores = state.stores(self.query, state.metadata())
        if stores.ttl is not None:
            stores.ttl.at(time.time_ns() // 1_000, stores.watermark)
        return stores

    def _indexes(self, bucket: Bucket) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(bucket.blobs.get(METADATA))["stores"]
        return found

    @cached_property
    def _nothing(self) -> Stores:
        return TaskState(None).stores(self.query, {})

    @property
    def _layouts(self) -> dict[str, Layout]:
        return {name: store.layout for name, store in self._nothing.named.items()}

    @property
    def _names(self) -> str:
        return ", ".join(self._layouts) or "none"


def bound_again(text: str | None, plan: str, functions: Sequence[UserFunction] = ()) -> Script:
    """The script of a checkpoint, bound again. text: of its `SourceText`. plan: its fingerprint."""
    if text is None:
        raise StateError(
            "the checkpoint does not have the query's text: an older sqlwin made it; "
            "a run with this one leaves it there"
        )
    parsed = SourceText.load(text)
    streams = {stream.name: stream for stream in parsed.streams}
    tables = {table.name: table for table in parsed.tables}
    bound = script(parsed.text, streams, dict(parsed.params), functions, tables)
    if plan not in (fingerprint(*bound.queries), *(fingerprint(q) for q in bound.queries)):
        raise StateError("the query's text means something else to this release of sqlwin")
    return bound


def numbered(bound: Script, number: int) -> int:
    """Which of a script's queries; InputError where it has no such one."""
    count = len(bound.queries)
    if not 0 <= number < count:
        raise InputError(f"there is no query {number}: the script has 0 to {count - 1}")
    return number


def _layout_text(layout: Layout) -> str:
    known = (*layout.keys, *(name for name in layout.order if name not in layout.keys))
    records = [name for name in layout.schema if name not in known]
    return f"({', '.join(known)}) → {', '.join(records) or 'nothing more'}"


def _readable(stores: Stores, name: str) -> pl.DataFrame:
    """Records that may be read: none whose TTL has expired, in the tables of TTL entries either."""
    lifetimes = {} if stores.ttl_entries is None else {TTL_ENTRIES: stores.ttl_entries}
    if stores.sides is not None:
        lifetimes |= {ttl_store_name(side): each for side, each in stores.sides.sides.items()}
    return lifetimes[name].shown() if name in lifetimes else stores[name].scan(START, END)
