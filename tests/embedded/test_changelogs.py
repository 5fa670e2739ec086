"""Changelogs in process: `push(op=…)`, files and their sinks, restarts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sqlwin
from sqlwin.embedded.run import run
from sqlwin.errors import InputError
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script

STOCK = """CREATE TABLE stock (id BIGINT, product STRING, n BIGINT, PRIMARY KEY (id))
WITH (changelog = 'upsert'{});"""
TOTAL = "SELECT product, SUM(n) AS n FROM stock GROUP BY product"
ROWS = [{"id": 1, "product": "tea", "n": 5}, {"id": 2, "product": "tea", "n": 3}]


def totals(query: sqlwin.EmbeddedQuery) -> dict[str, int]:
    return {row["product"]: row["n"] for row in query.table().to_pylist()}


def test_push_says_what_the_rows_are() -> None:
    query = sqlwin.query(STOCK.format("") + TOTAL)
    query.push("stock", ROWS)
    query.push("stock", [{"id": 1, "product": "milk", "n": 4}], op="+U")
    assert totals(query) == {"tea": 3, "milk": 4}
    query.push("stock", pl.DataFrame({"id": [1, 2]}), op="-D")
    assert totals(query) == {}


def test_push_says_it_in_place_of_a_column_of_another_name() -> None:
    query = sqlwin.query(STOCK.format(", 'changelog.op' = 'kind'") + TOTAL)
    query.push("stock", ROWS, op="c")
    query.push("stock", [{"kind": "d", "id": 2}])
    assert totals(query) == {"tea": 5}


@pytest.mark.parametrize(
    ("declared", "row", "op", "message"),
    [
        (STOCK.format(""), {"id": 1}, "D", "op is 'D', and none of +I, -U, +U, -D, c, r, u, d"),
        (
            STOCK.format(""),
            {"id": 1, "op": "+I"},
            "-D",
            "the rows have a column op of their own, which says what they are",
        ),
        (
            "CREATE STREAM stock (id BIGINT, product STRING, n BIGINT, ts TIMESTAMP, "
            "WATERMARK FOR ts AS ts);",
            {"id": 1},
            "-D",
            "stock is no changelog, so its rows are insertions; changelog = 'upsert' makes it one",
        ),
    ],
)
def test_what_push_cannot_say(declared: str, row: dict[str, Any], op: str, message: str) -> None:
    query = sqlwin.query(declared + TOTAL)
    with pytest.raises(InputError) as refusal:
        query.push("stock", [row], op=op)
    assert str(refusal.value) == message


def test_a_restarted_query_knows_the_rows_of_the_table(tmp_path: Path) -> None:
    store = tmp_path / "state"
    with sqlwin.query(STOCK.format("") + TOTAL, store=store) as query:
        query.push("stock", ROWS)
        query.flush()
    with sqlwin.query(STOCK.format("") + TOTAL, store=store) as query:
        query.push("stock", [{"id": 2}], op="-D")
        (row,) = query.results().to_pylist()
        assert (row["op"], row["product"], row["n"], row["revision"]) == ("+U", "tea", 5, 1)


def test_state_has_the_columns_that_are_read_and_a_ttl_bounds_it() -> None:
    query = sqlwin.query(STOCK.format(", 'state.ttl' = '1 minute'") + TOTAL)
    query.advance(now="2024-01-01T09:00:00Z")
    query.push("stock", [{"id": number, "product": "tea", "n": 1} for number in range(50)])
    assert _keys(query) == 50
    query.advance(now="2024-01-01T09:10:00Z")
    query.push("stock", [{"id": 7, "product": "tea", "n": 1}], op="+U")
    assert _keys(query) == 1


def _keys(query: sqlwin.EmbeddedQuery) -> int:
    """Of the changelog normalizer."""
    stores = query._task.tasks[0].stores
    return len(stores["panes"].scan(0, 1))


@pytest.mark.parametrize(
    ("changelog", "key"), [("retract", ""), ("upsert", ", row_key STRING, PRIMARY KEY (row_key)")]
)
def test_what_a_sink_writes_a_source_reads(tmp_path: Path, changelog: str, key: str) -> None:
    _land(tmp_path, 1, [{"k": "a", "v": 1}, {"k": "a", "v": 2}, {"k": "b", "v": 5}])
    _land(tmp_path, 2, [{"k": "a", "v": 4}, {"k": "b", "v": -5}])
    written = f"""CREATE STREAM s (k STRING, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
    WITH (path = 'in/*.jsonl');
    CREATE SINK out WITH (connector = 'files', path = 'out', changelog = '{changelog}');
    INSERT INTO out SELECT k, SUM(v) AS v FROM s GROUP BY k HAVING SUM(v) > 0"""
    run(script(written), RunOptions(tmp_path))
    read = f"""CREATE TABLE totals (k STRING, v BIGINT{key})
    WITH (path = 'out/*.jsonl', changelog = '{changelog}');
    SELECT SUM(v) AS v, COUNT(*) AS n FROM totals"""
    shown: list[pl.DataFrame] = []
    run(script(read), RunOptions(tmp_path, show=shown.append))
    assert pl.concat(shown).select("v", "n").rows()[-1] == (7, 1)


def _land(base: Path, number: int, rows: list[dict[str, Any]]) -> None:
    folder = base / "in"
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps({**row, "ts": "2024-01-01T09:00:00Z"}) + "\n" for row in rows)
    (folder / f"{number}.jsonl").write_text(text)


DEBEZIUM = """CREATE TABLE stock (id BIGINT, product STRING, n BIGINT, PRIMARY KEY (id))
WITH (path = 'in/*.jsonl', changelog = 'debezium');"""


def _envelope(op: str, before: object, after: object) -> dict[str, Any]:
    source = {"lsn": 7, "table": "stock"}
    return {"before": before, "after": after, "op": op, "ts_ms": 1, "source": source}


def test_debezium_snapshots_changes_and_replays(tmp_path: Path) -> None:
    tea, milk = {"id": 1, "product": "tea", "n": 5}, {"id": 2, "product": "milk", "n": 3}
    more = {**tea, "n": 8}
    changes = [_envelope("u", tea, more), _envelope("d", {"id": 2}, None)]
    _land(tmp_path, 1, [_envelope("r", None, tea), _envelope("r", None, milk)])
    _land(tmp_path, 2, [{"schema": {"type": "struct"}, "payload": each} for each in changes])
    _land(tmp_path, 3, changes)
    _land(tmp_path, 4, [_envelope("t", None, None), {"n": 1}, _envelope("c", None, {"id": "x"})])
    shown: list[pl.DataFrame] = []
    options = RunOptions(tmp_path, tmp_path / "state", show=shown.append)
    summary = run(script(DEBEZIUM + TOTAL), options)
    rows = pl.concat(shown)
    early = rows.filter(pl.col("emit") == "early")
    assert sorted(early.select("revision", "op", "product", "n").rows()) == [
        (0, "+I", "milk", 3),
        (0, "+I", "tea", 5),
        (1, "+U", "tea", 8),
        (1, "-D", "milk", 3),
    ]
    assert dict(summary.refused) == {"no change": 1, "no key": 1, "malformed": 1}
    _land(tmp_path, 5, [_envelope("d", tea, None)])
    run(script(DEBEZIUM + TOTAL), RunOptions(tmp_path, tmp_path / "state", show=shown.append))
    last = shown[-1].row(-1, named=True)
    assert (last["op"], last["product"]) == ("-D", "tea")
