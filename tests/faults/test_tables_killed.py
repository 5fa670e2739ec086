"""A process, or the server it writes to, is killed anywhere: tables end as those of a calm run."""

from __future__ import annotations

import random
import re
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest

from tests.faults import sinks
from tests.support.postgres import Server, running

pytestmark = pytest.mark.long
Rows = dict[str, dict[str, Any]]


@pytest.fixture
def postgres() -> Iterator[Server]:
    with running() as server:
        yield server


def command(home: Path, engine: str, out: str, options: str) -> list[str]:
    """Of the script of all operators, each sink a table, TABLE in the options."""
    of = options.replace("TABLE", rf"{out}_\1")
    table = rf"WITH ({of}, create = 'true')"
    text = re.sub(r"WITH \(connector = 'files', path = '\{out\}/(\w+)'\)", table, sinks.SCRIPT)
    (home / f"{out}.sql").write_text(text)
    run = [sys.executable, "-m", "sqlwin.cli", "run", str(home / f"{out}.sql"), "--engine", engine]
    return [*run, "--checkpoint", str(home / f"{out}-state"), "--drain"]


def keyed(names: list[str], rows: list[tuple[Any, ...]]) -> Rows:
    texts = [
        [str(value) if isinstance(value, datetime) else value for value in row] for row in rows
    ]
    found = [dict(zip(names, row, strict=True)) for row in texts]
    return {row["row_key"]: row for row in found}


def alike(read: Any, files: int) -> None:
    """read: the columns and the rows of a table."""
    for sink in sinks.SINKS:
        whole, cut = (keyed(*read(f"{out}_{sink}")) for out in ("whole", "cut"))
        assert len(whole) > 0
        sinks.same(whole, cut)
    errors = [read(f"{out}_bad") for out in ("whole", "cut")]
    refused = [sorted((r[1], r[4]) for r in rows) for _, rows in errors]
    assert refused[0] == refused[1]
    assert len(refused[0]) == len(set(refused[0])) == files


@pytest.mark.parametrize(
    ("engine", "files", "earliest", "latest", "kills"),
    [
        pytest.param("embedded", 12, 0.7, 2.5, 3, id="embedded"),
        pytest.param(
            "spark", 20, 8.0, 16.0, 1, id="spark", marks=pytest.mark.spark(processes=True)
        ),
    ],
)
def test_processes_and_servers_are_killed(
    tmp_path: Path,
    postgres: Server,
    engine: str,
    files: int,
    earliest: float,
    latest: float,
    kills: int,
) -> None:
    rng = random.Random(3)
    sinks.land(tmp_path, files=files, rows=40)
    database = f"connector = 'postgres', url = '{postgres.url}', table = 'TABLE'"
    assert sinks.killed(command(tmp_path, "embedded", "whole", database), []) == 0
    ended = threading.Event()

    def outages() -> None:
        while not ended.wait(rng.uniform(0.5, 3)):
            postgres.kill()
            postgres.start()

    disturbing = threading.Thread(target=outages)
    disturbing.start()
    try:
        moments = [rng.uniform(earliest, latest) for _ in range(kills)]
        assert sinks.killed(command(tmp_path, engine, "cut", database), moments) > 0
    finally:
        ended.set()
        disturbing.join()

    def read(table: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        with psycopg.connect(postgres.url) as connection:
            cursor = connection.execute(f"SELECT * FROM {table}".encode())
            return [column.name for column in cursor.description or ()], cursor.fetchall()

    alike(read, files)


def test_processes_are_killed_that_write_to_a_file(tmp_path: Path) -> None:
    files, rng = 12, random.Random(4)
    sinks.land(tmp_path, files=files, rows=40)
    database = "connector = 'sqlite', path = 'tables.db', table = 'TABLE'"
    assert sinks.killed(command(tmp_path, "embedded", "whole", database), []) == 0
    moments = [rng.uniform(0.7, 2.5) for _ in range(3)]
    assert sinks.killed(command(tmp_path, "embedded", "cut", database), moments) > 0

    def read(table: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        with closing(sqlite3.connect(tmp_path / "tables.db")) as connection:
            cursor = connection.execute(f"SELECT * FROM {table}")
            return [name for name, *_ in cursor.description], cursor.fetchall()

    alike(read, files)


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_processes_are_killed_that_write_to_a_lake(tmp_path: Path, kind: str) -> None:
    files, rng = 8, random.Random(5)
    sinks.land(tmp_path, files=files, rows=40)
    catalog = f"uri = 'sqlite:///{tmp_path}/catalog.db', warehouse = 'file://{tmp_path}'"
    place = {"delta": "path = 'lake/TABLE'", "iceberg": f"{catalog}, table = 'shop.TABLE'"}
    options = f"connector = '{kind}', {place[kind]}"
    assert sinks.killed(command(tmp_path, "embedded", "whole", options), []) == 0
    moments = [rng.uniform(1.5, 4) for _ in range(2)]
    assert sinks.killed(command(tmp_path, "embedded", "cut", options), moments) > 0

    def read(table: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        found = pl.from_arrow(
            _delta(tmp_path, table) if kind == "delta" else _iceberg(tmp_path, table)
        )
        assert isinstance(found, pl.DataFrame)
        return found.columns, found.rows()

    alike(read, files)


def _delta(home: Path, table: str) -> Any:
    from deltalake import DeltaTable

    return DeltaTable(home / "lake" / table).to_pyarrow_table()


def _iceberg(home: Path, table: str) -> Any:
    from pyiceberg.catalog import load_catalog

    catalog = load_catalog("default", uri=f"sqlite:///{home}/catalog.db")
    return catalog.load_table(("shop", table)).scan().to_arrow()
