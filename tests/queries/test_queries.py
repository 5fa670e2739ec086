"""The example queries over the whole slice of real data, on both engines, against DuckDB."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest

from sqlwin.embedded import run as embedded
from sqlwin.embedded.board import fold
from sqlwin.plan.nodes import Script
from sqlwin.runtime.options import RunOptions
from sqlwin.runtime.progress import Summary
from sqlwin.sql import script
from tests.data.batch_answers import ANSWERS

QUERIES = Path(__file__).parents[2] / "queries"
FLIGHTS = QUERIES / "data/flights/*.jsonl"
NEVER_LEFT = 521
Run = Callable[[Script, RunOptions], Summary]


def on_spark(asked: Script, options: RunOptions) -> Summary:
    from sqlwin.spark.run import run

    return run(asked, options)


ENGINES = [
    pytest.param(embedded.run, id="embedded"),
    pytest.param(on_spark, id="spark", marks=pytest.mark.spark),
]


@pytest.mark.parametrize("name", sorted(ANSWERS))
@pytest.mark.parametrize("run", ENGINES)
def test_the_last_revisions_are_the_batch_answer(run: Run, name: str) -> None:
    emitted: list[pl.DataFrame] = []
    refused: list[pl.DataFrame] = []
    asked = script((QUERIES / f"{name}.sql").read_text(encoding="utf-8"))
    options = RunOptions(base=QUERIES, show=emitted.append, on_errors=refused.append)
    summary = run(asked, options)
    last = fold(pl.concat(emitted)).filter(pl.col("op") != "-D")
    expected = pl.from_arrow(ANSWERS[name](duckdb.connect(), str(FLIGHTS)))
    assert isinstance(expected, pl.DataFrame)
    assert same(last.select(expected.columns), expected)
    reasons = pl.concat(refused)["reason"].unique().to_list()
    assert reasons == ["no event time: dep_ts is NULL"]
    assert summary.refused == {"no event time": NEVER_LEFT}
    assert summary.read == sum(map(lines, QUERIES.glob("data/flights/*.jsonl")))


def lines(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def same(found: pl.DataFrame, expected: pl.DataFrame) -> bool:
    """Equal as sets of rows, floats within 1e-9."""
    keys = [c for c, dtype in expected.schema.items() if not dtype.is_float()]
    ours = found.cast(dict(expected.schema)).sort(keys)
    theirs = expected.sort(keys)
    exact = ours.select(keys).equals(theirs.select(keys))
    floats = [c for c in expected.columns if c not in keys]
    return exact and all(
        a is b or math.isclose(a, b, rel_tol=1e-9)
        for c in floats
        for a, b in zip(ours[c], theirs[c], strict=True)
    )
