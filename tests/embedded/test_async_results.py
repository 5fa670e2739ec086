"""`async for` over what a query emits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from typing import Any

import pytest

import sqlwin
from sqlwin.errors import InputError

SQL = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end RETAIN 1 HOUR"""
BATCHES = [
    [{"product": "tea", "value": 1, "ts": "2024-01-01T09:00:10Z"}],
    [{"product": "tea", "value": 2, "ts": "2024-01-01T09:01:00Z"}],
    [],
    [{"product": "tea", "value": 4, "ts": "2024-01-01T09:00:20Z"}],
    [],
]


async def collected(query: Any, batches: Any, **options: Any) -> list[list[tuple[Any, ...]]]:
    columns = ("total", "op", "emit", "revision")
    return [
        [tuple(row[name] for name in columns) for row in results.to_pylist()]
        async for results in query.process(batches, **options)
    ]


async def slowly(batches: Iterable[Any], asked: list[int]) -> AsyncIterator[Any]:
    for number, batch in enumerate(batches):
        await asyncio.sleep(0)
        asked.append(number)
        yield batch


def test_each_batch_yields_what_it_emits_and_the_end_the_rest() -> None:
    found = asyncio.run(collected(sqlwin.query(SQL), BATCHES))
    assert found == [[(1, "+I", "full", 0)], [(5, "+U", "late", 1), (2, "+I", "full", 0)]]


def test_without_a_drain_what_is_open_stays_open() -> None:
    query = sqlwin.query(SQL)
    assert asyncio.run(collected(query, BATCHES[:2], drain=False)) == [[(1, "+I", "full", 0)]]
    assert query.table().num_rows == 1


def test_a_clock_moves_processing_time_before_each_batch() -> None:
    times = iter(f"2024-01-01T09:05:{second:02}Z" for second in (0, 5, 10, 15, 30))
    found = asyncio.run(
        collected(sqlwin.query(SQL), BATCHES, drain=False, clock=lambda: next(times))
    )
    assert found == [[(1, "+I", "full", 0)], [(5, "+U", "late", 1)]]


def test_a_source_is_asked_for_more_only_when_results_are_used_up() -> None:
    asked: list[int] = []

    async def first() -> None:
        process = sqlwin.query(SQL).process(slowly(BATCHES, asked))
        await anext(process)
        assert asked == [0, 1]
        await process.aclose()

    asyncio.run(first())


def test_who_stops_early_closes_the_source_at_once() -> None:
    closed: list[str] = []

    async def source() -> AsyncIterator[Any]:
        try:
            for batch in BATCHES:
                yield batch
        finally:
            await asyncio.sleep(0)
            closed.append("source")

    async def first() -> None:
        async with aclosing(sqlwin.query(SQL).process(source())) as process:
            async for _ in process:
                break
        assert closed == ["source"]

    asyncio.run(first())


def test_batches_of_two_streams_say_whose_they_are() -> None:
    query = sqlwin.query("""
        CREATE STREAM a (k INT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
        CREATE STREAM b (k INT, at TIMESTAMP, WATERMARK FOR at AS at);
        SELECT a.k AS total FROM a JOIN b ON a.k = b.k AND a.ts = b.at""")
    row = {"k": 1, "ts": "2024-01-01T09:00:10Z"}
    batches = [("a", [row]), ("b", [{"k": 1, "at": row["ts"]}])]
    assert asyncio.run(collected(query, batches)) == [[(1, "+I", "full", 0)]]
    with pytest.raises(InputError, match=r"\(name, rows\), of a or b"):
        asyncio.run(collected(query, [[row]]))
