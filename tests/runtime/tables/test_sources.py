"""Static tables that are tables of a database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import sqlwin
from sqlwin.errors import QueryError, RunError
from tests.runtime.tables.conftest import Tables
from tests.support.embedded.tables import QUERY, SALES, land, sale

DECLARED = "CREATE TABLE products (product STRING, maker STRING, at TIMESTAMP) WITH ({});"
MADE = 'CREATE TABLE products (id INT, product TEXT, "at" {}, maker TEXT)'


def text(tables: Tables, table: str = "products", query: str = QUERY) -> str:
    options = {"connector": tables.kind, "table": table, **tables.options}
    written = ", ".join(f"{name} = '{value}'" for name, value in options.items())
    sales = SALES.format(files=" WITH (path = 'sales/*.jsonl')")
    return "\n".join([DECLARED.format(written), sales, query])


def shown(script: str, base: Path, checkpoint: Path | None = None) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []

    def show(rows: pl.DataFrame) -> None:
        found.extend(rows.drop("op", "emit", "revision", "row_key").rows())

    sqlwin.run(script, base, checkpoint, show=show)
    return sorted(found, key=str)


def filled(tables: Tables) -> None:
    tables.run(MADE.format("TEXT" if tables.kind == "sqlite" else "TIMESTAMP WITH TIME ZONE"))
    tables.run("INSERT INTO products VALUES (1, 'tea', '2024-01-01T08:00:00Z', 'Ann')")
    tables.run("INSERT INTO products VALUES (2, 'milk', NULL, NULL)")


def test_it_is_read_once_and_by_name(tables: Tables, tmp_path: Path) -> None:
    filled(tables)
    land(tmp_path, "sales", "1", sale("tea", 1), sale("milk", 2), sale("rice", 3))
    state = tmp_path / "state"
    assert shown(text(tables), tmp_path, state) == [(1, "Ann"), (2, None), (3, None)]
    tables.run("UPDATE products SET maker = 'Ben'")
    land(tmp_path, "sales", "2", sale("tea", 4))
    assert shown(text(tables), tmp_path, state) == [(4, "Ann")]
    assert shown(text(tables), tmp_path)[0] == (1, "Ben"), "of another run"


def test_instants_are_read_as_they_are(tables: Tables, tmp_path: Path) -> None:
    filled(tables)
    land(tmp_path, "sales", "1", sale("tea", 1))
    query = QUERY.replace("n, maker", "CAST(at AS STRING) AS at").replace("LEFT JOIN", "JOIN")
    assert shown(text(tables, query=query), tmp_path) == [("2024-01-01 08:00:00",)]


def test_what_is_not_there(tables: Tables, tmp_path: Path) -> None:
    filled(tables)
    land(tmp_path, "sales", "1", sale("tea", 1))
    with pytest.raises(RunError, match="there is no table prodcts for products"):
        shown(text(tables, "prodcts"), tmp_path)
    declared = text(tables).replace("maker STRING", "makr STRING").replace("n, maker", "n, makr")
    with pytest.raises(QueryError, match="products has no column makr"):
        shown(declared, tmp_path)


def test_a_database_that_is_not_there(each: Callable[[str], Tables], tmp_path: Path) -> None:
    land(tmp_path, "sales", "1", sale("tea", 1))
    for kind in ("duckdb", "sqlite"):
        with pytest.raises(RunError, match="cannot read the table products of products: "):
            shown(text(each(kind)), tmp_path)
        assert not (tmp_path / "db").exists(), "reading makes none"


def test_a_stream_is_none() -> None:
    with pytest.raises(QueryError, match="a table of sqlite is no stream, and s is one") as refused:
        sqlwin.query(
            "CREATE STREAM s (n INT) WITH (connector = 'sqlite', path = 'db', table = 's');"
            "SELECT n FROM s"
        )
    assert refused.value.legal == "CREATE TABLE without WATERMARK, for joins"
