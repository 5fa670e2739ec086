"""Standalone use: outputs wait until they are read; a flush writes all as one."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlwin
from tests.support.embedded.orders import (
    A_MINUTE_EACH,
    MEDIANS,
    STREAM,
    content,
    emissions,
    order,
    push,
    stored,
    watched,
)

EVERY_ROW = STREAM + "SELECT id, value FROM orders WHERE value > 1"
TRUSTED = MEDIANS.replace("OFFSET id", "OFFSET id TRUSTED")
NO_OFFSET = MEDIANS.replace(", OFFSET id", "")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "orders.state"


def test_results_not_cleared_are_a_copy() -> None:
    query = sqlwin.query(MEDIANS)
    push(query, A_MINUTE_EACH[:2])
    assert emissions(query, clear=False) == emissions(query, clear=False) == [(0.0, "full", 0)]
    push(query, A_MINUTE_EACH[2:3])
    assert emissions(query) == [(0.0, "full", 0), (1.0, "full", 0)]
    assert emissions(query) == []


def test_flush_clears_what_waits_and_a_new_process_goes_on(file: Path) -> None:
    query = stored(file)
    push(query, A_MINUTE_EACH[:3])
    query.flush()
    assert emissions(query) == []
    again = stored(file)
    assert emissions(again) == []
    assert again.offsets() == {"orders": {0: 3}}
    push(again, A_MINUTE_EACH)  # more than it has to have
    assert emissions(again) == [(2.0, "full", 0), (3.0, "full", 0)]


def test_outputs_that_were_not_flushed_are_returned_again(file: Path) -> None:
    query = stored(file)
    push(query, A_MINUTE_EACH[:2])
    query.flush()
    push(query, A_MINUTE_EACH[2:])
    unflushed = emissions(query)
    again = stored(file)
    after = again.offsets()["orders"][0]
    push(again, [row for row in A_MINUTE_EACH if row["id"] >= after])
    assert emissions(again) == unflushed == [(1.0, "full", 0), (2.0, "full", 0), (3.0, "full", 0)]


def test_commit_keeps_what_waits(file: Path) -> None:
    query = stored(file)
    push(query, A_MINUTE_EACH[:2])
    query.commit()
    again = stored(file)
    assert emissions(again) == [(0.0, "full", 0)]
    again.flush()
    assert emissions(stored(file)) == []


def test_a_first_flush_may_have_nothing(file: Path) -> None:
    stored(file).flush()
    query = stored(file)
    query.push("orders", [])
    query.flush()
    assert stored(file).offsets() == {"orders": {}}


def test_a_flush_is_all_or_nothing(file: Path) -> None:
    writes = written_by_a_flush(file)
    assert writes > 3
    for failing in range(writes):
        path = file.with_name(f"{failing}.state")
        query, blobs = watched(path)
        push(query, A_MINUTE_EACH[:2])
        query.flush()
        before = content(path)
        push(query, A_MINUTE_EACH[2:])
        blobs.fails_at = failing
        with pytest.raises(sqlwin.RunError, match="cannot write state: the disk is full; the last"):
            query.flush()
        assert content(path) == before
        assert len(emissions(query, clear=False)) == 3, "what was not written is not cleared"
        with pytest.raises(sqlwin.RunError, match="takes nothing more: cannot write state"):
            query.push("orders", [])
        again = stored(path)
        push(again, A_MINUTE_EACH)
        assert emissions(again) == [(1.0, "full", 0), (2.0, "full", 0), (3.0, "full", 0)]


def written_by_a_flush(file: Path) -> int:
    query, blobs = watched(file)
    push(query, A_MINUTE_EACH[:2])
    query.flush()
    push(query, A_MINUTE_EACH[2:])
    query.flush()
    return blobs.writes


def test_windows_messages_and_offsets_have_a_table_each(file: Path) -> None:
    query = stored(file)
    push(query, A_MINUTE_EACH)
    query.flush()
    found = content(file)
    stores = {table: {name.split("-")[0] for name in found[table]} for table in found}
    assert stores == {
        "messages": {"messages"},
        "windows": {"panes", "seen"},
        "offsets": {"header", "position", "query"},
    }


def test_positions_are_those_read_whatever_became_of_the_rows(file: Path) -> None:
    query = stored(file, EVERY_ROW)
    query.push("orders", [order(1, "00:00", 7), order(2, "00:00", 0), order(3, "00:00", 0)])
    query.flush()
    assert stored(file, EVERY_ROW).offsets() == {"orders": {0: 4}}


@pytest.mark.parametrize("sql", [MEDIANS, TRUSTED], ids=["offset", "trusted"])
def test_an_expired_message_is_not_requested_again(file: Path, sql: str) -> None:
    query = stored(file, sql + "RETAIN INTERVAL '1' MINUTE")
    push(query, [*A_MINUTE_EACH, order(5, "00:00")])
    assert query.refused() == {"expired": 1}
    assert query.offsets() == {"orders": {0: 6}}


def test_without_offset_rows_are_counted(file: Path) -> None:
    query = stored(file, NO_OFFSET)
    rows = [{"value": row["value"], "ts": row["ts"]} for row in A_MINUTE_EACH]
    query.push("orders", [*rows[:2], {"value": "x", "ts": None}])
    query.flush()
    again = stored(file, NO_OFFSET)
    assert again.offsets() == {"orders": {0: 3}}
    push(again, rows[2:])
    assert emissions(again) == [(1.0, "full", 0), (2.0, "full", 0), (3.0, "full", 0)]


def test_time_is_kept(file: Path) -> None:
    sql = MEDIANS + "EMIT LATE EVERY INTERVAL '10' SECOND"
    query = stored(file, sql)
    query.advance(now=5_000_000)
    push(query, [*A_MINUTE_EACH[:3], order(9, "01:30", 8)])
    query.flush()
    again = stored(file, sql)
    again.advance(now=9_999_999)
    assert emissions(again) == []
    again.advance(now=10_000_000)
    assert emissions(again) == [(4.5, "late", 1)]


def test_a_failed_query_still_emits_what_waits(file: Path) -> None:
    sql = STREAM + (
        "SELECT window_start, SUM(value) AS middle FROM TUMBLE(TABLE orders, DESCRIPTOR(ts),"
        " INTERVAL '1' MINUTE) GROUP BY window_start, window_end"
    )
    query = stored(file, sql)
    push(query, [order(0, "00:00"), order(1, "01:00", 2**63 - 1), order(2, "01:30", 2**63 - 1)])
    with pytest.raises(sqlwin.RunError, match="middle leaves the range of its type"):
        query.push("orders", [order(3, "02:00")])
    for call in (query.flush, query.commit, query.drain, lambda: query.timeout(0)):
        with pytest.raises(sqlwin.RunError, match="has failed and takes nothing more: middle leav"):
            call()
    assert emissions(query) == [(1, "full", 0)]


def test_a_closed_query_gives_its_results_and_takes_nothing(file: Path) -> None:
    with sqlwin.query(MEDIANS, store=file) as query:
        push(query, A_MINUTE_EACH[:2])
        query.flush()
        push(query, A_MINUTE_EACH[2:3])
    query.close()  # again
    assert emissions(query) == [(1.0, "full", 0)]
    for call in (query.flush, query.commit, query.drain, lambda: push(query, A_MINUTE_EACH[3:])):
        with pytest.raises(sqlwin.InputError, match="the query is closed"):
            call()
    with pytest.raises(sqlwin.InputError, match="the query is closed"):
        query.windows()
    again = sqlwin.query(MEDIANS, store=file)
    push(again, A_MINUTE_EACH[2:3])  # what was not flushed comes again
    assert emissions(again) == [(1.0, "full", 0)]


def test_a_query_without_a_store_is_closed_too() -> None:
    query = sqlwin.query(MEDIANS)
    query.close()
    with pytest.raises(sqlwin.InputError, match="the query is closed"):
        query.advance(now=0)
