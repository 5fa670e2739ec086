"""No case of CI's seeds fails; what was once found stays found; a search finds what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from tests.properties import search as searching
from tests.properties.search import CHUNK, Chunk, chunks, kept, search

AGAINST_DUCKDB = {"answers": 200, "reference": 200, "joins": 100, "joins-defined": 50}
CASES = {**AGAINST_DUCKDB, "nested": 100, "emissions": 100, "numbered": 50, "state-queries": 50}
OF_HOURS = [(name, number) for name, cases in CASES.items() for number in range(cases // CHUNK)]
FEW, SOME = 6, 25


@pytest.mark.parametrize("name", CASES)
def test_no_first_case_fails(name: str) -> None:
    failure = search((name, 0), shrink=False, cases=FEW)
    if failure is not None:
        raise AssertionError(f"{name}: of the first {FEW} cases") from failure


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_no_further_case_fails(name: str) -> None:
    failure = search((name, 0), shrink=False, cases=SOME)
    if failure is not None:
        raise AssertionError(f"{name}: of the first {SOME} cases") from failure


@pytest.mark.hours
@pytest.mark.parametrize("chunk", OF_HOURS, ids=lambda chunk: "-".join(map(str, chunk)))
def test_no_case_fails(chunk: Chunk) -> None:
    failure = search(chunk, shrink=False)  # it would take long: the line below does it
    if failure is not None:
        raise AssertionError(f"{chunk}: in seeds.txt, a search finds the least case") from failure


@pytest.mark.long
def test_seeds_that_failed_hold() -> None:
    failures = {chunk: search(chunk) for chunk in kept()}
    assert not any(failures.values()), failures


def test_new_seeds_come_after_those_kept_and_share_the_properties() -> None:
    new = list(chunks(7, len(searching.PROPERTIES) * CHUNK))[len(kept()) :]
    assert new == [(name, 7 + at) for at, name in enumerate(searching.PROPERTIES)]


def test_a_seed_finds_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def small(number: int) -> None:
        assert number < 900

    monkeypatch.setitem(searching.PROPERTIES, "fails", (small, (st.integers(0, 1000),)))
    found = [search(("fails", 3)) for _ in range(2)]
    assert isinstance(found[0], AssertionError)
    assert str(found[0]) == str(found[1])
