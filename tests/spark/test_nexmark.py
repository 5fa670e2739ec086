"""Nexmark's source on Spark's side of things, without a start of Spark."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from sqlwin.runtime.nexmark.sequence import TABLES
from sqlwin.spark.checkpoint.progress import After, leave
from sqlwin.spark.sources.offsets import Offset
from sqlwin.spark.sources.read import packed
from sqlwin.spark.sources.reader import Part, ScriptReader
from sqlwin.spark.sources.source import Settings
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import ROWS
from sqlwin.spark.stages.wire import decode
from sqlwin.sql import script

STREAMS = "".join(
    f"""
CREATE STREAM {table} (dateTime TIMESTAMP, extra STRING, WATERMARK FOR dateTime AS dateTime)
WITH (connector = 'nexmark', events = 5000, rate = 100, 'out-of-orderness' = '2 seconds',
  'step.events' = 500);"""
    for table in TABLES
)
READ = STREAMS + "".join(f"\nSELECT dateTime, extra FROM {table};" for table in TABLES)


def reader(state: Path, batch_bytes: int = 300_000) -> ScriptReader:
    program = Program(script(READ).queries, partitions=2, buckets=2)
    settings = Settings(
        program.dump(), "files", str(state), str(state), end=True, tasks=2, batch_bytes=batch_bytes
    )
    made = ScriptReader(settings)
    made.prepareForTriggerAvailableNow()
    return made


def planned(state: Path, **settings: int) -> list[Offset]:
    """Each batch has left what the next one needs to know."""
    read, found = reader(state, **settings), [Offset()]
    while True:
        end = read.latestOffset(found[-1].dump(), None)  # type: ignore[arg-type]
        if Offset.load(end) == found[-1]:
            return found
        found.append(Offset.load(end))
        leave(read.folder, found[-1].batch, After())


def rows(read: ScriptReader, first: Offset, last: Offset) -> dict[int, pl.DataFrame]:
    """By query, in the order of the positions."""
    found: dict[int, list[pl.DataFrame]] = {0: [], 1: [], 2: []}
    for part in read.partitions(first.dump(), last.dump()):
        assert isinstance(part, Part)
        for row in packed(part.reading):
            if row.kind == ROWS:
                found[row.query].append(decode(row.payload))
    return {query: pl.concat(parts).sort("__seq") for query, parts in found.items()}


def test_a_batch_takes_the_same_events_of_each_stream(tmp_path: Path) -> None:
    taken = [offset.files for offset in planned(tmp_path)][1:]
    assert taken == [dict.fromkeys("012", count) for count in (2, 4, 6, 8, 10)]
    assert planned(tmp_path)[-1].ends == 1


@pytest.mark.parametrize("batch_bytes", [1, 900_000, 10_000_000])
def test_rows_do_not_depend_on_batches_and_tasks(tmp_path: Path, batch_bytes: int) -> None:
    offsets = planned(tmp_path, batch_bytes=batch_bytes)
    read = reader(tmp_path)
    batches = [rows(read, first, last) for first, last in pairwise(offsets)]
    whole = rows(read, Offset(), offsets[-1])
    assert [len(whole[query]) for query in range(3)] == [100, 300, 4_600]
    for query in range(3):
        assert pl.concat(batch[query] for batch in batches).equals(whole[query])


def test_a_batch_can_be_read_again_by_another_reader(tmp_path: Path) -> None:
    _, first, second, *_ = planned(tmp_path)
    once = rows(reader(tmp_path), first, second)
    again = rows(reader(tmp_path), first, second)
    assert all(once[query].equals(again[query]) for query in range(3))
