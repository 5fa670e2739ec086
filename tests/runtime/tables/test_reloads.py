"""Static tables that are read again: rows meet the version there is, and a replay the same one."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import sqlwin
from sqlwin.embedded.checkpoint.reader import state
from sqlwin.embedded.run import run as run_embedded
from sqlwin.errors import QueryError, RunError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.facts import sources_of
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.reloads import ReloadedTable
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.spark.run import run as run_on_spark
from sqlwin.sql import script
from tests.support.postgres import Server

FILE = "connector = 'files', path = 'makers/*.jsonl', 'reload.interval' = '1 millisecond'"
DATABASE = "connector = 'sqlite', path = 'shop.db', table = 'makers', 'reload.interval' = '1 ms'"
DDL = """
CREATE STREAM sales (product STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (path = 'sales/*.jsonl');
CREATE TABLE makers (product STRING, maker STRING) WITH ({table});
"""
SINK = "CREATE SINK out WITH (connector = 'python'); INSERT INTO out "
QUERY = DDL + SINK + "SELECT sales.product, maker FROM sales {kind} JOIN makers USING (product)"
KILLED = """
import os, signal, sys
from pathlib import Path
from sqlwin.embedded.checkpoint.reader import state
from sqlwin.embedded.run import run
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from tests.support.postgres import Server

home = Path(sys.argv[1])
killed = lambda rows, batch: os.kill(os.getpid(), signal.SIGKILL)
text = (home / "q.sql").read_text()
run(script(text), RunOptions(home, home / "state", functions={"out": killed}))
"""
Makers = dict[str, str]
Run = Callable[..., Any]


def in_files(home: Path, makers: Makers) -> None:
    """Put in place by a rename."""
    (home / "makers").mkdir(exist_ok=True)
    lines = (json.dumps({"product": p, "maker": m}) + "\n" for p, m in makers.items())
    (home / "new").write_text("".join(lines))
    (home / "new").replace(home / "makers" / "a.jsonl")


def in_sqlite(home: Path, makers: Makers) -> None:
    with sqlite3.connect(home / "shop.db") as db:
        db.execute("CREATE TABLE IF NOT EXISTS makers (product TEXT, maker TEXT)")
        db.execute("DELETE FROM makers")
        db.executemany("INSERT INTO makers VALUES (?, ?)", makers.items())


def sell(home: Path, name: str, *products: str) -> None:
    (home / "sales").mkdir(exist_ok=True)
    rows = ({"product": product, "ts": "2024-01-01T09:00:00Z"} for product in products)
    (home / "sales" / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))


@pytest.fixture(
    params=["embedded", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.long])]
)
def run(request: pytest.FixtureRequest) -> Run:
    if request.param == "embedded":
        return run_embedded
    return partial(run_on_spark, spark=request.getfixturevalue("spark"))


def ran(home: Path, text: str, run: Run = run_embedded) -> list[tuple[str, str | None]]:
    """What a run emits; it goes on from the last one."""
    found: list[tuple[str, str | None]] = []

    def take(rows: pa.Table, batch: int) -> None:
        found.extend((row["product"], row["maker"]) for row in rows.to_pylist())

    run(script(text), RunOptions(home, home / "state", functions={"out": take}))
    return sorted(found)


@pytest.mark.parametrize(
    ("table", "put"), [(FILE, in_files), (DATABASE, in_sqlite)], ids=["files", "sqlite"]
)
def test_rows_meet_the_version_there_is(
    tmp_path: Path, run: Run, table: str, put: Callable[[Path, Makers], None]
) -> None:
    text = QUERY.format(table=table, kind="LEFT")
    put(tmp_path, {"tea": "Ann", "milk": "Ben"})
    sell(tmp_path, "a", "tea", "milk")
    assert ran(tmp_path, text, run) == [("milk", "Ben"), ("tea", "Ann")]
    put(tmp_path, {"tea": "Cid", "rice": "Dot"})
    sell(tmp_path, "b", "tea", "milk", "rice")
    assert ran(tmp_path, text, run) == [("milk", None), ("rice", "Dot"), ("tea", "Cid")]
    sell(tmp_path, "c", "tea")
    assert ran(tmp_path, text, run) == [("tea", "Cid")]
    left = [file.name for file in tmp_path.rglob("*.rows.arrow")]
    assert len(left) <= 1, "committed versions are state"


def test_an_empty_version_counts(tmp_path: Path) -> None:
    text = QUERY.format(table=DATABASE, kind="LEFT")
    in_sqlite(tmp_path, {"tea": "Ann"})
    sell(tmp_path, "a", "tea")
    assert ran(tmp_path, text) == [("tea", "Ann")]
    in_sqlite(tmp_path, {})
    sell(tmp_path, "b", "tea")
    assert ran(tmp_path, text) == [("tea", None)]


def test_what_is_not_there_for_a_moment_stays_what_it_was(tmp_path: Path) -> None:
    text = QUERY.format(table=FILE, kind="")
    in_files(tmp_path, {"tea": "Ann"})
    sell(tmp_path, "a", "tea")
    assert ran(tmp_path, text) == [("tea", "Ann")]
    (tmp_path / "makers" / "a.jsonl").unlink()
    sell(tmp_path, "b", "tea")
    assert ran(tmp_path, text) == [("tea", "Ann")]


def test_a_batch_that_is_replayed_has_its_version_again(tmp_path: Path, run: Run) -> None:
    """The sink fails once it has the batch; meanwhile the table has changed."""
    text = QUERY.format(table=FILE, kind="")
    in_files(tmp_path, {"tea": "Ann"})
    sell(tmp_path, "a", "tea")
    seen: list[str] = []

    def fails(rows: pa.Table, batch: int) -> None:
        seen.extend(row["maker"] for row in rows.to_pylist())
        if len(seen) == 1:
            raise OSError("the disk is full")

    options = RunOptions(tmp_path, tmp_path / "state", functions={"out": fails})
    with pytest.raises((OSError, RunError)):
        run(script(text), options)
    in_files(tmp_path, {"tea": "Ben"})
    run(script(text), options)
    assert seen == ["Ann", "Ann"]


@pytest.mark.long
def test_killed_with_a_version_that_is_not_committed(tmp_path: Path) -> None:
    in_files(tmp_path, {"tea": "Ann"})
    sell(tmp_path, "a", "tea")
    (tmp_path / "q.sql").write_text(QUERY.format(table=FILE, kind=""))
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    in_files(tmp_path, {"tea": "Ben"})
    sell(tmp_path, "b", "tea")
    found = ran(tmp_path, QUERY.format(table=FILE, kind=""))
    assert found == [("tea", "Ann"), ("tea", "Ann")], "of the second run, which looked at once"
    assert ran(tmp_path, QUERY.format(table=FILE, kind="")) == []
    sell(tmp_path, "c", "tea")
    assert ran(tmp_path, QUERY.format(table=FILE, kind="")) == [("tea", "Ben")]


def test_a_run_that_follows_looks_again(tmp_path: Path) -> None:
    text = QUERY.format(table=FILE, kind="")
    in_files(tmp_path, {"tea": "Ann"})
    sell(tmp_path, "a", "tea")
    found: list[str] = []

    def take(rows: pa.Table, batch: int) -> None:
        found.extend(row["maker"] for row in rows.to_pylist())
        if len(found) == 1:
            in_files(tmp_path, {"tea": "Ben"})
            sell(tmp_path, "b", "tea")

    options = RunOptions(
        tmp_path, follow=True, functions={"out": take}, stop=lambda: len(found) == 2
    )
    run_embedded(script(text), options)
    assert found == ["Ann", "Ben"]


def test_a_table_of_postgres(tmp_path: Path, postgres: Server) -> None:
    table = f"connector = 'postgres', url = '{postgres.url}', table = 'again'"
    text = QUERY.format(table=f"{table}, 'reload.interval' = '1 ms'", kind="")
    with psycopg.connect(postgres.url, autocommit=True) as db:
        db.execute("CREATE TABLE again (product TEXT, maker TEXT)")
        for maker in ("Ann", "Ben"):
            db.execute("DELETE FROM again")
            db.execute("INSERT INTO again VALUES ('tea', %s)", [maker])
            sell(tmp_path, maker, "tea")
            assert ran(tmp_path, text) == [("tea", maker)]


def test_state_does_not_grow_with_versions(tmp_path: Path) -> None:
    text = QUERY.format(table=FILE, kind="")
    for number in range(12):
        in_files(tmp_path, {f"p{at}": f"m{number}" for at in range(50)})
        sell(tmp_path, f"{number:02}", "p7")
        assert ran(tmp_path, text) == [("p7", f"m{number}")]
    file = tmp_path / "state" / "query-0.sqlite"
    rows = {row["name"]: row["rows"] for row in state(file).stores().to_pylist()}
    assert rows["right"] <= 200


def test_it_is_looked_at_once_an_interval(tmp_path: Path) -> None:
    in_sqlite(tmp_path, {"tea": "Ann"})
    text = QUERY.format(table=DATABASE.replace("1 ms", "10 minutes"), kind="")
    (stream,) = (each for each in _streams(text) if each.name == "makers")
    now = [0.0]
    made = source_of(stream)
    assert isinstance(made, ReloadedTable)
    table = ReloadedTable(stream, made.table, made.interval, tmp_path / "kept", lambda: now[0])
    progress = FileProgress()
    assert table.find(progress, tmp_path)
    assert not table.find(progress, tmp_path)
    progress.read(1)
    in_sqlite(tmp_path, {"tea": "Ben"})
    now[0] = 599.0
    assert not table.find(progress, tmp_path)
    now[0] = 600.0
    assert table.find(progress, tmp_path)
    progress.read(2)
    now[0] = 1_200.0
    assert not table.find(progress, tmp_path), "nothing has changed"
    table.drop(progress)
    assert list((tmp_path / "kept").iterdir()) == []


def _streams(text: str) -> list[Stream]:
    return [*sources_of(script(text).queries[0].plan)]


def test_another_interval_goes_on(tmp_path: Path, run: Run) -> None:
    text = QUERY.format(table=FILE, kind="")
    in_files(tmp_path, {"tea": "Ann"})
    for name, interval in (("a", "1 millisecond"), ("b", "2 milliseconds")):
        sell(tmp_path, name, "tea")
        assert ran(tmp_path, text.replace("1 millisecond", interval), run) == [("tea", "Ann")]


def test_a_table_that_is_joined_with_itself_is_read_once(tmp_path: Path, run: Run) -> None:
    in_files(tmp_path, {"tea": "Ann", "rice": "Ann"})
    joined = "SELECT a.product, b.product AS maker FROM makers a JOIN makers b ON a.maker = b.maker"
    assert ran(tmp_path, DDL.format(table=FILE) + SINK + joined, run) == [
        ("rice", "rice"),
        ("rice", "tea"),
        ("tea", "rice"),
        ("tea", "tea"),
    ]


def test_what_is_refused() -> None:
    with pytest.raises(
        QueryError, match=r"reload.interval is of a static table, and s is a stream"
    ):
        script(
            "CREATE STREAM s (a INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) "
            "WITH (path = 'x', 'reload.interval' = '1 hour'); SELECT a FROM s"
        )
    with pytest.raises(QueryError, match=r"makers is read again, and rows of the left may be"):
        script(
            DDL.format(table=FILE)
            + "SELECT n, maker FROM (SELECT product, COUNT(*) AS n FROM TUMBLE(TABLE sales, "
            "DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY product, window_start, window_end "
            "EMIT LATE ON UPDATE RETAIN 1 HOUR) s JOIN makers ON s.product = makers.product"
        )


def test_explain_says_so() -> None:
    said = sqlwin.explain(QUERY.format(table=FILE, kind=""))
    assert "before the first row, and again every 1 millisecond where it has changed" in said
