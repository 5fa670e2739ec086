"""State queries in process: what comes, in which order, and what is refused."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import sqlwin
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import Incomplete, InputError, QueryError, RunError
from sqlwin.instants import END, START
from tests.support.embedded.orders import A_MINUTE_EACH, MEDIANS, push, stored, without

STREAM = """
CREATE STREAM orders (
  id BIGINT, product STRING, price DECIMAL(10, 2), ts TIMESTAMP,
  WATERMARK FOR ts AS ts, OFFSET id);
"""
MINUTES = """
SELECT product AS p, SUM(price) AS total, MEDIAN(price) AS middle
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
RETAIN INTERVAL '2' MINUTE
"""
THREES = """
SELECT product, COUNT(*) AS n FROM orders
OVER (PARTITION BY product ROWS 3 PRECEDING ADVANCE BY 3 ROWS) GROUP BY product
"""
LAST_THREE = (
    "SELECT product, SUM(id) AS s FROM orders OVER (PARTITION BY product ROWS {} PRECEDING)"
)


def order(id_: int, at: str, product: str | None = "tea", price: str = "1.50") -> dict[str, Any]:
    return {"id": id_, "product": product, "price": price, "ts": f"2024-01-01T09:{at}Z"}


ORDERS = [
    order(1, "00:10"),
    order(2, "00:20", price="2.50"),
    order(3, "01:00", None),
    order(4, "02:30"),
    order(5, "02:40", "milk"),
]


def query(sql: str = MINUTES, rows: list[dict[str, Any]] = ORDERS) -> EmbeddedQuery:
    made = sqlwin.query(STREAM + sql)
    made.push("orders", rows)
    return made


def minutes(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    """(minute, columns) of each window."""
    return [
        (row["window_start"].minute, *(row[column] for column in columns))
        for row in table.to_pylist()
    ]


def test_windows_of_a_key_with_what_the_state_knows() -> None:
    found = query().fetch("tea")
    assert found.column_names == [
        *("p", "window_start", "window_end", "total", "middle", "state", "revision"),
        *("first_offset", "last_offset", "rows", "row_key"),
    ]
    known = ("state", "revision", "first_offset", "last_offset", "rows")
    assert minutes(found, *known) == [(0, "full", 0, 1, 2, 2), (2, "open", None, 4, 4, 1)]
    assert [float(total) for total in found["total"].to_pylist()] == [4.0, 1.5]
    assert found["row_key"][0].as_py() == '["tea","2024-01-01T09:00:00Z","2024-01-01T09:01:00Z"]'


def test_a_key_may_be_a_dict_a_tuple_or_a_value_and_null() -> None:
    q = query()
    for key in ("tea", ("tea",), ["tea"], {"p": "tea"}):
        assert minutes(q.fetch(key)) == [(0,), (2,)]
    assert minutes(q.fetch(None)) == minutes(q.fetch({"p": None})) == [(1,)]
    assert minutes(q.fetch("gin")) == []


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ({"product": "tea"}, r"\{'product': 'tea'\} is no key of this query: legal .* p STRING"),
        (("tea", 1), "legal is a value for p STRING"),
        (7, "7 is no key: its p is a STRING, not 7"),
    ],
)
def test_a_key_of_other_columns_or_types(key: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        query().fetch(key)


def test_keys_of_every_type_are_as_they_are_pushed() -> None:
    keys = "price, ts, id > 2 AS late"
    q = query(
        f"SELECT {keys}, COUNT(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), "
        f"INTERVAL '1' MINUTE) GROUP BY price, ts, id > 2, window_start, window_end"
    )
    at = datetime(2024, 1, 1, 9, 2, 30, tzinfo=timezone.utc)
    for price, ts in (("1.5", "2024-01-01T09:02:30Z"), (1.5, at)):
        assert q.fetch({"price": price, "ts": ts, "late": True})["n"].to_pylist() == [1]
    with pytest.raises(InputError, match="its late is a BOOLEAN, not 1"):
        q.fetch((1.5, at, 1))
    with pytest.raises(InputError, match="its ts is 'noon', not a TIMESTAMP"):
        q.fetch((1.5, "noon", True))


def test_windows_that_cover_a_range() -> None:
    q = query()
    at = "2024-01-01T09:{}:00Z".format
    assert minutes(q.windows(), "p") == [(0, "tea"), (1, None), (2, "milk"), (2, "tea")]
    assert minutes(q.windows(at("01"), at("02"))) == [(1,), (2,), (2,)]  # both ends are included
    assert minutes(q.windows(at("00"), "2024-01-01T09:00:59Z")) == [(0,)]
    assert minutes(q.windows(end=at("01"), key="tea")) == [(0,)]
    assert minutes(q.windows(at("02"), at("00"))) == []
    within = [f"2024-01-01T09:00:{second}Z" for second in (40, 10)]
    assert minutes(q.windows(*within)) == []  # no instant, though both are of one window
    with pytest.raises(InputError, match="not an ISO 8601 instant"):
        q.windows("soon")


def test_what_is_retired_is_not_found() -> None:
    q = query(MINUTES.replace("TUMBLE", "HOP").replace("MINUTE)", "MINUTE, INTERVAL '2' MINUTE)"))
    q.advance(watermark={"orders": "2024-01-01T09:04:30Z"})  # 9:02:30 less a retention of 2
    assert minutes(q.windows(), "p") == [
        *((1, None), (1, "milk"), (1, "tea"), (2, "milk"), (2, "tea"))
    ]


def test_messages_are_there_where_an_aggregate_needs_them() -> None:
    q = query()
    at = "2024-01-01T09:{}Z".format
    ids = lambda *given, **named: q.messages(*given, **named)["offset"].to_pylist()  # noqa: E731
    assert q.messages().column_names == ["p", "price", "event_time", "partition", "offset"]
    assert ids(key="tea") == [1, 2, 4]
    assert ids(at("00:20"), 2, at("02:30"), 4) == [2, 3, 4]
    assert ids(at("00:20"), 3, at("02:30"), 3) == [3]
    assert ids(end_time=at("01:00")) == [1, 2, 3]
    q.push("orders", [order(2**63 - 1, "02:50")])
    assert ids(at("02:40"), None, at("02:50")) == [5, 2**63 - 1]
    with pytest.raises(InputError, match="an offset is an integer, not '2'"):
        ids(start_offset="2")
    with pytest.raises(QueryError, match="join_keys are of joins"):
        ids(join_keys="tea")


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (MINUTES.replace("MEDIAN", "AVG"), "no messages: total, middle is kept as partial results"),
        (THREES, "no messages: n is kept as partial results"),
        ("SELECT product FROM orders", "has no window, so it keeps nothing"),
    ],
)
def test_messages_that_are_not_kept(sql: str, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        query(sql).messages()


def test_windows_in_messages_are_queried_by_numbers() -> None:
    q = query(THREES)
    known = [(r["product"], r["window_start"], r["n"], r["state"]) for r in q.windows().to_pylist()]
    assert known == [(None, 1, 1, "open"), ("milk", 1, 1, "open"), ("tea", 1, 3, "full")]
    assert q.windows(4).num_rows == 0
    q.push("orders", [order(6, "03:00")])
    assert q.windows(4)["first_offset"].to_pylist() == [6]
    with pytest.raises(InputError, match=r"measured in messages: '2024.*' is no message number"):
        q.windows("2024-01-01T09:00:00Z")


def test_a_sliding_window_of_messages_keeps_messages_alone() -> None:
    q = query(LAST_THREE.format(3))
    assert q.messages(key="tea")["offset"].to_pylist() == [2, 4]
    assert q.messages(start_offset=3, end_offset=4)["offset"].to_pylist() == [3, 4]
    with pytest.raises(InputError, match="ask by offsets alone"):
        q.messages("2024-01-01T09:00:00Z")
    with pytest.raises(QueryError, match="each is emitted full with its message"):
        q.windows()


def test_of_all_messages_there_is_one_window() -> None:
    q = query(LAST_THREE.format("UNBOUNDED"))
    assert q.fetch("tea").to_pylist() == [
        {"product": "tea", "window_start": 1, "window_end": 4, "s": 7, "state": "full"}
    ]


def test_rows_of_over_are_found_by_their_instant() -> None:
    q = query("SELECT id, COUNT(*) OVER (PARTITION BY product ORDER BY ts ROWS 1 PRECEDING) AS n "
              "FROM orders RETAIN INTERVAL '1' HOUR")  # fmt: skip
    found = q.windows("2024-01-01T09:00:20Z", "2024-01-01T09:02:30Z")
    known = [tuple(row.values()) for row in found.select(["id", "n", "state"]).to_pylist()]
    assert known == [(2, 2, "full"), (3, 1, "full"), (4, 2, "full")]
    assert q.fetch("milk").select(["id", "state"]).to_pylist() == [{"id": 5, "state": "open"}]
    assert q.messages(key="tea")["offset"].to_pylist() == [1, 2, 4]


def test_a_top_n_is_found_with_its_places() -> None:
    q = query("SELECT * FROM (SELECT product, id, ROW_NUMBER() OVER (PARTITION BY product "
              "ORDER BY price DESC) AS place FROM orders) WHERE place <= 2")  # fmt: skip
    assert q.fetch("tea").select(["id", "place"]).to_pylist() == [
        {"id": 2, "place": 1},
        {"id": 1, "place": 2},
    ]


def test_what_having_filters_out_is_found_with_a_mark() -> None:
    q = query(MINUTES.replace("RETAIN", "HAVING COUNT(*) > 1 RETAIN"))
    assert minutes(q.fetch("tea"), "passes") == [(0, True), (2, False)]


def test_names_of_the_query_come_first() -> None:
    q = query(MINUTES.replace("MEDIAN(price) AS middle", "COUNT(*) AS state"))
    assert q.fetch("tea").select(["state", "state_"]).to_pylist() == [
        {"state": 2, "state_": "full"},
        {"state": 1, "state_": "open"},
    ]


def test_a_query_without_keys() -> None:
    q = query("SELECT COUNT(*) AS n FROM orders")
    assert q.windows("2030-01-01T00:00:00Z")["n"].to_pylist() == [5]  # the whole stream
    with pytest.raises(InputError, match=r"has no keys: ask windows\(start, end\)"):
        q.fetch("tea")


@pytest.mark.parametrize("durable", [False, True])
def test_state_queries_have_no_side_effects(tmp_path: Path, durable: bool) -> None:
    q = stored(tmp_path / "store") if durable else sqlwin.query(MEDIANS)
    push(q, A_MINUTE_EACH[:2])
    if durable:
        q.flush()
    push(q, A_MINUTE_EACH[2:])
    before, waiting = insides(q), q.results(clear=False)
    for _ in range(2):
        assert minutes(q.windows()) == [(3,), (4,)]
        assert q.messages()["offset"].to_pylist() == [3, 4]
    assert insides(q) == before
    assert q.results().equals(waiting)


def insides(q: EmbeddedQuery) -> list[Any]:
    stores = q._task.top.stores
    held = [pl.Series(store.scan(START, END)).to_list() for store in stores.named.values()]
    return [held, stores.watermark, stores.pending, stores.last_input, q.offsets(), q._position]


def test_lost_messages_are_missed(tmp_path: Path) -> None:
    q = stored(tmp_path / "store")
    push(q, A_MINUTE_EACH)
    q.flush()
    without(tmp_path / "store")
    again = stored(tmp_path / "store")
    for ask in (again.windows, again.messages):
        with pytest.raises(Incomplete, match="replay from position 3"):
            ask()
    push(again, A_MINUTE_EACH[3:])
    assert minutes(again.windows()) == [(3,), (4,)]


def test_a_query_that_has_failed_is_not_queried() -> None:
    big = "SELECT SUM(id) AS s FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE) "
    q = query(big + "GROUP BY window_start, window_end", [])
    with pytest.raises(RunError, match="leaves the range"):
        q.push("orders", [order(2**63 - 1, "00:10"), order(2**63 - 2, "00:20"), order(1, "02:00")])
    with pytest.raises(RunError, match="the query has failed"):
        q.windows()
