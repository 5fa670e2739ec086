"""Random queries, joins and chains on Spark: each a golden of its own, all of them in two
streaming queries.

Spark says in every step what the reference says, whose last revisions are DuckDB's batch
answer for the same rows; so Spark's are too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from sqlwin.instants import SECOND, format_instant, parse_instant
from sqlwin.testing.cells import Table, cell, write
from sqlwin.testing.difference import difference
from sqlwin.testing.golden import START_OF_CLOCK, Block, Golden
from sqlwin.testing.on_spark import Spark
from tests.golden.hosts import REFERENCE
from tests.properties.batch_answers import answers
from tests.properties.deliveries import deliveries
from tests.properties.hosts import reference
from tests.properties.join_answers import Pushes, joined, pushes
from tests.properties.queries import chained, questions, united
from tests.properties.query_join_chains import chained as joins_of_joins
from tests.properties.query_join_chains import three
from tests.properties.query_joins import questions as joins

T = TypeVar("T")
BATCHES = 6
"""At most, of each case: all share those of Spark."""
MANY = 4
"""Batches, and rows in each, so that rows find others and come late."""


@dataclass(frozen=True)
class Case:
    """holds: raises where the reference does not say what DuckDB does."""

    text: str
    pushed: Pushes
    holds: Callable[[], None]

    def golden(self, name: str) -> Golden:
        query = Block("query", "", tuple(self.text.splitlines()))
        return Golden(name, {"title": name}, (query, *_steps(self.pushed)))


@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "share", [pytest.param(3, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.hours)]
)
def test_spark_says_what_the_reference_says_and_that_is_the_batch_answer(share: int) -> None:
    """share: one case of so many."""
    cases = {f"case {number}": case for number, case in enumerate(_cases(share))}
    drawn = [case.golden(name) for name, case in cases.items()]
    found = Spark().run(drawn)
    for golden in drawn:
        cases[golden.name].holds()
        expected = REFERENCE.run([golden])[golden.name]
        steps = zip(golden.steps(), expected.steps, found[golden.name].steps, strict=True)
        for step, theirs, ours in steps:
            for before, after in ((theirs.emitted, ours.emitted), (theirs.errors, ours.errors)):
                different = difference(before, after)
                assert not different, (golden.query, step.kind, different)


def _cases(share: int) -> Iterator[Case]:
    """The same every time: the reference is searched elsewhere, here the host is asked."""
    parsed = _drawn(questions().flatmap(deliveries), 30)[::share]
    for kind, count in ((chained(), 5), (united(), 3)):
        many = kind.flatmap(lambda question: deliveries(question, MANY))
        parsed += _drawn(many, count, every=3)[::share]
    for question, delivery in parsed:
        pushed = [("s", batch) for batch in delivery]
        yield Case(question.text, pushed, partial(answers, (question, delivery), reference))
    for of_joins, count in ((joins(), 6), (three(), 3), (joins_of_joins(), 3)):
        drawn = of_joins.flatmap(lambda question: pushes(question, MANY))
        for join, pushed in _drawn(drawn, count, every=3)[::share]:
            few = pushed[:BATCHES]
            yield Case(join.text, few, partial(joined, (join, few), reference))


def _drawn(drawn: SearchStrategy[T], count: int, every: int = 1) -> list[T]:
    """every: of those that Hypothesis draws, for it varies each a little before it goes on."""
    taken: list[T] = []

    @given(drawn)
    @settings(
        max_examples=count * every,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def draw(parsed: T) -> None:
        taken.append(parsed)

    draw()
    return taken[every - 1 :: every]


def _steps(pushed: Pushes) -> Iterator[Block]:
    """Two seconds of processing time after each batch; then the end of input."""
    for number, (stream, batch) in enumerate(pushed, start=1):
        rows = tuple(tuple(map(cell, row.values())) for row in batch)
        yield Block("feed", stream, tuple(write(Table(tuple(batch[0]), rows))))
        now = parse_instant(START_OF_CLOCK) + 2 * number * SECOND
        yield Block("clock", format_instant(now), ())
    yield Block("drain", "", ())
