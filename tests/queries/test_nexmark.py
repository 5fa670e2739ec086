"""Nexmark's queries on both engines, against DuckDB's answer over the same rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sqlwin.embedded import run as embedded
from sqlwin.embedded.output_buffer import fold
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from tests.support.queries.checking import Run, on_spark, same
from tests.support.queries.nexmark_answers import (
    NAMES,
    QUERIES,
    answer,
    late,
    ordinary,
    rows,
    text,
    together,
    write,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("nexmark")
    write(base)
    return base


def check(run: Run, query: str, name: str, base: Path = QUERIES, clock: str = "arrived") -> None:
    """The last revisions are the batch answer, and no row is refused."""
    emitted: list[pl.DataFrame] = []
    refused: list[pl.DataFrame] = []
    run(script(query), RunOptions(base=base, show=emitted.append, on_errors=refused.append))
    assert_answer(pl.concat(emitted), name, clock)
    assert not refused or pl.concat(refused).is_empty()


def assert_answer(emissions: pl.DataFrame, name: str, clock: str = "arrived") -> None:
    last, expected = fold(emissions).filter(pl.col("op") != "-D"), answer(name, clock)
    assert len(expected) > 0
    assert same(last.select(expected.columns), expected)


@pytest.mark.hours
@pytest.mark.parametrize("name", NAMES)
def test_in_process(name: str) -> None:
    check(embedded.run, text(name), name)


@pytest.mark.parametrize("name", NAMES)
def test_late_rows_correct_what_was_emitted(name: str) -> None:
    check(embedded.run, late(name), name)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_over_ordinary_streams(files: Path, name: str) -> None:
    check(embedded.run, ordinary(name), name, files, "dateTime")


@pytest.mark.long
@pytest.mark.spark
def test_over_ordinary_streams_on_spark(files: Path) -> None:
    """One with a chain, one with a join, one with a ranking and the one of the clock."""
    names = ["q3", "q5", "q9", "q12"]
    refused: list[pl.DataFrame] = []
    parsed = script(together(names, ordinary))
    on_spark(parsed, RunOptions(base=files, on_errors=refused.append))
    assert not refused
    for name in names:
        parts = sorted((files / name).glob("*.parquet"))
        assert_answer(pl.concat(map(pl.read_parquet, parts)), name, "dateTime")


@pytest.fixture(scope="module")
def on_spark_told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of what each query emitted, all in one run: late rows, in several batches."""
    base = tmp_path_factory.mktemp("spark")
    (base / "side_input.csv").write_bytes((QUERIES / "side_input.csv").read_bytes())
    refused: list[pl.DataFrame] = []
    parsed = "SET 'batch.bytes' = 1600000;\n" + together(NAMES)
    on_spark(script(parsed), RunOptions(base=base, on_errors=refused.append))
    assert not refused
    return base


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(1_200)  # the first waits for all of them
@pytest.mark.parametrize("name", NAMES)
def test_on_spark(on_spark_told: Path, name: str) -> None:
    parts = sorted((on_spark_told / name).glob("*.parquet"))
    assert len(parts) > 1
    assert_answer(pl.concat(map(pl.read_parquet, parts)), name)


RANKED = {
    "q5": """
        SELECT auction, num, window_start, window_end
        FROM (
          SELECT *, RANK() OVER (PARTITION BY window_start, window_end ORDER BY num DESC) AS place
          FROM (
            SELECT auction, window_start, window_end, COUNT(*) AS num
            FROM HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND)
            GROUP BY auction, window_start, window_end
          )
        )
        WHERE place <= 1""",
    "q7": """
        SELECT auction, bidder, price, dateTime, extra
        FROM (
          SELECT *, RANK() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS place
          FROM TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
        )
        WHERE place <= 1""",
}


@pytest.mark.parametrize("name", sorted(RANKED))
def test_ranks_say_the_same_without_a_join(name: str) -> None:
    stream = text("q0").partition("SELECT")[0]
    check(embedded.run, stream + RANKED[name], name)


def test_some_rows_are_late_then() -> None:
    """What the test of late rows is worth."""
    seen = rows("bid")["dateTime"].dt.timestamp("us")
    behind = seen.cum_max() - seen
    assert (behind > 1_000_000).mean() > 0.2
    assert behind.max() <= 4_000_000
