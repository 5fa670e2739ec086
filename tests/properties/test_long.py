"""What the long search once found stays found; and it finds what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from tests.properties import long
from tests.properties.long import chunks, kept, search


def test_seeds_that_failed_hold() -> None:
    failures = {chunk: search(chunk) for chunk in kept()}
    assert not any(failures.values()), failures


def test_new_seeds_come_after_those_kept_and_share_the_properties() -> None:
    new = list(chunks(7, 4 * long.CHUNK))[len(kept()) :]
    assert new == [(name, 7 + at) for at, name in enumerate(long.PROPERTIES)]


def test_a_seed_finds_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def small(number: int) -> None:
        assert number < 900

    monkeypatch.setitem(long.PROPERTIES, "fails", (small, (st.integers(0, 1000),)))
    found = [search(("fails", 3)) for _ in range(2)]
    assert isinstance(found[0], AssertionError)
    assert str(found[0]) == str(found[1])
