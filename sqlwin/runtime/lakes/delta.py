"""Delta Lake, by delta-rs, which the extra `delta` of the package brings: no JVM, on every host.

A commit's tag is a transaction of the writer in the log, and stands in the history beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.lakes.lake import WHOLE, Changes, Tag, undone
from sqlwin.runtime.tables.results import DELETED

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable

MISSING = "Delta Lake needs deltalake: pip install 'sqlwin[delta]'"
_WRITER, _BATCH = "sqlwin.writer", "sqlwin.batch"


def _driver() -> Any:
    try:
        import deltalake
    except ImportError as missing:
        raise RunError(MISSING) from missing
    return deltalake


@dataclass(frozen=True)
class DeltaLake:
    """uri: a folder, or the URL of one in an object store."""

    uri: str

    @property
    def name(self) -> str:
        return self.uri

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        return (_driver().exceptions.DeltaError, OSError)

    def passes(self, failure: Exception) -> bool:
        return isinstance(failure, _driver().exceptions.CommitFailedError)

    def opened(self) -> _Table | None:
        if not _driver().DeltaTable.is_deltatable(self.uri):
            return None
        return _Table(_driver().DeltaTable(self.uri))

    def create(self, schema: pl.Schema) -> None:
        made = _driver().Schema.from_arrow(schema.to_frame().to_arrow().schema)
        _driver().DeltaTable.create(self.uri, schema=made)


@dataclass(frozen=True)
class _Table:
    table: DeltaTable

    @property
    def schema(self) -> pl.Schema:
        return _frame(pa.schema(self.table.schema()).empty_table()).schema

    def last(self, writer: int) -> int | None:
        return self.table.transaction_version(_name(writer))

    def undo(self, tag: Tag, key: tuple[str, ...]) -> pl.DataFrame | None:
        commits = []
        for entry in self.table.history():
            if entry.get(_WRITER) == str(tag.writer):
                if entry[_BATCH] != str(tag.batch):
                    break
                commits.append(int(entry["version"]))
        return undone(((self._read(v - 1), self._read(v)) for v in reversed(commits)), key)

    def _read(self, version: int) -> Callable[[], pl.DataFrame]:
        return partial(_version, self.table.table_uri, version)

    def empty(self, writer: int) -> None:
        self.table.delete(commit_properties=_tagged(Tag(writer, 0)))

    def merge(self, tag: Tag, changes: Changes) -> None:
        rows = changes.rows
        merger = self.table.merge(
            rows.to_arrow(),
            predicate=" AND ".join(
                f"t.{_quoted(name)} = s.{_quoted(name)}" for name in changes.key
            ),
            source_alias="s",
            target_alias="t",
            commit_properties=_tagged(tag),
        )
        every = [name for name in rows.columns if name not in (DELETED, WHOLE)]
        deleted, whole = f"s.{_quoted(DELETED)}", f"s.{_quoted(WHOLE)}"
        merger = merger.when_matched_delete(deleted)
        merger = merger.when_matched_update(_values(every), f"{whole} AND NOT {deleted}")
        merger = merger.when_matched_update(
            _values(changes.written), f"NOT {whole} AND NOT {deleted}"
        )
        merger.when_not_matched_insert(_values(every), f"NOT {deleted}").execute()

    def append(self, tag: Tag, rows: pl.DataFrame, replaces: dict[str, int] | None) -> None:
        how: dict[str, Any] = {"mode": "append"}
        if replaces is not None:
            (writer, of), (batch, since) = replaces.items()
            where = f"{_quoted(writer)} = {of} AND {_quoted(batch)} >= {since}"
            how = {"mode": "overwrite", "predicate": where}
        _driver().write_deltalake(
            self.table, rows.to_arrow(), commit_properties=_tagged(tag), **how
        )


def _version(uri: str, version: int) -> pl.DataFrame:
    return _frame(_driver().DeltaTable(uri, version=version).to_pyarrow_table())


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _name(writer: int) -> str:
    return f"sqlwin.{writer}"


def _tagged(tag: Tag) -> CommitProperties:
    driver = _driver()
    made: CommitProperties = driver.CommitProperties(
        custom_metadata={_WRITER: str(tag.writer), _BATCH: str(tag.batch)},
        app_transactions=[driver.Transaction(_name(tag.writer), tag.batch)],
    )
    return made


def _quoted(name: str) -> str:
    """As delta-rs reads it.

    >>> _quoted("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def _values(names: Iterable[str]) -> dict[str, str]:
    return {_quoted(name): f"s.{_quoted(name)}" for name in names}
