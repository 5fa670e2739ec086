"""Joins in ROWS of rows that are numbered by event time: each call emits what is defined."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import START
from sqlwin.operators.joins.ordered.operator import OrderedJoin
from tests.support.operators.driving import records
from tests.support.operators.joins import Joined, Step, steps
from tests.support.operators.ordered_joins import Changes, crowded, ordered_joins, specified


def agree(operator: OrderedJoin, taken: list[Step], restarts: bool) -> None:
    fast, slow = Joined(operator, restarts), Joined(specified(operator))
    source, watermark, now = Changes(operator), 0, 0
    retain, columns = operator.policy.retain, [*operator.output]
    for step in taken:
        horizon = START if retain is None else fast.stores.watermark - retain
        batch = source.batch(step, watermark, horizon)
        watermark, now = watermark + step.watermark, now + step.clock
        emissions = []
        for each in (fast, slow):
            each.stores.counted = (source.numbers[0], source.numbers[1])
            emissions.append(records(each.step(*batch, now, watermark, step.end), columns))
        assert emissions[0] == emissions[1]
        deadlines = [each.operator.next_deadline(each.stores) for each in (fast, slow)]
        assert deadlines[0] == deadlines[1]


@given(ordered_joins(), crowded() | steps(), st.booleans())
def test_each_call_emits_what_the_definition_emits(
    operator: OrderedJoin, taken: list[Step], restarts: bool
) -> None:
    agree(operator, taken, restarts)
