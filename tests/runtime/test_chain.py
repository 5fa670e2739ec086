"""What a stage takes of the results below it, whatever revisions of a row one batch has."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from sqlwin.instants import START
from sqlwin.runtime.lowering.chain import chain, pipelines_of
from sqlwin.runtime.lowering.derived import derived
from sqlwin.schema import EMIT, OP, REVISION, ROW_KEY, SEQ, WEIGHT
from sqlwin.sql import script

STREAM = "CREATE STREAM bids (auction BIGINT, price BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
COUNTED = """SELECT auction, window_time, COUNT(*) AS n
FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY auction, window_start, window_end, window_time"""
OVER = f"""SELECT auction, MAX(n) OVER (PARTITION BY auction ORDER BY window_time) AS most
FROM ({COUNTED})"""
AT = pl.lit(59_999_999).cast(pl.Datetime("us", "UTC")).alias("window_time")


def taken(query: str, *ops: tuple[str, int]) -> list[tuple[Any, ...]]:
    """Value and weight of each row, of one window emitted again and again: (op, count)."""
    stage = chain(script(STREAM + query).queries[0]).top
    rows = pl.DataFrame({OP: [op for op, _ in ops], "n": [n for _, n in ops]}).with_columns(
        pl.lit(7, pl.Int64).alias("auction"),
        AT,
        pl.lit("[7]").alias(ROW_KEY),
        pl.lit("late").alias(EMIT),
        pl.lit(0, pl.Int32).alias(REVISION),
    )
    (pipeline,) = pipelines_of(stage)
    return pipeline.process(derived(rows, 0), START).rows["n", WEIGHT].rows()


@pytest.mark.parametrize("query", [OVER, OVER.replace("MAX", "COUNT")])
def test_of_several_revisions_of_a_row_the_first_retractions_and_the_last_row_count(
    query: str,
) -> None:
    known = [("-U", 9), ("+U", 3), ("-U", 3), ("+U", 5), ("-U", 5), ("+U", 4)]
    assert taken(query, *known) == [(9, -1), (4, 1)]
    assert taken(query, *known[:-1]) == [(9, -1)]
    assert taken(query, ("+I", 3), ("-U", 3), ("+U", 5)) == [(5, 1)]
    assert taken(query, ("+I", 3), ("-D", 3)) == []


def test_plans_that_are_equal_are_one_stage() -> None:
    both = f"""SELECT a.n FROM ({COUNTED}) a JOIN ({COUNTED}) b
    ON a.n = b.n AND a.window_time = b.window_time"""
    found = chain(script(STREAM + both).queries[0])
    assert len(found.stages) == 2
    assert [reader.to for reader in found.downstream[0]] == [1]
    assert list(found.streams) == ["bids"]


def test_a_view_read_by_two_event_times_is_one_stage() -> None:
    again = "SELECT window_end, MAX(n) AS n FROM counted GROUP BY window_start, window_end"
    counted = COUNTED.replace("auction, window_time", "auction, window_start, window_end")
    query = f"""WITH counted AS ({counted})
    SELECT a.auction, a.n FROM counted a JOIN ({again}) b ON a.window_end = b.window_end"""
    found = chain(script(STREAM + query).queries[0])
    assert len(found.stages) == 3
    assert {(reader.to, reader.stream.ts) for reader in found.downstream[0]} == {
        (1, "window_time"),
        (2, "window_end"),
    }


def test_the_position_of_a_row_is_that_of_its_row_key() -> None:
    rows = pl.DataFrame({OP: ["+I", "+I", "-D"], ROW_KEY: ["[1]", "[2]", "[1]"]})
    first, other, again = derived(rows, 0)[SEQ].to_list()
    assert first == again != other
