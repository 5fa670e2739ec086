"""RETENTION: a window that takes no row any more can still be queried, as it was emitted last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import sqlwin
from sqlwin.embedded.checkpoint.durable_store import DurableStore
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs

STREAM = """
CREATE STREAM orders (
  id BIGINT, product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts, OFFSET id);
"""
HOPS = """
SELECT product, SUM(value) AS total, MEDIAN(value) AS middle FROM orders
WINDOW HOPPING (SIZE 2 MINUTES, ADVANCE BY 1 MINUTE, GRACE PERIOD 1 MINUTE, RETENTION {})
GROUP BY product EMIT LATE ON UPDATE
"""
SESSIONS = """
SELECT product, COUNT(*) AS n, MAX(value) AS most
FROM orders WINDOW SESSION (10 SECONDS, GRACE PERIOD {}, RETENTION 1 DAY)
GROUP BY product EMIT LATE ON UPDATE
"""
CUMULATES = """
SELECT product, SUM(value) AS total FROM CUMULATE(TABLE orders, DESCRIPTOR(ts),
  INTERVAL '1' MINUTE, INTERVAL '3' MINUTE)
GROUP BY product, window_start, window_end
EMIT EARLY ON UPDATE LATE ON UPDATE RETAIN INTERVAL '30' SECOND RETENTION INTERVAL '1' DAY
"""
RANKED = """
SELECT product, window_start, window_end, SUM(value) AS total,
  RANK() OVER (PARTITION BY window_start, window_end ORDER BY SUM(value) DESC) AS place
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT LATE ON UPDATE RETAIN INTERVAL '30' SECOND RETENTION INTERVAL '1' DAY
"""
EVERY = (
    HOPS.format("1 DAY"),
    SESSIONS.format("0 SECONDS"),
    SESSIONS.format("20 SECONDS"),
    CUMULATES,
    RANKED,
)

NAMES = ("hop", "session", "kept session", "cumulate", "rank")
CHANGE = ("op", "emit")


def order(id_: int, second: int, product: str = "tea", value: int = 1) -> dict[str, Any]:
    at = f"2024-01-01T09:{second // 60:02}:{second % 60:02}Z"
    return {"id": id_, "product": product, "value": value, "ts": at}


def totals(query: EmbeddedQuery, key: str = "tea") -> list[tuple[Any, ...]]:
    """(minute of the end, total, middle, revision) of each window of a key."""
    found = query.fetch(key).to_pylist()
    return [(r["window_end"].minute, r["total"], r["middle"], r["revision"]) for r in found]


def test_a_closed_window_is_queried_as_it_was_when_it_closed() -> None:
    """The row of 1:50 counts in the window that ends at 3:00 and misses that of 2:00, though both
    have the pane of 1:00."""
    query = sqlwin.query(STREAM + HOPS.format("10 MINUTES"))
    query.push("orders", [order(1, 10), order(2, 70, value=2), order(3, 210)])
    query.push("orders", [order(4, 110, value=10)])
    closed = [(1, 1, 1.0, 0), (2, 3, 1.5, 0), (3, 12, 6.0, 1)]
    assert totals(query) == [*closed, (4, 1, 1.0, None), (5, 1, 1.0, None)]
    query.advance(watermark={"orders": "2024-01-01T09:10:59.999999Z"})
    assert totals(query) == [*closed, (4, 1, 1.0, 0), (5, 1, 1.0, 0)]
    query.advance(watermark={"orders": "2024-01-01T09:12:00Z"})
    assert [window[0] for window in totals(query)] == [3, 4, 5]


def test_the_first_that_retention_evicts_is_at_its_end_and_retention() -> None:
    query = sqlwin.query(STREAM + HOPS.format("10 MINUTES"))
    query.push("orders", [order(1, 10)])
    for at, ends in (("09:10:59.999999", [1, 2]), ("09:11:00", [2]), ("09:12:00", [])):
        query.advance(watermark={"orders": f"2024-01-01T{at}Z"})
        assert [window[0] for window in totals(query)] == ends


def test_a_window_under_final_is_queried_for_its_retention() -> None:
    """The grace is waited for before it is emitted; RETENTION is counted from its end all the
    same."""
    final = HOPS.format("10 MINUTES").replace("LATE ON UPDATE", "FINAL")
    query = sqlwin.query(STREAM + final)
    query.push("orders", [order(1, 10)])
    for number, (second, ends) in enumerate(((659, [1, 2]), (660, [2]), (720, []))):
        query.push("orders", [order(2 + number, second, "milk")])
        assert [window[0] for window in totals(query)] == ends


def test_a_range_of_time_finds_closed_and_open_windows() -> None:
    query = sqlwin.query(STREAM + HOPS.format("10 MINUTES"))
    query.push("orders", [order(1, 10), order(2, 70, "milk"), order(3, 500)])
    found = query.windows("2024-01-01T09:01:59Z", "2024-01-01T09:08:00Z").to_pylist()
    named = [(r["product"], r["window_end"].minute, r["state"]) for r in found]
    closed = [("milk", 2, "full"), ("tea", 2, "full"), ("milk", 3, "full")]
    assert named == [*closed, ("tea", 9, "open"), ("tea", 10, "open")]


def test_a_session_that_a_late_row_reaches_takes_the_place_of_closed_ones() -> None:
    """[0, 10) closes at 21; the row of 9 ends with what it joins at 35, which is still on time."""
    query = sqlwin.query(STREAM + SESSIONS.format("0 SECONDS"))
    query.push("orders", [order(1, 0), order(2, 19), order(3, 25, "milk")])
    assert [r["n"] for r in query.fetch("tea").to_pylist()] == [1, 1]
    query.push("orders", [order(4, 9)])
    assert [r["n"] for r in query.fetch("tea").to_pylist()] == [3]
    query.advance(watermark={"orders": "2024-01-01T10:00:00Z"})
    assert [r["n"] for r in query.fetch("tea").to_pylist()] == [3]


rows = st.lists(
    st.tuples(st.integers(0, 400), st.sampled_from(["tea", "milk"]), st.integers(-3, 9)),
    min_size=1,
    max_size=25,
)


@pytest.mark.parametrize("sql", EVERY, ids=NAMES)
@given(rows=rows, size=st.integers(1, 5))
def test_every_window_that_was_emitted_is_found(
    sql: str, rows: list[tuple[int, str, int]], size: int
) -> None:
    """With its last values, less those that were retracted: what `table` folds of the results."""
    _check_every(EmbeddedQuery(script(STREAM + sql), blobs=DictBlobs(), segment_rows=4), rows, size)


def _check_every(query: EmbeddedQuery, rows: list[tuple[int, str, int]], size: int) -> None:
    orders = [order(at, *row) for at, row in enumerate(rows)]
    for first in range(0, len(orders), size):
        query.push("orders", orders[first : first + size])
        found = query.windows().to_pylist()
        full = {r["row_key"]: r for r in found if r["revision"] is not None}
        emitted = {r["row_key"]: r for r in query.table().to_pylist()}
        assert full.keys() == emitted.keys()
        for key, row in emitted.items():
            assert {name: full[key][name] for name in row if name not in CHANGE} == {
                name: value for name, value in row.items() if name not in CHANGE
            }


@pytest.mark.parametrize("sql", EVERY, ids=NAMES)
def test_closed_windows_survive_a_restart(sql: str, tmp_path: Path) -> None:
    seconds = (0, 30, 70, 20, 200, 130, 9, 390)
    parsed, file = script(STREAM + sql), tmp_path / "state"
    whole = EmbeddedQuery(parsed)
    for number, second in enumerate(seconds):
        batch = [order(number, second, value=number)]
        whole.push("orders", batch)
        again = EmbeddedQuery(parsed, blobs=DurableStore(file), token=f"{number}", segment_rows=4)
        again.push("orders", batch)
        again.flush()
        assert again.windows().equals(whole.windows())
        again.close()


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("RETAIN 2 HOURS RETENTION 1 HOUR", "RETENTION is shorter than the RETAIN"),
        ("RETAIN 10 ROWS RETENTION 1 HOUR", "RETENTION is a time, and RETAIN n ROWS"),
    ],
)
def test_what_contradicts_it_is_refused(clauses: str, message: str) -> None:
    minutes = "SELECT COUNT(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    with pytest.raises(sqlwin.QueryError, match=message):
        sqlwin.query(f"{STREAM} {minutes} GROUP BY window_start, window_end {clauses}")
