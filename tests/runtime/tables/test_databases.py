"""Servers that die, files that somebody has open, drivers that are not there."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from sqlwin.errors import RunError
from tests.runtime.tables.conftest import Tables, found
from tests.support.postgres import Server
from tests.support.runtime.changes import frame

Each = Callable[[str], Tables]


def test_a_server_that_was_killed_comes_back(each: Each, postgres: Server) -> None:
    tables = each("postgres")
    sink = tables.sink()
    sink.write(1, frame(("+I", "a", 1)))
    postgres.kill()
    later = threading.Timer(0.5, postgres.start)
    later.start()
    sink.write(2, frame(("+U", "a", 2)))
    later.join()
    assert found(tables) == {"a": 2}


def test_a_server_that_never_was_is_said_soon(tmp_path: Path) -> None:
    tables = Tables("postgres", tmp_path, {"url": "postgresql://127.0.0.1:1/none"})
    begun = time.monotonic()
    with pytest.raises(RunError, match=r"cannot write to the table t of sink s: .*refused"):
        tables.sink().write(1, frame())
    assert time.monotonic() - begun < 10


def test_a_server_that_stays_away(each: Each, postgres: Server) -> None:
    sink = each("postgres").sink(wait="1 second")
    sink.write(1, frame(("+I", "a", 1)))
    postgres.stop()
    try:
        with pytest.raises(RunError, match="the last commit stands"):
            sink.write(2, frame(("+U", "a", 2)))
    finally:
        postgres.start()


def test_a_file_that_somebody_else_has_open(each: Each, tmp_path: Path) -> None:
    tables = each("duckdb")
    with duckdb.connect(str(tmp_path / "db")):
        tables.sink().write(1, frame(("+I", "a", 1)))
    assert found(tables) == {"a": 1}


def test_a_schema_of_its_own(each: Each) -> None:
    for kind in ("duckdb", "postgres"):
        tables = each(kind)
        tables.run("CREATE SCHEMA sales")
        tables.sink(table="sales.t").write(1, frame(("+I", "a", 1)))
        assert tables.run("SELECT batch FROM sales.sqlwin_batches") == [(1,)]


def test_no_driver(each: Each, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = each("postgres")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(RunError, match=r"pip install 'sqlwin\[postgres\]'"):
        tables.sink().write(1, frame())


def test_a_text_that_postgres_has_not(each: Each) -> None:
    with pytest.raises(RunError, match="no text with a character of code 0"):
        each("postgres").sink().write(1, frame(("+I", "a\0", 1)))
