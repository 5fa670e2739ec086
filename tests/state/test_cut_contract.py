"""The contract of `Store.cut`, once for every store."""

from __future__ import annotations

import polars as pl
import pytest

from sqlwin.errors import StateError
from sqlwin.instants import END, START
from sqlwin.state.combine import keep_all
from sqlwin.state.contract import Layout, Store
from sqlwin.state.stores.memory import MemoryStore
from tests.support.state.stores import COMBINES, STORES, Row, frame, horizons, keys

ALL = (-(10**30), 10**30)


@pytest.fixture(params=list(STORES))
def store(request: pytest.FixtureRequest) -> Store:
    return STORES[request.param](COMBINES["last_written"])


def rows(found: pl.DataFrame) -> list[Row]:
    return found.rows()


def at(t: int, x: int = 0, seq: int | None = 0, k: str | None = "a", j: int | None = 1) -> Row:
    return (k, j, t, seq, x)


def put(store: Store, *records: Row) -> None:
    store.put(frame(records))
    store._check()


def test_a_cut_hides_what_agrees_and_is_below_the_horizon_of_its_key(store: Store) -> None:
    put(store, *[at(t, k=k) for t in range(-12, 13) for k in ("a", None, "b")])
    store.cut(horizons("k j", ("a", 1, 5), (None, 1, -10), ("b", None, 99)))
    store._check()
    found = rows(store.scan(*ALL))
    assert [row[2] for row in found if row[0] == "a"] == list(range(5, 13))
    assert [row[2] for row in found if row[0] is None] == list(range(-10, 13))
    assert [row[2] for row in found if row[0] == "b"] == list(range(-12, 13))
    assert rows(store.scan(4, 6, keys(("a", 1)))) == [at(5)]
    assert len(store) == len(found) == 8 + 23 + 25


def test_a_cut_by_some_of_the_keys_or_by_no_key_at_all(store: Store) -> None:
    put(store, at(1, 7), at(2, 8, j=None), at(3, 7, seq=None), at(4, 7, k="b"))
    store.cut(horizons("seq", (None, 9)))
    assert [row[2] for row in rows(store.scan(*ALL))] == [1, 2, 4]
    store.cut(horizons("x", (8, 9), (7, 2)))
    assert [row[2] for row in rows(store.scan(*ALL))] == [4]
    store.cut(horizons("k", ("b", 4)))
    assert [row[2] for row in rows(store.scan(*ALL))] == [4]
    store.cut(horizons("", (3,), (5,), (4,)))
    assert (len(store), store.horizon) == (0, 5)


def test_cuts_only_rise_and_nothing_below_is_kept(store: Store) -> None:
    put(store, *[at(t) for t in range(20)])
    store.cut(horizons("k j", ("a", 1, 3), ("a", 1, 12), ("a", 1, 4)))
    store.cut(horizons("k j", ("a", 1, 3)))
    store.cut(horizons("k j"))
    put(store, at(11, 99), at(12, 1), at(5, k="b"))
    assert [row[2] for row in rows(store.scan(*ALL))] == [5, *range(12, 20)]
    store.expire(15)
    put(store, at(14, k="b"), at(14), at(15, 2))
    assert rows(store.scan(*ALL)) == [at(15, 2), *[at(t) for t in range(16, 20)]]


def test_a_cut_reaches_as_far_as_times_do(store: Store) -> None:
    put(store, at(START), at(END - 1), at(END - 1, k="b"))
    store.cut(horizons("k", ("a", -(2**63)), ("b", 2**63 - 1)))
    assert [row[2] for row in rows(store.scan(*ALL))] == [START, END - 1]
    store.cut(horizons("k", ("a", END)))
    assert len(store) == 0


def test_cuts_that_do_not_fit_are_refused(store: Store) -> None:
    put(store, at(1))
    good = horizons("k", ("a", 9))
    for wrong, message in [
        (good.rename({"k": "y"}), "store test cannot be cut by y String; its columns: k String, j"),
        (good.with_columns(j=pl.lit("1")), "store test cannot be cut by j String"),
        (good.drop("__floor"), "store test: a cut needs __floor Int64"),
        (
            good.with_columns(pl.col("__floor").cast(pl.Int32)),
            "store test: a cut needs __floor Int64",
        ),
        (horizons("k", ("a", None)), "store test: __floor is NULL in a cut"),
    ]:
        with pytest.raises(StateError, match=f"^{message}"):
            store.cut(wrong)
    assert len(store) == 1


def test_a_store_of_rows_without_keys_is_cut_by_any_column() -> None:
    layout = Layout("rows", (("t", pl.Int64()), ("user", pl.String())), (), ("t",), 4)
    store = MemoryStore(layout, keep_all(layout))
    store.put(pl.DataFrame({"t": [1, 2, 3, 4], "user": ["a", "b", "a", None]}))
    store.cut(pl.DataFrame({"user": ["a", None], "__floor": [2, 5]}))
    assert store.scan(0, 9).rows() == [(2, "b"), (3, "a")]
