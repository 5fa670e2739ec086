"""What a lake sink needs of Delta Lake or Iceberg: commits that carry a tag, and old versions.

A commit of a batch is tagged with its writer and number. So whoever writes batch n again finds
what it did the first time, by the versions before and after each commit of that tag, and the next
commit takes it back and does the new work in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.tables.results import DELETED

WHOLE = "__whole"
"""Of a row: whether it has values of the columns that the sink does not write, too."""


@dataclass(frozen=True)
class Tag:
    """Of the commit of a batch. writer: of several into one table, from 1."""

    writer: int
    batch: int


@dataclass(frozen=True)
class Changes:
    """rows: with DELETED and WHOLE. key: the columns that identify one. written: those that the
    sink writes; the others of a row that is not WHOLE stay as they are."""

    rows: pl.DataFrame
    key: tuple[str, ...]
    written: tuple[str, ...]


class Table(Protocol):
    """One version of a table, and what can be committed upon it."""

    @property
    def schema(self) -> pl.Schema: ...

    def last(self, writer: int) -> int | None:
        """The batch of its last commit."""

    def undo(self, tag: Tag, key: tuple[str, ...]) -> pl.DataFrame | None:
        """The rows that the last commits of this tag changed, as they were before, and DELETED."""

    def empty(self, writer: int) -> None:
        """Delete all rows; the commit is tagged with batch 0."""

    def merge(self, tag: Tag, changes: Changes) -> None:
        """Upsert rows by their key, and delete those that are DELETED."""

    def append(self, tag: Tag, rows: pl.DataFrame, replaces: dict[str, int] | None) -> None:
        """Insert rows. replaces: first delete those of this writer from its batch on, by the names
        of the columns of both, in the same commit."""


class Lake(Protocol):
    @property
    def name(self) -> str:
        """Of the table, for messages."""

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """What its driver raises."""

    def passes(self, failure: Exception) -> bool:
        """Whether a failure may be over soon: another writer was faster."""

    def opened(self) -> Table | None:
        """The newest version; None where there is no such table."""

    def create(self, schema: pl.Schema) -> None: ...


Read = Callable[[], pl.DataFrame]


def undone(versions: Iterable[tuple[Read, Read]], key: tuple[str, ...]) -> pl.DataFrame | None:
    """What takes commits back. versions: the table before and after each of them, oldest first."""
    undos = [_undo(before(), after(), list(key)) for before, after in versions]
    if not undos:
        return None
    return pl.concat(undos, how="diagonal").unique(list(key), keep="first", maintain_order=True)


def _undo(before: pl.DataFrame, after: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    same = [name for name in before.columns if name in after.columns]
    changed = before.join(after, on=same, how="anti", nulls_equal=True)
    inserted = after.join(before, on=key, how="anti")
    rows = [changed.with_columns(pl.lit(False).alias(DELETED))]
    rows.append(inserted.select(same).with_columns(pl.lit(True).alias(DELETED)))
    return pl.concat(rows, how="diagonal")
