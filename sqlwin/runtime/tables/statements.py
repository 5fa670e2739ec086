"""The SQL of an upsert into a table, and of undoing the last one.

    incoming   temporary: the last change of each row in a batch, __deleted or not
    undo       what the rows of the last batch were before it, __existed or not
    batches    the number of the last batch in each table

>>> print(Upsert(("t",), ("k",), ("k", "n"), ("k", "n", "note"), writer=1).insert())
INSERT INTO "t" ("k", "n") SELECT "k", "n" FROM "sqlwin_incoming"
WHERE NOT "__deleted" ON CONFLICT ("k") DO UPDATE SET "n" = excluded."n"
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.tables.database import listed, literal, quoted
from sqlwin.runtime.tables.results import DELETED

INCOMING, BATCHES = "sqlwin_incoming", "sqlwin_batches"
EXISTED = "__existed"


def name_of(table: Sequence[str]) -> str:
    """
    >>> name_of(["sales", "by day"])
    '"sales"."by day"'
    """
    return ".".join(map(quoted, table))


def beside(table: Sequence[str], name: str) -> tuple[str, ...]:
    """A table in the schema of another."""
    return (*table[:-1], name)


@dataclass(frozen=True)
class Batches:
    """The number of the last batch that a writer wrote to a table."""

    table: tuple[str, ...]
    writer: int

    @property
    def _own(self) -> str:
        return name_of(beside(self.table, BATCHES))

    def create(self) -> str:
        columns = '"table" VARCHAR(500), "writer" INTEGER, "batch" BIGINT NOT NULL'
        key = 'PRIMARY KEY ("table", "writer")'
        return f"CREATE TABLE IF NOT EXISTS {self._own} ({columns}, {key})"

    def last(self) -> str:
        where = f'"table" = {literal(self.table[-1])} AND "writer" = {self.writer}'
        return f'SELECT "batch" FROM {self._own} WHERE {where}'

    def record(self, batch: int) -> str:
        values = f"VALUES ({literal(self.table[-1])}, {self.writer}, {batch})"
        update = 'ON CONFLICT ("table", "writer") DO UPDATE SET "batch" = excluded."batch"'
        return f"INSERT INTO {self._own} {values} {update}"


@dataclass(frozen=True)
class Upsert:
    """key: the columns that identify a row, unique in the table. columns: those that are written,
    the key among them. all_columns: of the table, which may have more. writer: of several into
    one table."""

    table: tuple[str, ...]
    key: tuple[str, ...]
    columns: tuple[str, ...]
    all_columns: tuple[str, ...]
    writer: int

    @property
    def undo_table(self) -> tuple[str, ...]:
        suffix = "" if self.writer == 1 else f"_{self.writer}"
        return beside(self.table, f"{self.table[-1]}_sqlwin_undo{suffix}")

    def create_undo(self) -> str:
        images = f'SELECT *, FALSE AS "{EXISTED}" FROM {self._target} WHERE FALSE'
        return f"CREATE TABLE {self._undo} AS {images}"

    def drop_undo(self) -> str:
        return f"DROP TABLE IF EXISTS {self._undo}"

    def undo(self) -> list[str]:
        """The table as it was before the last batch."""
        absent = f'SELECT {listed(self.key)} FROM {self._undo} WHERE NOT "{EXISTED}"'
        names = listed(self.all_columns)
        images = f'SELECT {names} FROM {self._undo} WHERE "{EXISTED}"'
        return [
            f"DELETE FROM {self._target} WHERE ({listed(self.key)}) IN ({absent})",
            f"INSERT INTO {self._target} ({names}) {images} {self._replacing(self.all_columns)}",
        ]

    def remember(self) -> list[str]:
        """What is about to be changed; of the batch before nothing is needed any more."""
        others = [name for name in self.all_columns if name not in self.key]
        on = " AND ".join(f"i.{quoted(name)} = t.{quoted(name)}" for name in self.key)
        values = ", ".join(part for part in (listed(self.key, "i."), listed(others, "t.")) if part)
        found = f"t.{quoted(self.key[0])} IS NOT NULL"
        names = listed((*self.key, *others, EXISTED))
        joined = f'FROM "{INCOMING}" i LEFT JOIN {self._target} t ON {on}'
        return [
            f"DELETE FROM {self._undo}",
            f"INSERT INTO {self._undo} ({names}) SELECT {values}, {found} {joined}",
        ]

    def create_incoming(self) -> str:
        columns = f'{listed(self.columns)}, FALSE AS "{DELETED}"'
        empty = f"SELECT {columns} FROM {self._target} WHERE FALSE"
        return f'CREATE TEMPORARY TABLE "{INCOMING}" AS {empty}'

    def drop_incoming(self) -> str:
        return f'DROP TABLE "{INCOMING}"'

    def delete(self) -> str:
        gone = f'SELECT {listed(self.key)} FROM "{INCOMING}" WHERE "{DELETED}"'
        return f"DELETE FROM {self._target} WHERE ({listed(self.key)}) IN ({gone})"

    def insert(self) -> str:
        names = listed(self.columns)
        into = f'INSERT INTO {self._target} ({names}) SELECT {names} FROM "{INCOMING}"'
        return f'{into}\nWHERE NOT "{DELETED}" {self._replacing(self.columns)}'

    def _replacing(self, columns: Sequence[str]) -> str:
        others = [quoted(name) for name in columns if name not in self.key]
        sets = ", ".join(f"{name} = excluded.{name}" for name in others)
        what = f"UPDATE SET {sets}" if sets else "NOTHING"
        return f"ON CONFLICT ({listed(self.key)}) DO {what}"

    @property
    def _target(self) -> str:
        return name_of(self.table)

    @property
    def _undo(self) -> str:
        return name_of(self.undo_table)
