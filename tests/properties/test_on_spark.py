"""Random queries on Spark: each a golden of its own, all of them in one streaming query.

Spark says in every step what the reference says, whose last revisions are DuckDB's batch
answer for the same rows; so Spark's are too.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings

from sqlwin.instants import SECOND, format_instant, parse_instant
from tests.golden.cells import Table, cell, difference, write
from tests.golden.hosts import REFERENCE
from tests.golden.on_spark import Spark
from tests.golden.text import START_OF_CLOCK, Block, Golden
from tests.properties.batch_answers import Asked, answers
from tests.properties.deliveries import Delivery, deliveries
from tests.properties.hosts import reference
from tests.properties.queries import questions
from tests.properties.question import Question


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_spark_says_what_the_reference_says_and_that_is_the_batch_answer() -> None:
    asked = _drawn()
    drawn = [_golden(f"case {number}", *each) for number, each in enumerate(asked)]
    found = Spark().run(drawn)
    for golden, each in zip(drawn, asked, strict=True):
        answers(each, reference)
        expected = REFERENCE.run([golden])[golden.name]
        steps = zip(golden.steps(), expected.steps, found[golden.name].steps, strict=True)
        for step, theirs, ours in steps:
            for before, after in ((theirs.emitted, ours.emitted), (theirs.errors, ours.errors)):
                different = difference(before, after)
                assert not different, (golden.query, step.kind, different)


def _drawn() -> list[Asked]:
    """The same every time: the reference is searched elsewhere, here the host is asked."""
    taken: list[Asked] = []

    @given(questions().flatmap(deliveries))
    @settings(max_examples=50, derandomize=True, phases=[Phase.generate])
    def draw(asked: Asked) -> None:
        taken.append(asked)

    draw()
    return taken


def _golden(name: str, question: Question, delivery: Delivery) -> Golden:
    query = Block("query", "", tuple(question.text.splitlines()))
    return Golden(name, {"title": name}, (query, *_steps(delivery)))


def _steps(delivery: Delivery) -> Iterator[Block]:
    """Two seconds of processing time after each batch; then the end of input."""
    for number, batch in enumerate(delivery, start=1):
        rows = tuple(tuple(map(cell, row.values())) for row in batch)
        yield Block("feed", "s", tuple(write(Table(tuple(batch[0]), rows))))
        now = parse_instant(START_OF_CLOCK) + 2 * number * SECOND
        yield Block("clock", format_instant(now), ())
    yield Block("drain", "", ())
