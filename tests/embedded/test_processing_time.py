"""Processing time as a value of rows, in process: the batch's, also when it is run again."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sqlwin
from sqlwin.embedded import script_query
from sqlwin.embedded.batch_clock import CLOCK
from sqlwin.embedded.checkpoint.folder import file_of
from sqlwin.embedded.run import run
from sqlwin.errors import InputError, StateError
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import SqliteBlobs
from tests.support.embedded.runs import interrupt, land

STREAM = """
CREATE STREAM orders (value BIGINT, ts TIMESTAMP)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
"""
SEEN = f"{STREAM} SELECT value, UNIX_TIMESTAMP() AS seen, NOW() AS at FROM orders"


class Seconds:
    """A machine's clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = 100
        monkeypatch.setattr(script_query, "now", lambda: self.at * 1_000_000)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Seconds:
    return Seconds(monkeypatch)


def seen(parsed: Script, home: Path) -> list[tuple[int, int]]:
    """What a run shows, with a checkpoint."""
    shown: list[pl.DataFrame] = []
    run(parsed, RunOptions(home, home / "state", show=shown.append))
    return [row for each in shown for row in each.select("value", "seen").rows()]


def test_a_batch_that_is_run_again_has_its_time(tmp_path: Path, clock: Seconds) -> None:
    """The sink had its rows, and the commit did not come."""
    parsed = script(SEEN)
    land(tmp_path, "1", "09:00:10", 1)
    land(tmp_path, "2", "09:00:20", 2)
    first: list[pl.DataFrame] = []

    def shown(rows: pl.DataFrame) -> None:
        first.append(rows)
        clock.at += 50
        if len(first) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(parsed, RunOptions(tmp_path, tmp_path / "state", show=shown))
    clock.at = 900
    assert [each["seen"].to_list() for each in first] == [[100], [150]]
    land(tmp_path, "3", "09:00:30", 3)
    assert seen(parsed, tmp_path) == [(2, 150), (3, 900)]
    assert seen(parsed, tmp_path) == []


def test_the_clock_never_goes_back(tmp_path: Path, clock: Seconds) -> None:
    parsed = script(SEEN)
    land(tmp_path, "1", "09:00:10", 1)
    assert seen(parsed, tmp_path) == [(1, 100)]
    clock.at = 40
    land(tmp_path, "2", "09:00:20", 2)
    assert seen(parsed, tmp_path) == [(2, 100)]


