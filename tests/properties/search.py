"""The search for a query that answers wrongly: `python -m tests.properties.search --cases 50000`.

Cases come in chunks, each of a property and a seed, by which a failure is found again.
Seeds that failed are kept in `seeds.txt` and come first the next time; a line is taken
out by hand, when what it found has a golden. The tests search the same way.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import HypothesisProvider

from tests.properties.batch_answers import ANSWERS, NESTED, OF_REFERENCE, answers
from tests.properties.emissions import EMISSIONS, NUMBERS, same
from tests.properties.join_answers import ANSWERS as JOINS
from tests.properties.join_answers import OF_REFERENCE as OF_JOINS
from tests.properties.join_answers import joined
from tests.properties.state_queries import CASES as QUERIED
from tests.properties.state_queries import state_queries

SEEDS = Path(__file__).with_name("seeds.txt")
CHUNK = 50
Property = tuple[Callable[..., None], tuple[st.SearchStrategy[Any], ...]]
PROPERTIES: dict[str, Property] = {
    "emissions": (same, EMISSIONS),
    "numbered": (same, NUMBERS),
    "answers": (answers, ANSWERS),
    "nested": (answers, NESTED),
    "reference": (answers, OF_REFERENCE),
    "state-queries": (state_queries, QUERIED),
    "joins": (joined, JOINS),
    "joins-defined": (joined, OF_JOINS),
}
Chunk = tuple[str, int]


def kept() -> list[Chunk]:
    """Property and seed of every failure that is not dealt with."""
    lines = SEEDS.read_text(encoding="utf-8").splitlines() if SEEDS.exists() else []
    entries = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [(name, int(number)) for name, number in entries]


def search(chunk: Chunk, shrink: bool = True, cases: int = CHUNK) -> Exception | None:
    """A failure among the cases of a chunk, the least one if shrunk; None where there is none."""
    name, number = chunk
    how = settings(
        max_examples=cases,
        derandomize=False,
        database=None,
        deadline=None,
        print_blob=False,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    try:
        holds, drawn = PROPERTIES[name]

        # given and settings mark the function they are put on, so it is a new one each time
        def case(values: tuple[Any, ...]) -> None:
            holds(*values)

        # it would draw constants of whatever modules are loaded, and a seed not find the same again
        with patch.object(HypothesisProvider, "_maybe_draw_constant", _no_constant):
            seed(number)(how(given(st.tuples(*drawn))(case)))()
    except Exception as failure:  # noqa: BLE001  whatever a query raises is a finding
        return failure
    return None


def _no_constant(*_: object, **__: object) -> None:
    """No mock, which would note each of the many calls."""


def chunks(first: int, cases: int) -> Iterator[Chunk]:
    """Those kept, then new ones in turn over the properties until `cases` are drawn."""
    yield from kept()
    names = list(PROPERTIES)
    for number in range(-(-cases // CHUNK)):
        yield names[number % len(names)], first + number


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Search for a query that answers wrongly.")
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args(arguments)
    known, failed, searched = set(kept()), 0, 0
    for chunk in chunks(options.seed, options.cases):
        failure = search(chunk)
        searched += CHUNK
        if searched % 1_000 == 0:
            sys.stderr.write(f"{searched} cases, up to seed {chunk[1]}\n")
        if failure is None:
            continue
        failed += 1
        notes = getattr(failure, "__notes__", [])
        sys.stdout.write("\n".join([f"{chunk[0]} {chunk[1]}: {failure!r}", *notes, ""]))
        if chunk not in known:
            with SEEDS.open("a", encoding="utf-8") as file:
                file.write(f"{chunk[0]} {chunk[1]}\n")
    sys.stdout.write(f"{searched} cases from seed {options.seed}, {failed} seeds failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
