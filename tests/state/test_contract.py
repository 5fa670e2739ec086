"""The contract of `Store`, once for every store."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from sqlwin.errors import StateError
from sqlwin.instants import END, START
from sqlwin.state.combine import keep_all
from sqlwin.state.contract import Layout, Store
from sqlwin.state.stores.memory import MemoryStore
from tests.support.state.stores import COMBINES, LAYOUT, STORES, Row, frame, keys

ALL = (-(10**30), 10**30)


@pytest.fixture(params=list(STORES))
def store(request: pytest.FixtureRequest) -> Store:
    return STORES[request.param](COMBINES["last_written"])


def rows(found: pl.DataFrame) -> list[Row]:
    assert found.schema == LAYOUT.schema
    return found.rows()


def at(t: int, x: int = 0, seq: int | None = 0, k: str | None = "a", j: int | None = 1) -> Row:
    return (k, j, t, seq, x)


def put(store: Store, *records: Row) -> None:
    store.put(frame(records))
    store._check()


def test_an_empty_store_scans_as_an_empty_frame_of_the_layout(store: Store) -> None:
    assert rows(store.scan(*ALL)) == []
    assert rows(store.scan(0, 10, keys(("a", 1)))) == []
    assert (len(store), store.horizon) == (0, START)


def test_a_frame_of_no_rows_changes_nothing(store: Store) -> None:
    put(store)
    put(store, at(1))
    put(store)
    assert len(store) == 1


def test_ranges_begin_inclusive_and_end_exclusive(store: Store) -> None:
    put(store, *[at(t) for t in range(-12, 13)])
    for lo, hi in [(-10, 10), (-11, -10), (9, 11), (10, 10), (5, -5), (-13, 99)]:
        assert [row[2] for row in rows(store.scan(lo, hi))] == [
            t for t in range(-12, 13) if lo <= t < hi
        ]


def test_times_from_the_first_to_the_last_possible(store: Store) -> None:
    put(store, at(START), at(END - 1), at(0))
    assert [row[2] for row in rows(store.scan(*ALL))] == [START, 0, END - 1]
    assert [row[2] for row in rows(store.scan(START, END - 1))] == [START, 0]
    store.expire(END)
    assert len(store) == 0


@pytest.mark.parametrize("time", [None, START - 1, END])
def test_an_impossible_time_is_refused_and_nothing_taken(store: Store, time: int | None) -> None:
    with pytest.raises(
        StateError, match=r"^store test: t is (NULL in a record|outside \[-46116860)"
    ):
        store.put(frame([at(1), ("a", 1, time, 0, 0)]))  # type: ignore[list-item]
    assert len(store) == 0


def test_ties_go_by_the_order_columns_then_by_the_keys_and_null_is_first(store: Store) -> None:
    ordered = [
        at(1, k="z", seq=None),
        at(1, k=None, j=None),
        at(1, k=None, j=-1),
        at(1, k="a", j=None),
        at(1, k="a", j=2),
        at(1, k="b", j=1),
        at(1, k="a", seq=1),
        at(2, k=None, seq=None),
    ]
    put(store, *ordered[::-2])
    put(store, *ordered[-2::-2])
    assert rows(store.scan(*ALL)) == ordered


def test_the_last_written_wins_across_batches_and_within_one(store: Store) -> None:
    put(store, at(1, 10), at(1, 11), at(2, 20, k=None, seq=None))
    for x in range(12, 20):
        put(store, at(1, x), at(3, x))
    put(store, at(2, 21, k=None, seq=None))
    assert rows(store.scan(*ALL)) == [at(1, 19), at(2, 21, k=None, seq=None), at(3, 19)]
    assert len(store) == 3


@pytest.mark.parametrize("kind", STORES)
def test_accumulators_are_merged(kind: str) -> None:
    store = STORES[kind](COMBINES["merged"])
    for _ in range(9):
        put(store, at(1, 1), at(1, 2), at(15, 1, k=None))
        assert store.scan(*ALL).height == 2
    assert rows(store.scan(*ALL)) == [at(1, 27), at(15, 9, k=None)]


@pytest.mark.parametrize("kind", STORES)
def test_a_replay_of_unique_records_changes_nothing(kind: str) -> None:
    store = STORES[kind](COMBINES["keep_all"])
    batch = [at(t, t, seq=t) for t in range(-20, 20, 3)]
    for part in (batch, batch[3:9], batch):
        put(store, *part)
        assert rows(store.scan(*ALL)) == batch


def test_keys_match_null_with_null(store: Store) -> None:
    put(store, at(1), at(2, k=None), at(3, k=None, j=None), at(4, j=None), at(15, k="b"))
    found = store.scan(*ALL, keys((None, None), ("a", 1), ("a", 1), ("no", 1)))
    assert [row[2] for row in rows(found)] == [1, 3]
    only_k = pl.DataFrame({"k": [None, "b"]})
    assert [row[2] for row in rows(store.scan(*ALL, only_k))] == [2, 3, 15]
    assert rows(store.scan(*ALL, keys())) == []
    assert [row[2] for row in rows(store.scan(2, 15, only_k))] == [2, 3]


def test_keys_that_do_not_fit_are_refused(store: Store) -> None:
    legal = "its keys: k String, j Int32"
    with pytest.raises(StateError, match=f"^store test has no key x Int64; {legal}$"):
        store.scan(0, 1, pl.DataFrame({"x": [1]}))
    with pytest.raises(StateError, match=f"^store test has no key j Int64; {legal}$"):
        store.scan(0, 1, pl.DataFrame({"j": [1]}))
    with pytest.raises(StateError, match="keys without columns; pass None to read all"):
        store.scan(0, 1, pl.DataFrame())


def test_records_that_do_not_fit_are_refused(store: Store) -> None:
    wrong = frame([at(1)]).drop("x").with_columns(y=1, seq=pl.lit("0"))
    with pytest.raises(
        StateError,
        match=r"^records do not fit store test: x is missing \(Int64\);"
        r" y is not a column of it; seq is String, not Int64$",
    ):
        store.put(wrong)
    assert len(store) == 0


def test_columns_may_come_in_any_order(store: Store) -> None:
    store.put(frame([at(1)]).select("x", "t", "k", "seq", "j"))
    assert rows(store.scan(*ALL)) == [at(1)]


def test_expiry_hides_at_once_and_keeps_nothing_below(store: Store) -> None:
    put(store, *[at(t) for t in range(-15, 25)])
    for horizon in (-14, -10, -1, 0, 7, 9, 19, 20):
        store.expire(horizon)
        store._check()
        assert rows(store.scan(horizon - 1, horizon + 1)) == [at(horizon)]
        put(store, at(horizon - 1, 99), at(horizon, 0))
        assert [row[2] for row in rows(store.scan(*ALL))] == list(range(horizon, 25))
        assert (len(store), store.horizon) == (25 - horizon, horizon)


def test_the_horizon_never_moves_back(store: Store) -> None:
    put(store, *[at(t) for t in range(20)])
    store.expire(12)
    store.expire(3)
    put(store, at(5), at(11), at(12, 1))
    assert store.horizon == 12
    assert rows(store.scan(*ALL))[0] == at(12, 1)


def put_and_scan(store: Store, *records: Row) -> None:
    store.put(frame(list(records)))
    store.scan(*ALL)


@pytest.mark.parametrize("kind", STORES)
def test_a_combine_that_changes_the_columns_is_reported(kind: str) -> None:
    store = STORES[kind](lambda records: records.with_columns(pl.col("x").cast(pl.Float64)))
    with pytest.raises(StateError, match=r"^combine of store test returned .*Float64"):
        put_and_scan(store, at(1), at(1))


def test_a_layout_without_keys_takes_keys_without_columns() -> None:
    layout = Layout("no.keys", (("t", pl.Int64()),), (), ("t",), 1)
    store = MemoryStore(layout, keep_all(layout))
    store.put(pl.DataFrame({"t": [2, 1]}))
    assert store.scan(0, 9, pl.DataFrame()).rows() == [(1,), (2,)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "a-b"}, "a store's name is letters"),
        ({"slice_width": 0}, "need 0 < slice_width"),
        ({"order": ()}, "the first order column is the time"),
        ({"order": ("k",)}, "the first order column is the time"),
        ({"keys": ("nope",)}, "lack"),
    ],
)
def test_a_layout_that_cannot_be(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(LAYOUT, **change)  # type: ignore[arg-type]
