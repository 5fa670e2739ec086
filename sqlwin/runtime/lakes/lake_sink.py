"""Sinks that are tables of a lake: results as upserts and deletes, or rows that are only added.

Invariant: after a batch the table has what the batches so far say, once each. A batch that is
written again takes back what its last writing did, in the commit that does the new work, even
where it has other rows this time.
"""

from __future__ import annotations

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.lakes.lake import WHOLE, Changes, Lake, Table, Tag
from sqlwin.runtime.tables.appends import BATCH, WRITER, numbered
from sqlwin.runtime.tables.database import listed
from sqlwin.runtime.tables.patience import Patience
from sqlwin.runtime.tables.results import DELETED, Results, another_run


@dataclass(frozen=True)
class LakeTarget:
    """create: whether the table is made where there is none. wait: seconds until a failure that may
    pass is final."""

    results: Results
    lake: Lake
    create: bool
    wait: float

    @property
    def patience(self) -> Patience:
        what = f"the table {self.lake.name} of sink {self.results.sink}"
        return Patience(what, self.lake.failures, self.lake.passes, self.wait)

    def opened(self, written: pl.Schema) -> Table:
        """The table, made first if asked. QueryError where it, or a column, is missing."""
        table = self.lake.opened()
        if table is None:
            if not self.create:
                message = f"sink {self.results.sink}: there is no table {self.lake.name}"
                raise QueryError(message, legal="create = true, which makes it")
            self.lake.create(written)
            table = self.lake.opened()
            assert table is not None
        found = list(table.schema)
        missing = [name for name in written if name not in found]
        if missing:
            message = f"the table {self.lake.name} of sink {self.results.sink} has no column"
            raise QueryError(f"{message} {listed(missing)}", legal=f"one of each: {listed(found)}")
        return table


@dataclass
class LakeUpserts:
    """restart: what becomes of rows of another run: refuse or replace. writer: of several into one
    table, from 1. last: the batch that was written last; -1 before the first."""

    target: LakeTarget
    restart: str
    writer: int
    last: int = -1

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        if rows.is_empty() and batch > self.last >= 0:
            return
        changes = self.target.results.changes(rows)
        tag = Tag(self.writer, batch)
        self.target.patience.do(lambda: self._write(tag, changes), self.last >= 0)
        self.last = batch

    def _write(self, tag: Tag, changes: pl.DataFrame) -> None:
        written, key = changes.drop(DELETED).schema, self.target.results.key
        table = self.target.opened(written)
        last = table.last(self.writer)
        if last is not None and tag.batch < last and self.last < 0:
            self._replace(table, last, tag.batch)
            table = self.target.opened(written)
        undo = table.undo(tag, key) if last == tag.batch else None
        rows = _with_undo(_of_types(changes, table.schema), undo, list(key))
        if not rows.is_empty():
            table.merge(tag, Changes(rows, key, tuple(written)))

    def _replace(self, table: Table, last: int, batch: int) -> None:
        if self.restart != "replace":
            raise another_run(self.target.results.sink, self.target.lake.name, last, batch)
        table.empty(self.writer)


def _of_types(rows: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """As the table has them: a lake has fewer types."""
    return rows.with_columns(
        pl.col(name).cast(schema[name]) for name in rows.columns if name in schema
    )


def _with_undo(changes: pl.DataFrame, undo: pl.DataFrame | None, key: list[str]) -> pl.DataFrame:
    """Changes upon a table as it was before those that are to be taken back."""
    if undo is None:
        return changes.with_columns(pl.lit(False).alias(WHOLE))
    before = undo.filter(~pl.col(DELETED))
    own = before.select(*key, *(name for name in before.columns if name not in changes.columns))
    again = changes.join(own.with_columns(pl.lit(True).alias(WHOLE)), on=key, how="left")
    undone = undo.join(changes, on=key, how="anti").with_columns(pl.lit(True).alias(WHOLE))
    return pl.concat([again.with_columns(pl.col(WHOLE).fill_null(False)), undone], how="diagonal")


@dataclass
class LakeAppends:
    """writer: of several into one table, from 1. last: the batch that was written last; -1 before
    the first."""

    target: LakeTarget
    writer: int
    last: int = -1

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        if rows.is_empty() and batch > self.last >= 0:
            return
        added = numbered(self.target.results.renamed(rows), self.writer, batch)
        self.target.patience.do(lambda: self._write(batch, added), self.last >= 0)
        self.last = batch

    def _write(self, batch: int, rows: pl.DataFrame) -> None:
        table = self.target.opened(rows.schema)
        last = table.last(self.writer)
        # a commit may be there though its answer was lost; behind the last one nothing is
        behind = self.last >= 0 and last is not None and last < batch
        own = None if behind else {WRITER: self.writer, BATCH: batch}
        table.append(Tag(self.writer, batch), _of_types(rows, table.schema), own)
