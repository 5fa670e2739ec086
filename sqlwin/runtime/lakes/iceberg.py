"""Apache Iceberg, by pyiceberg, which the extra `iceberg` of the package brings.

A commit's tag stands in the summaries of its snapshots, and the number of the writer's last batch
in the table's properties, which the same commit sets. Rows are replaced by an overwrite of what a
filter finds: the keys of the changes, or, of a key of several columns, the rows that have a value
of each in them, of which those that did not change are written as they were.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import polars as pl

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.lakes.lake import WHOLE, Changes, Tag, undone
from sqlwin.runtime.tables.results import DELETED

if TYPE_CHECKING:
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.table import Table

MISSING = "Iceberg needs pyiceberg: pip install 'sqlwin[iceberg]'"
_WRITER, _BATCH = "sqlwin.writer", "sqlwin.batch"


@dataclass(frozen=True)
class IcebergLake:
    """catalog: its name in pyiceberg's configuration. properties: what is known of it here, over
    what is there. table: the parts of its name."""

    catalog: str
    properties: tuple[tuple[str, str], ...]
    table: tuple[str, ...]

    @property
    def name(self) -> str:
        return ".".join(self.table)

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """Of pyiceberg, and of what is below it: a catalog, an object store."""
        return (Exception,)

    def passes(self, failure: Exception) -> bool:
        from pyiceberg.exceptions import ValidationException as Overtaken

        return isinstance(failure, (Overtaken, *_of_commits()))

    def opened(self) -> _Table | None:
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        try:
            return _Table(self._catalog().load_table(self.table))
        except (NoSuchTableError, NoSuchNamespaceError):
            return None

    def create(self, schema: pl.Schema) -> None:
        catalog = self._catalog()
        catalog.create_namespace_if_not_exists(self.table[:-1])
        catalog.create_table(self.table, schema=schema.to_frame().to_arrow().schema)

    def _catalog(self) -> Any:
        _check()
        from pyiceberg.catalog import load_catalog

        return load_catalog(self.catalog, **dict(self.properties))


def _check() -> None:
    try:
        import pyiceberg.catalog  # noqa: F401 (whether it is there)
    except ImportError as missing:
        raise RunError(MISSING) from missing


def _of_commits() -> tuple[type[Exception], ...]:
    from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException

    return (CommitFailedException, CommitStateUnknownException)


@dataclass(frozen=True)
class _Table:
    table: Table

    @property
    def schema(self) -> pl.Schema:
        return _frame(self.table.schema().as_arrow().empty_table()).schema

    def last(self, writer: int) -> int | None:
        found = self.table.properties.get(_property(writer))
        return None if found is None else int(found)

    def undo(self, tag: Tag, key: tuple[str, ...]) -> pl.DataFrame | None:
        commits = []
        for snapshot in self._newest_first():
            summary = snapshot.summary.additional_properties if snapshot.summary else {}
            if summary.get(_WRITER) == str(tag.writer):
                if summary[_BATCH] != str(tag.batch):
                    break
                commits.append(snapshot)
        return undone(
            (
                (
                    partial(self._read, each.parent_snapshot_id),
                    partial(self._read, each.snapshot_id),
                )
                for each in reversed(commits)
            ),
            key,
        )

    def _newest_first(self) -> Any:
        snapshot = self.table.current_snapshot()
        while snapshot is not None:
            yield snapshot
            parent = snapshot.parent_snapshot_id
            snapshot = None if parent is None else self.table.snapshot_by_id(parent)

    def _read(self, snapshot: int | None) -> pl.DataFrame:
        if snapshot is None:
            return self.schema.to_frame()
        return _frame(self.table.scan(snapshot_id=snapshot).to_arrow())

    def empty(self, writer: int) -> None:
        self._overwrite(Tag(writer, 0), self.schema.to_frame(), _expressions().AlwaysTrue())

    def merge(self, tag: Tag, changes: Changes) -> None:
        key = list(changes.key)
        where = _any_of(changes.rows.select(key))
        found = _frame(self.table.scan(row_filter=where).to_arrow())
        others = found.join(changes.rows, on=key, how="anti")
        own = [name for name in found.columns if name not in changes.written]
        kept = changes.rows.filter(~pl.col(DELETED))
        whole = kept.filter(WHOLE).drop(DELETED, WHOLE)
        partly = kept.filter(~pl.col(WHOLE)).select(changes.written)
        partly = partly.join(found.select(*key, *own), on=key, how="left")
        rows = pl.concat([others, whole, partly], how="diagonal")
        self._overwrite(tag, rows, None if found.is_empty() else where)

    def append(self, tag: Tag, rows: pl.DataFrame, replaces: dict[str, int] | None) -> None:
        if replaces is None:
            self._overwrite(tag, rows, None)
            return
        made, ((writer, of), (batch, since)) = _expressions(), replaces.items()
        own = made.And(made.EqualTo(writer, of), made.GreaterThanOrEqual(batch, since))
        self._overwrite(tag, rows, own if self._any(own) else None)

    def _any(self, where: BooleanExpression) -> bool:
        return bool(self.table.scan(row_filter=where, limit=1).to_arrow().num_rows)

    def _overwrite(self, tag: Tag, rows: pl.DataFrame, where: BooleanExpression | None) -> None:
        """Rows in place of those that a condition holds for; None: of none."""
        whole = pl.concat([self.schema.to_frame(), rows], how="diagonal").to_arrow()
        summary = {_WRITER: str(tag.writer), _BATCH: str(tag.batch)}
        with self.table.transaction() as transaction:
            if where is None:
                transaction.append(whole, snapshot_properties=summary)
            else:
                transaction.overwrite(whole, overwrite_filter=where, snapshot_properties=summary)
            transaction.set_properties({_property(tag.writer): str(tag.batch)})


def _any_of(keys: pl.DataFrame) -> BooleanExpression:
    """Of rows that have, in each column, one of its values here."""
    made = _expressions()
    found: BooleanExpression = reduce(
        made.And, (made.In(name, keys[name].unique().to_list()) for name in keys.columns)
    )
    return found


def _expressions() -> Any:
    """Its classes, whose constructors have no types that a checker could read."""
    from pyiceberg import expressions

    return expressions


def _property(writer: int) -> str:
    return f"{_BATCH}.{writer}"


def _frame(table: Any) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame
