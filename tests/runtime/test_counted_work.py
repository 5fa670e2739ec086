"""The work of fixed inputs, counted: what makes a query slower fails here without a clock.

Ten batches of a hundred rows, each committed, with a restart in the middle. Of each kind of query
the calls of its stores (state round trips), the rows that go into them and come out, and the
segments and bytes that are written and read are at most what they were when this was written. A
change that needs less lowers them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import wraps
from types import FrameType
from typing import Any

import polars as pl
import pytest
from polars.lazyframe.frame import LazyFrame

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.stores.memory import MemoryStore

BATCHES, ROWS, KEYS = 10, 100, 20
BEGIN = datetime(2024, 1, 1, tzinfo=timezone.utc)
STREAM = "CREATE STREAM {0} (k BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
ONE, TWO = STREAM.format("a"), STREAM.format("a") + STREAM.format("b")
MINUTE = "INTERVAL '1' MINUTE"
QUERIES = {
    "tumble": f"""{ONE} SELECT k, window_end, COUNT(*) AS n, SUM(v) AS total
        FROM TUMBLE(TABLE a, DESCRIPTOR(ts), {MINUTE}) GROUP BY k, window_end""",
    "hop": f"""{ONE} SELECT k, window_end, COUNT(*) AS n, SUM(v) AS total
        FROM HOP(TABLE a, DESCRIPTOR(ts), INTERVAL '10' SECOND, {MINUTE}) GROUP BY k, window_end""",
    "session": f"""{ONE} SELECT k, window_end, COUNT(*) AS n, SUM(v) AS total
        FROM SESSION(TABLE a PARTITION BY k, DESCRIPTOR(ts), INTERVAL '15' SECOND)
        GROUP BY k, window_end""",
    "over": f"""{ONE} SELECT k, ts, SUM(v) OVER w AS total, COUNT(*) OVER w AS n FROM a
        WINDOW w AS (PARTITION BY k ORDER BY ts RANGE {MINUTE} PRECEDING)""",
    "join": f"""{TWO} SELECT a.k, a.v, b.v AS other FROM a JOIN b ON a.k = b.k
        AND b.ts BETWEEN a.ts - INTERVAL '5' SECOND AND a.ts + INTERVAL '5' SECOND""",
}
COUNTED = (
    *("scan", "rows scan", "put", "rows put"),
    *("segments written", "bytes written", "segments read", "bytes read"),
)
MOST = {
    "tumble": (27, 80, 11, 220, 10, 24000, 1, 2500),
    "hop": (43, 1100, 11, 320, 10, 24000, 5, 12000),
    "session": (66, 480, 21, 400, 11, 35000, 2, 6500),
    "over": (50, 1310, 11, 1001, 10, 26000, 5, 13000),
    "join": (20, 1900, 40, 2000, 20, 44000, 2, 4500),
}
"""Of `COUNTED`; bytes are rounded up."""
CALLS = {"tumble": 254, "hop": 254, "over": 284}
"""Of functions of sqlwin, by a push of one row that ends no window, or emits the row before."""
EVERY_CALL = {"tumble": 1_090, "hop": 1_090, "over": 1_520}
"""The same, with those of Polars, NumPy and Arrow, which differ a little by their versions."""


class CountingBlobs(DictBlobs):
    """Blobs of segments, with what is written and read."""

    def __init__(self, counts: Counter[str]) -> None:
        super().__init__()
        self.counts = counts

    def get(self, name: str) -> bytes:
        data = super().get(name)
        if "-" in name:
            self.counts["segments read"] += 1
            self.counts["bytes read"] += len(data)
        return data

    def put(self, name: str, data: bytes) -> None:
        if "-" in name:
            self.counts["segments written"] += 1
            self.counts["bytes written"] += len(data)
        super().put(name, data)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What is counted from here on."""
    found: Counter[str] = Counter()

    def count(store: type, call: str) -> None:
        original = getattr(store, call)

        @wraps(original)
        def counted(self: Any, *given: Any, **named: Any) -> Any:
            made = original(self, *given, **named)
            rows = made if call == "scan" else given[0] if call == "put" else None
            found[call] += 1
            found[f"rows {call}"] += 0 if rows is None else len(rows)
            return made

        monkeypatch.setattr(store, call, counted)

    for call in ("scan", "put", "cut", "erase"):
        count(SegmentStore, call)
    return found


def batch(number: int) -> pl.DataFrame:
    at = range(number * ROWS, (number + 1) * ROWS)
    return pl.DataFrame(
        {
            "k": [n * 7 % KEYS for n in at],
            "v": list(at),
            "ts": [BEGIN + timedelta(milliseconds=100 * n) for n in at],
        },
        schema_overrides={"ts": pl.Datetime("us", "UTC")},
    )


