"""Joins: step by step what the definition says, for any rows, cuts, windows and policies."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwin.instants import START
from tests.operators.driving import records
from tests.operators.joins import Fast, Joined, Source, Step, asofs, joins, specified, steps


def agree(operator: Fast, taken: list[Step], restarts: bool) -> None:
    fast, slow = Joined(operator, restarts), Joined(specified(operator))
    source, watermark, now = Source(operator), 0, 0
    retain, columns = operator.policy.retain, [*operator.output]
    for step in taken:
        horizon = START if retain is None else fast.stores.closed - retain
        batch = source.batch(step, watermark, horizon)
        if operator.policy.retain_rows is not None:
            floors = [each.floors() for each in (fast, slow)]
            assert floors[0] == floors[1]
            batch = fast.unexpired(batch)
        watermark, now = watermark + step.watermark, now + step.clock
        found, expected = (
            records(each.step(*batch, now, watermark, step.end), columns) for each in (fast, slow)
        )
        assert found == expected
        deadlines = [each.operator.next_deadline(each.stores) for each in (fast, slow)]
        assert deadlines[0] == deadlines[1]


@given(joins(), steps(), st.booleans())
@settings(max_examples=settings.default.max_examples * 2)  # type: ignore[union-attr]
def test_each_call_of_a_window_join_emits_what_the_definition_emits(
    operator: Fast, taken: list[Step], restarts: bool
) -> None:
    agree(operator, taken, restarts)


@given(asofs(), steps(), st.booleans())
def test_each_call_of_an_asof_join_emits_what_the_definition_emits(
    operator: Fast, taken: list[Step], restarts: bool
) -> None:
    agree(operator, taken, restarts)
