"""Static tables in this process: read whole, once, before the first row of a stream."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sqlwin
from sqlwin.embedded.run import run
from sqlwin.errors import InputError
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from tests.support.embedded.tables import QUERY, SALES, SCRIPT, TABLE, land, product, sale


@pytest.fixture
def parsed() -> Script:
    return script(SCRIPT)


def test_all_files_of_a_table_are_read_first_and_once(parsed: Script, tmp_path: Path) -> None:
    land(tmp_path, "products", "1", product("tea", "Ann"))
    land(tmp_path, "products", "2", product("milk", "Ben"))
    land(tmp_path, "sales", "1", sale("milk", 1))
    land(tmp_path, "sales", "2", sale("tea", 2))
    shown: list[pl.DataFrame] = []
    read: list[int] = []
    options = RunOptions(
        tmp_path,
        tmp_path / "state",
        show=shown.append,
        on_batch=lambda batch: read.append(batch.read),
    )
    run(parsed, options)
    assert read == [3, 1, 0]
    land(tmp_path, "products", "3", product("tea", "Cid"))
    (tmp_path / "products" / "1.jsonl").unlink()
    land(tmp_path, "sales", "3", sale("tea", 3))
    run(parsed, options)
    assert read[3:] == [1, 0]
    rows = [row for part in shown for row in part.select("n", "maker").rows()]
    assert rows == [(1, "Ben"), (2, "Ann"), (3, "Ann")]


def test_a_table_that_is_not_there_is_an_error(parsed: Script, tmp_path: Path) -> None:
    land(tmp_path, "sales", "1", sale("milk", 1))
    with pytest.raises(InputError, match=r"no file matches products/\*.jsonl of products; it is"):
        run(parsed, RunOptions(tmp_path, tmp_path / "state"))


def test_rows_of_a_table_come_before_any_other() -> None:
    query = sqlwin.query("\n".join([TABLE.format(files=""), SALES.format(files=""), QUERY]))
    query.push("products", [product("tea", "Ann")])
    query.push("products", [product("tea", "Ben")])
    query.push("sales", [sale("tea", 1)])
    assert query.results()["maker"].to_pylist() == ["Ann", "Ben"]
    with pytest.raises(InputError, match="products is a static table: its rows come before"):
        query.push("products", [product("tea", "Cid")])
    query.push("sales", [sale("rice", 2)])
    assert query.results()["maker"].to_pylist() == [None]


TWO = """
CREATE STREAM s (k INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
CREATE TABLE t (k INT, a STRING);
CREATE TABLE u (k INT, b STRING);
"""


@pytest.mark.parametrize(
    "text",
    [
        "SELECT s.k, a, b FROM s LEFT JOIN (t LEFT JOIN u ON t.k = u.k) ON s.k = t.k",
        "SELECT t.k, a, b FROM t LEFT JOIN u ON t.k = u.k "
        "UNION ALL SELECT u.k, a, b FROM u LEFT JOIN t ON t.k = u.k",
    ],
)
def test_a_table_that_a_table_looks_up_comes_before_it(text: str) -> None:
    query = sqlwin.query(TWO + text)
    query.push("t", [{"k": 1, "a": "x"}])
    with pytest.raises(InputError, match="u is a static table: its rows come before the first row"):
        query.push("u", [{"k": 1, "b": "y"}])


def test_tables_joined_in_brackets_with_themselves_come_in_one_push() -> None:
    text = "SELECT s.k, t.a, r.a AS b FROM s LEFT JOIN (t LEFT JOIN t AS r ON t.k = r.k + 1) "
    query = sqlwin.query(f"{TWO}{text} ON s.k = t.k")
    query.push("t", [{"k": 1, "a": "x"}, {"k": 2, "a": "y"}])
    with pytest.raises(InputError, match="t is joined with itself, so its rows come in one push"):
        query.push("t", [{"k": 3, "a": "z"}])
    query.push("s", [{"k": k, "ts": "2024-01-01T00:00:00Z"} for k in (1, 2, 3)])
    rows = query.results().select(["k", "a", "b"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [(1, "x", None), (2, "y", "x"), (3, None, None)]
