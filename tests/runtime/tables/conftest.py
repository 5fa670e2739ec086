"""A database of each kind, and what is in a table of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sqlwin.runtime.tables.appends import Appends
from sqlwin.runtime.tables.table_sink import table_sink
from sqlwin.runtime.tables.upserts import Upserts
from tests.support.postgres import Server, running

KINDS = ("duckdb", "postgres", "sqlite")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with running() as server:
        yield server


@dataclass
class Tables:
    """options: that say where the database is."""

    kind: str
    base: Path
    options: dict[str, str]

    def sink(self, writer: int = 1, appends: bool = False, **options: str) -> Appends | Upserts:
        """Into the table `t`, which it makes."""
        given = {"table": "t", "create": "true", **self.options, **options}
        return table_sink("s", {"connector": self.kind, **given}, self.base, writer, appends)

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        with self._database().transaction() as transaction:
            return transaction.run(statement)

    def _database(self) -> Any:
        return self.sink().target.database


@pytest.fixture(params=KINDS)
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Tables:
    return of(request, str(request.param), tmp_path)


@pytest.fixture
def each(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Tables]:
    return lambda kind: of(request, kind, tmp_path)


def of(request: pytest.FixtureRequest, kind: str, base: Path) -> Tables:
    """A database of its own, empty."""
    if kind != "postgres":
        return Tables(kind, base, {"path": "db"})
    made = Tables(kind, base, {"url": request.getfixturevalue("postgres").url})
    made.run("DROP SCHEMA public CASCADE")
    made.run("CREATE SCHEMA public")
    return made


def found(tables: Tables) -> dict[str, int]:
    return dict(tables.run("SELECT k, n FROM t"))  # type: ignore[arg-type]
