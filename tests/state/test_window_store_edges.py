"""What a window store reads and takes, at every edge of retention and grace."""

from __future__ import annotations

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


READABLE = [
    (NOW - RETENTION - 1, False),
    (NOW - RETENTION, False),
    (NOW - RETENTION + 1, True),
    (NOW - GRACE, True),
    (NOW - 1, True),
    (NOW, True),
]


@pytest.mark.parametrize("interval", [None, 1, 2, 7, 1_000])
@pytest.mark.parametrize(("time", "readable"), READABLE)
def test_what_can_be_read(time: int, readable: bool, interval: int | None) -> None:
    made = filled(time, segment_interval=interval)
    want = [time] if readable else []
    assert (made.fetch("k", time) == time) is readable
    for backward in (False, True):
        for entries in (
            made.fetch("k", time, time, backward=backward),
            made.fetch_range("a", "z", time, time, backward=backward),
            made.fetch_range(None, None, time, time, backward=backward),
            made.fetch_all(time, time, backward=backward),
            (entry for entry in made.all(backward=backward) if entry.time == time),
        ):
            assert [entry.value for entry in entries] == want


WRITABLE = [
    (NOW - RETENTION, False),
    (NOW - RETENTION + 1, False),
    (NOW - GRACE - 1, False),
    (NOW - GRACE, False),
    (NOW - GRACE + 1, True),
    (NOW - 1, True),
    (NOW, True),
    (NOW + 1, True),
]


@pytest.mark.parametrize(("time", "writable"), WRITABLE)
def test_what_can_be_inserted(time: int, writable: bool) -> None:
    made = filled()
    assert made.put("new", 1, time) is writable
    assert made.expired == (not writable)
    assert made.fetch("new", time) == (1 if writable else None)
    made._check()


@pytest.mark.parametrize(("value", "left"), [(9, 9), (None, None)])
@pytest.mark.parametrize(("time", "writable"), WRITABLE)
def test_what_can_be_replaced_and_deleted(
    time: int, writable: bool, value: int | None, left: int | None
) -> None:
    made = filled(*([time] if time < NOW else []))
    before = made.fetch("k", time)
    assert made.put("k", value, time) is writable
    assert made.expired == (not writable)
    assert made.fetch("k", time) == (left if writable else before)
    made._check()


@pytest.mark.parametrize(("grace", "taken"), [(0, False), (1, True), (None, True)])
def test_grace_zero_takes_nothing_and_none_is_retention(grace: int | None, taken: bool) -> None:
    made = store(grace=grace)
    assert made.put("k", 1, NOW) is taken
    assert made.now == NOW
    if grace is None:
        assert made.put("k", 1, NOW - RETENTION + 1)
        assert not made.put("k", 1, NOW - RETENTION)


def test_a_put_that_moves_now_drops_what_it_outlived() -> None:
    made = filled(NOW - 1, NOW - 2)
    assert made.put("other", 1, NOW - 2 + RETENTION)
    assert [time for _, time, _ in found(made)] == [NOW - 1, NOW, NOW - 2 + RETENTION]
    assert list(made._segments) == [NOW - 1, NOW, NOW - 2 + RETENTION]
    made.put("other", None, NOW + RETENTION)  # a delete tells the time as well
    assert [time for _, time, _ in found(made)] == [NOW - 2 + RETENTION]


@pytest.mark.parametrize(
    ("interval", "held"),
    [(1, [81, 90, 100]), (10, [80, 81, 90, 100]), (100, [79, 80, 81, 90, 100])],
)
def test_an_interval_of_segments_is_dropped_as_a_whole(interval: int, held: list[int]) -> None:
    made = store(grace=None, segment_interval=interval)
    for time in (79, 80, 81, 90, NOW):
        made.put("k", time, time)
    # Interval 100 begins at 0: none of 0 … 99 goes before 99 is outlived.
    assert list(made._segments) == held
    assert [time for _, time, _ in found(made)] == [81, 90, 100]
    assert len(made) == 3
    made._check()