def test_a_file_sink_is_the_same_after_a_crash(tmp_path: Path, clock: Seconds) -> None:
    text = f"{STREAM} CREATE SINK out WITH (connector = 'files', path = 'out', format = 'json');"
    parsed = script(f"{text} INSERT INTO out SELECT value, NOW() AS seen FROM orders")
    land(tmp_path, "1", "09:00:10", 1)
    options = RunOptions(tmp_path, tmp_path / "state", on_batch=interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(parsed, options)
    (part,) = (tmp_path / "out").glob("*.jsonl")
    before = part.read_bytes()
    _uncommitted(tmp_path / "state")
    clock.at = 700
    run(parsed, RunOptions(tmp_path, tmp_path / "state"))
    assert part.read_bytes() == before
    assert b"1970-01-01T00:01:40Z" in before


def _uncommitted(state: Path) -> None:
    """As if the power had gone after the sink had its part, and before the commit."""
    blobs = SqliteBlobs(file_of(state, 0))
    with blobs.transaction():
        for name in blobs.names():
            if name != CLOCK:
                blobs.delete(name)
    blobs.close()


def test_nothing_is_recorded_where_it_is_off(tmp_path: Path, clock: Seconds) -> None:
    land(tmp_path, "1", "09:00:10", 1)
    run(script(f"{STREAM} SELECT value FROM orders"), RunOptions(tmp_path, tmp_path / "state"))
    assert CLOCK not in SqliteBlobs(file_of(tmp_path / "state", 0)).names()


@pytest.mark.parametrize("damage", [b"", b"[]", b"{}", b'{"batch": "1", "now": 2}'])
def test_a_damaged_clock_is_said(tmp_path: Path, clock: Seconds, damage: bytes) -> None:
    parsed = script(SEEN)
    land(tmp_path, "1", "09:00:10", 1)
    seen(parsed, tmp_path)
    blobs = SqliteBlobs(file_of(tmp_path / "state", 0))
    with blobs.transaction():
        blobs.put(CLOCK, damage)
    blobs.close()
    land(tmp_path, "2", "09:00:20", 2)
    with pytest.raises(StateError, match="clock is damaged"):
        seen(parsed, tmp_path)


def test_rows_wait_for_the_first_time() -> None:
    """No row is of 1970 because nobody said what time it is."""
    query = sqlwin.query(SEEN)
    with pytest.raises(InputError, match=r"reads processing time, .* advance\(now=…\) comes"):
        query.push("orders", [{"value": 1}])
    query.advance(now="2024-01-01T09:00:00Z")
    query.push("orders", [{"value": 1}])
    assert query.results().column("seen").to_pylist() == [1_704_099_600]
    sqlwin.query(f"{STREAM} SELECT value FROM orders").push("orders", [{"value": 1}])


def test_a_store_goes_on_at_its_time(tmp_path: Path) -> None:
    """Rows that were not committed are pushed again, at the time that is said again."""
    query = sqlwin.query(SEEN, store=tmp_path / "store")
    query.advance(now="1970-01-01T00:01:40Z")
    query.push("orders", [{"value": 1}])
    query.flush()
    query.advance(now="1970-01-01T00:02:00Z")
    query.push("orders", [{"value": 2}])
    lost = query.results().select(["value", "seen", "row_key"]).to_pylist()
    again = sqlwin.query(SEEN, store=tmp_path / "store")
    assert again.offsets() == {"orders": {0: 1}}
    again.advance(now="1970-01-01T00:02:00Z")
    again.push("orders", [{"value": 2}])
    assert again.results().select(["value", "seen", "row_key"]).to_pylist() == lost


MINUTES = """
CREATE STREAM orders (value BIGINT, pt AS PROCTIME())
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
SELECT window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(pt), INTERVAL '1' MINUTE) GROUP BY window_start
"""


def test_a_window_that_was_open_at_a_crash_closes_once(tmp_path: Path, clock: Seconds) -> None:
    """The sink had the window of the first minute, closed by a batch that was not committed."""
    parsed = script(MINUTES)
    land(tmp_path, "1", "09:00:10", 1)
    assert shown(parsed, tmp_path) == []
    clock.at = 130
    land(tmp_path, "2", "09:00:20", 2)
    first: list[pl.DataFrame] = []

    def stop(rows: pl.DataFrame) -> None:
        first.append(rows)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(parsed, RunOptions(tmp_path, tmp_path / "state", show=stop))
    clock.at = 170
    (again,) = shown(parsed, tmp_path)
    assert again.equals(first[0])
    assert again["total"].to_list() == [1]
    clock.at = 180
    assert [each["total"].to_list() for each in shown(parsed, tmp_path)] == [[2]]


def test_a_window_closes_while_nothing_comes(tmp_path: Path, clock: Seconds) -> None:
    """A run that follows looks when the minute is over, and not before."""
    land(tmp_path, "1", "09:00:10", 1)
    seen: list[int] = []

    def waited() -> bool:
        clock.at += 10
        return clock.at > 140

    def show(rows: pl.DataFrame) -> None:
        seen.append(clock.at)

    options = RunOptions(tmp_path, tmp_path / "state", show=show, follow=True, stop=waited)
    run(script(MINUTES), options)
    assert seen == [120]


def shown(parsed: Script, home: Path) -> list[pl.DataFrame]:
    found: list[pl.DataFrame] = []
    run(parsed, RunOptions(home, home / "state", show=found.append))
    return [each for each in found if len(each)]


def test_the_watermark_of_the_clock_is_moved_by_nothing_else() -> None:
    query = sqlwin.query(MINUTES)
    query.advance(now="2024-01-01T09:00:00Z")
    with pytest.raises(InputError, match=r"orders goes by processing time: advance\(now=…\)"):
        query.advance(watermark={"orders": "2024-01-01T09:10:00Z"})
