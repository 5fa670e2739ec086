"""Statements that are planned once answer as those planned anew, whatever came before."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from sqlwin.sandbox import compiled, running
from sqlwin.sandbox.locked import locked
from sqlwin.sandbox.running import Failed, run

QUERIES = (
    'SELECT "n" + 1 AS x, "k" FROM rows WHERE "n" > 0',
    'SELECT CAST("k" AS INT) AS x FROM rows',
    'SELECT "n" / 0 AS x, upper("k") AS y FROM rows',
)


def rows(rng: random.Random, type_: pa.DataType) -> pa.Table:
    count = rng.randrange(4)
    numbers = pa.array([rng.choice([None, -1, 0, 7]) for _ in range(count)], type_)
    texts = pa.array([rng.choice([None, "1", "x"]) for _ in range(count)], pa.string())
    return pa.table({"n": numbers, "k": texts})


def answer(query: str, given: pa.Table) -> str:
    try:
        made = run(given, query)
    except Failed as failed:
        return str(failed)
    return str((made.schema, made.to_pylist()))  # a NaN equals no other


def test_calls_of_any_order_answer_as_planned_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """More texts and schemas than plans are kept, and calls that fail among them."""
    monkeypatch.setattr(compiled, "PLANS", 4)
    rng = random.Random(7)
    calls = [
        (rng.choice(QUERIES), rows(rng, rng.choice([pa.int32(), pa.int64()]))) for _ in range(120)
    ]
    found = [answer(*call) for call in calls]
    assert any("CAST_INVALID_INPUT" in each for each in found)
    monkeypatch.setattr(running, "FEW", -1)
    assert found == [answer(*call) for call in calls]


def test_plans_are_bounded_and_rows_are_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "PLANS", 2)
    con, statements = locked(), compiled.Statements()
    given = pa.table({"n": [1]})
    for number in [1, 2, 3] * 2 + [3, 3]:
        statements.run(con, f'SELECT "n" + {number} AS x FROM rows', given)
        assert len(statements.kept) <= 2
    views = con.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone()
    planned = [each for each in statements.kept.values() if each is not None]
    assert views == (len(planned),)
    assert planned and all(feed.rows is None for _, feed in planned)
