"""Queries over `rows`, each planned once for a connection: a call brings new rows, and no text.

What a statement reads is a `Feed`, a relation of one schema that is registered once and gives
the rows of the call that runs. To register a table, to parse and to plan are three quarters of what
a call of few rows takes. DuckDB keeps a prepared statement's result whole, and copies it once more.

Invariant: a statement's plan depends on its text, the schema of its rows and the functions of its
connection alone, none of which changes; a feed has rows only while its statement runs.

>>> from sqlwin.sandbox.locked import locked
>>> con = locked()
>>> query, rows = 'SELECT "a" + 1 AS b FROM rows', pa.table({"a": [1, 2]})
>>> run_compiled(con, query, rows) is None
True
>>> run_compiled(con, query, rows).to_pylist(), run_compiled(con, query, rows[:1]).to_pylist()
([{'b': 2}, {'b': 3}], [{'b': 2}])
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import duckdb

PLANS = 256
"""Statements a connection keeps, those used last."""
_local = threading.local()


@dataclass(eq=False)
class Feed:
    """A relation of one schema, for DuckDB to read by Arrow's C interface."""

    schema: pa.Schema
    rows: pa.Table | None = None

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        assert self.rows is not None
        return self.rows.__arrow_c_stream__(requested_schema)


@dataclass(eq=False)
class Statements:
    """The statements of one connection, by text and schema, those used last at the end."""

    kept: OrderedDict[tuple[str, pa.Schema], tuple[str, Feed] | None] = field(
        default_factory=OrderedDict
    )
    made: int = 0

    def run(self, con: duckdb.DuckDBPyConnection, query: str, rows: pa.Table) -> pa.Table | None:
        """`query` over `rows`, None the first time; duckdb.Error where it fails."""
        key = (query, rows.schema)
        statement = self._statement(con, key)
        if statement is None:
            return None
        name, feed = statement
        feed.rows = rows
        try:
            return con.sql(f"EXECUTE {name}").to_arrow_table()
        finally:
            feed.rows = None

    def _statement(
        self, con: duckdb.DuckDBPyConnection, key: tuple[str, pa.Schema]
    ) -> tuple[str, Feed] | None:
        if key not in self.kept:
            self.kept[key] = None
            if len(self.kept) > PLANS:
                self._forget(con, self.kept.popitem(last=False)[1])
            return None
        if self.kept[key] is None:
            self.kept[key] = self._planned(con, *key)
        self.kept.move_to_end(key)
        return self.kept[key]

    def _planned(
        self, con: duckdb.DuckDBPyConnection, query: str, schema: pa.Schema
    ) -> tuple[str, Feed]:
        self.made += 1
        name, feed = f"compiled_{self.made}", Feed(schema)
        con.register(name, feed)
        try:
            rows = f"WITH rows AS NOT MATERIALIZED (FROM {name})"
            con.execute(f"PREPARE {name} AS {rows} {query}")
        except BaseException:
            con.unregister(name)
            raise
        return name, feed

    def _forget(self, con: duckdb.DuckDBPyConnection, statement: tuple[str, Feed] | None) -> None:
        if statement is not None:
            con.execute(f"DEALLOCATE {statement[0]}")
            con.unregister(statement[0])


def run_compiled(con: duckdb.DuckDBPyConnection, query: str, rows: pa.Table) -> pa.Table | None:
    """`query` over `rows`, on a connection of this thread; duckdb.Error where it fails.

    None where it is new, and may not come again: a plan pays from the second call on."""
    if not hasattr(_local, "statements"):
        _local.statements = WeakKeyDictionary["duckdb.DuckDBPyConnection", Statements]()
    statements: Statements = _local.statements.setdefault(con, Statements())
    return statements.run(con, query, rows)