@pytest.mark.parametrize("kind", QUERIES)
def test_work_of_ten_batches(kind: str, counts: Counter[str]) -> None:
    asked = script(QUERIES[kind])
    blobs = CountingBlobs(counts)
    query = EmbeddedQuery(asked, blobs=blobs, token="first")
    for number in range(BATCHES):
        if number == BATCHES // 2:
            query = EmbeddedQuery(asked, blobs=blobs, token="second")
        for stream in ("a", "b") if kind == "join" else ("a",):
            query.push(stream, batch(number))
        query.commit()
    query.drain()
    more = {
        name: f"{counts[name]}, not {most}"
        for name, most in zip(COUNTED, MOST[kind], strict=True)
        if counts[name] > most
    }
    assert not more


def test_a_batch_reads_of_a_day_by_the_minute_what_is_beside_its_blocks(
    counts: Counter[str],
) -> None:
    """A window of 1,440 panes is read as 31 blocks of 45, of which a new one comes now and then."""
    day = f"""{ONE} SELECT window_end, COUNT(*) AS n, SUM(v) AS total
        FROM HOP(TABLE a, DESCRIPTOR(ts), {MINUTE}, INTERVAL '1' DAY) GROUP BY window_end"""
    minutes = pl.DataFrame({"k": 1, "v": range(1_600)}).with_columns(
        ts=pl.lit(BEGIN).dt.replace_time_zone("UTC") + pl.duration(minutes=pl.col("v"))
    )
    query = EmbeddedQuery(script(day), blobs=DictBlobs(), token="first")
    query.push("a", minutes[:1_500])
    counts.clear()
    for minute in minutes[1_500:].iter_slices(1):
        query.push("a", minute)
    query.commit()
    assert query.results().num_rows == 1_599
    assert counts["rows scan"] <= 100 * 2 * 45


def _pushes(kind: str, monkeypatch: pytest.MonkeyPatch, count: int, size: int = 1) -> int:
    """Queries of Polars for so many pushes of one row, or of `size`, after ten rows."""
    queries = 0
    original: Callable[..., Any] = LazyFrame._collect_eager

    def counted(self: LazyFrame, *given: Any, **named: Any) -> Any:
        nonlocal queries
        queries += 1
        return original(self, *given, **named)

    query = EmbeddedQuery(script(QUERIES[kind]))
    rows = pl.concat(map(batch, range(-(-(10 + count * size) // ROWS))))
    for row in rows[:10].iter_slices(1):
        query.push("a", row)
    monkeypatch.setattr(LazyFrame, "_collect_eager", counted)
    for some in rows[10 : 10 + count * size].iter_slices(size):
        query.push("a", some)
    return queries


@pytest.mark.parametrize(("kind", "most"), [("tumble", 0), ("hop", 0), ("over", 0)])
def test_queries_of_a_push_of_one_row(
    kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the groups, a push ends no window; of OVER, each emits the row before."""
    assert _pushes(kind, monkeypatch, 20) <= 20 * most


def test_queries_of_a_push_of_a_hundred_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each groups its rows; that of the sixth has rows of two minutes, and ends the first."""
    assert _pushes("tumble", monkeypatch, 5, size=ROWS) <= 5
    monkeypatch.undo()
    assert _pushes("tumble", monkeypatch, 6, size=ROWS) <= 5 + 9


@pytest.mark.parametrize("kind", CALLS)
def test_calls_of_a_push_of_one_row(kind: str) -> None:
    """Of sqlwin's own functions, none of which is most of it, and of all; the names of
    comprehensions, which newer Pythons do not call, are left out of its own."""
    query, calls, every = EmbeddedQuery(script(QUERIES[kind])), 0, 0
    rows = batch(0)
    for row in rows[:5].iter_slices(1):
        query.push("a", row)

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls, every
        code = frame.f_code
        own = event == "call" and "/sqlwin/" in code.co_filename
        calls += own and not code.co_name.startswith("<")
        every += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        query.push("a", rows[5:6])
    finally:
        sys.setprofile(None)
    assert calls <= CALLS[kind]
    assert every <= EVERY_CALL[kind]


@pytest.mark.parametrize("kind", ["tumble", "hop"])
def test_a_push_of_one_row_that_ends_no_window_groups_nothing(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = EmbeddedQuery(script(QUERIES[kind]))
    rows = batch(0)
    query.push("a", rows[:1])

    def used(self: pl.DataFrame, *given: Any, **named: Any) -> None:
        raise AssertionError("rows were grouped")

    monkeypatch.setattr(pl.DataFrame, "group_by", used)
    for row in rows[1:30].iter_slices(1):
        query.push("a", row)


def test_a_flush_of_state_in_memory_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    query = EmbeddedQuery(script(QUERIES["tumble"]))
    query.push("a", batch(0))

    def used(self: MemoryStore, *given: Any) -> None:
        raise AssertionError("a store was used")

    for call in ("scan", "put", "settle"):
        monkeypatch.setattr(MemoryStore, call, used)
    query.flush()
