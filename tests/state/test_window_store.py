"""KIP-428's window store: ranges, order, duplicates, iterators, refusals."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sqlwin.state.stores.window_store import InMemoryWindowStore

NOW, RETENTION, GRACE = 100, 20, 10


def store(**more: Any) -> InMemoryWindowStore:
    sizes: dict[str, Any] = {"retention": RETENTION, "window_size": 5, "grace": GRACE}
    return InMemoryWindowStore("s", **{**sizes, **more})


def filled(*times: int, **more: Any) -> InMemoryWindowStore:
    """Of each time a record of "k" whose value is the time, put while it could be; now is NOW."""
    made = store(**more)
    for time in sorted([*times, NOW]):
        assert made.put("k", time, time)
    made._check()
    return made


def found(made: InMemoryWindowStore) -> list[tuple[Any, int, Any]]:
    return [tuple(entry) for entry in made.all()]


@pytest.mark.parametrize(
    ("lo", "hi", "times"),
    [
        (90, 95, [90, 95]),
        (91, 94, []),
        (90, 94, [90]),
        (91, 95, [95]),
        (95, 90, []),
        (0, 1_000, [90, 95, 100]),
        (None, 95, [90, 95]),
        (95, None, [95, 100]),
        (None, None, [90, 95, 100]),
    ],
)
def test_bounds_of_time_are_inclusive(lo: int | None, hi: int | None, times: list[int]) -> None:
    made = filled(90, 95)
    for backward in (False, True):
        want = times[::-1] if backward else times
        assert [e.time for e in made.fetch("k", lo, hi, backward=backward)] == want
        assert [e.time for e in made.fetch_all(lo, hi, backward=backward)] == want
        assert [e.time for e in made.fetch_range("k", "k", lo, hi, backward=backward)] == want


@pytest.mark.parametrize(
    ("lo", "hi", "keys"),
    [
        ("b", "c", "bc"),
        ("b", "b", "b"),
        ("bb", "c", "c"),
        ("c", "b", ""),
        (None, "b", "ab"),
        ("c", None, "cd"),
        (None, None, "abcd"),
        ("x", "z", ""),
        ("bb", "bb", ""),
    ],
)
def test_bounds_of_keys_are_inclusive(lo: str | None, hi: str | None, keys: str) -> None:
    made = store()
    for key in "dacb":
        made.put(key, key.upper(), NOW)
    forward = made.fetch_range(lo, hi, NOW, NOW)
    assert [(e.key, e.value) for e in forward] == [(key, key.upper()) for key in keys]
    assert [e.key for e in made.fetch_range(lo, hi, NOW, NOW, backward=True)] == list(keys)[::-1]


def test_records_come_by_time_then_by_key() -> None:
    made = store()
    for key, time in [("b", 99), ("a", 100), ("c", 98), ("a", 99)]:
        made.put(key, 0, time)
    assert [e[:2] for e in made.all()] == [("c", 98), ("a", 99), ("b", 99), ("a", 100)]
    assert list(made.all(backward=True)) == list(made.all())[::-1]


def test_one_record_a_key_and_start_replaced_not_doubled() -> None:
    made = store()
    for value in (1, 2, 3):
        made.put("k", value, NOW)
    assert found(made) == [("k", NOW, 3)]
    assert len(made) == 1


def test_duplicates_are_all_kept_in_insertion_order() -> None:
    made = store(retain_duplicates=True)
    for value in (2, 1, 2):
        assert made.put("k", value, NOW)
    assert made.put("k", None, NOW)  # a delete does nothing
    assert [e.value for e in made.fetch("k", NOW, NOW)] == [2, 1, 2]
    made.put("k", 3, NOW)
    assert [e.value for e in made.fetch("k", NOW, NOW, backward=True)] == [3, 2, 1, 2]
    assert made.fetch("k", NOW) == 3
    assert len(made) == 4
    made._check()


def test_an_empty_store() -> None:
    made = store()
    assert made.fetch("k", 0) is None
    assert list(made.all()) == list(made.fetch_all(0, 9)) == list(made.fetch("k", 0, 9)) == []
    assert len(made) == made.expired == 0
    made._check()


def test_negative_times_are_as_good_as_any() -> None:
    made = store()
    assert made.put("k", 1, -50) and made.put("k", 2, -45)
    assert not made.put("k", 3, -55)
    assert found(made) == [("k", -50, 1), ("k", -45, 2)]


@pytest.mark.parametrize("backward", [False, True])
def test_iterators_survive_puts(backward: bool) -> None:
    made = filled(91, 95)
    entries = made.all(backward=backward)
    first = next(entries).time
    made.put("k", "behind", 92 if backward else 91)
    made.put("a", "here", first)
    made.put("k", "ahead", 97)
    made.put("k", None, 95)
    ahead = [(e.time, e.value) for e in entries]
    assert ahead == (
        [(97, "ahead"), (92, "behind"), (91, 91)]
        if backward
        else [
            (97, "ahead"),
            (100, 100),
        ]
    )


@pytest.mark.parametrize("backward", [False, True])
def test_iterators_survive_expiry(backward: bool) -> None:
    made = filled(91, 95)
    entries = made.all(backward=backward)
    times = [next(entries).time]
    made.put("k", 0, 95 + RETENTION)
    assert [e.time for e in made.all()] == [100, 95 + RETENTION]  # a new one is of now
    made._check()
    times += [e.time for e in entries]
    assert times == ([100, 95, 91] if backward else [91, 95, 100, 95 + RETENTION])
    made._check()


@pytest.mark.parametrize("end", ["read", "closed", "forgotten"])
def test_what_is_outlived_is_dropped_when_its_iterators_are_at_an_end(end: str) -> None:
    made = filled(91, 95)
    entries = made.all()
    next(entries)
    made.put("k", 0, 100 + RETENTION)
    assert 95 in made._segments and 91 not in made._segments  # it is past 91
    if end == "read":
        list(entries)
    elif end == "closed":
        entries.close()
        assert list(entries) == []
    del entries
    made.put("k", 1, 101 + RETENTION)
    assert sorted(made._segments) == [100 + RETENTION, 101 + RETENTION]


def test_sizes_may_be_durations() -> None:
    minute = timedelta(minutes=1)
    made = InMemoryWindowStore("s", 2 * minute, window_size=minute, grace=timedelta(seconds=1))
    assert (made.retention, made.window_size, made.grace) == (120_000_000, 60_000_000, 1_000_000)
    with pytest.raises(ValueError, match="retention cannot be negative"):
        InMemoryWindowStore("s", timedelta(microseconds=-1), window_size=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "^a window store needs a name, got ''$"),
        ({"name": None}, "^a window store needs a name, got None$"),
        ({"retention": -1}, "^window store s: retention cannot be negative, got -1$"),
        ({"window_size": -2}, "^window store s: window size cannot be negative, got -2$"),
        ({"grace": -3}, "^window store s: grace cannot be negative, got -3$"),
        ({"segment_interval": 0}, "^window store s: segment interval is at least 1, got 0$"),
        (
            {"window_size": 21},
            "^window store s: window size must not exceed retention,"
            " got window size 21 and retention 20$",
        ),
        (
            {"grace": 21},
            "^window store s: grace must not exceed retention, got grace 21 and retention 20$",
        ),
    ],
)
def test_sizes_that_cannot_be(change: dict[str, Any], message: str) -> None:
    sizes: dict[str, Any] = {"name": "s", "retention": 20, "window_size": 5, "grace": 10}
    with pytest.raises(ValueError, match=message):
        InMemoryWindowStore(**{**sizes, **change})


def test_sizes_at_their_bounds() -> None:
    assert store(window_size=RETENTION, grace=RETENTION).grace == RETENTION
    assert not store(retention=0, window_size=0, grace=0).put("k", 1, 0)


def test_keys_without_an_order_leave_the_store_as_it_was() -> None:
    made = filled()
    with pytest.raises(TypeError):
        made.put(1, 1, NOW)
    with pytest.raises(ValueError, match=r"^window store s: a key cannot be None$"):
        made.put(None, 1, NOW)
    with pytest.raises(ValueError, match="a key cannot be None"):
        made.fetch(None, NOW)
    with pytest.raises(TypeError):
        made.put({}, 1, NOW - 1)
    assert found(made) == [("k", NOW, NOW)]
    made._check()
