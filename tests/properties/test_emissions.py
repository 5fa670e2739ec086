"""The fast operators say what the reference says, and when it says it."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings

from sqlwin.embedded.host import EmbeddedQuery
from sqlwin.plan.nodes import Query, Script
from sqlwin.runtime.lower import Lowered, lower
from tests.golden.cells import Table, difference, of_arrow
from tests.golden.specified import specified
from tests.properties.plans import Step, scripts, steps


@given(scripts(), steps())
@settings(max_examples=settings.default.max_examples * 6)
def test_each_step_emits_what_the_reference_emits(script: Script, taken: list[Step]) -> None:
    for step, expected, found in zip(
        taken, emissions(script, specified, taken), emissions(script, lower, taken), strict=True
    ):
        assert not difference(expected, found), (step, difference(expected, found))


def emissions(
    script: Script, lowering: Callable[[Query], Lowered], taken: list[Step]
) -> list[Table]:
    query = EmbeddedQuery(script, lowering=lowering)
    return [_after(query, step) for step in taken]


def _after(query: EmbeddedQuery, step: Step) -> Table:
    if step.rows:
        query.push("s", list(step.rows))
    if step.watermark is not None:
        query.advance(watermark={"s": step.watermark})
    if step.clock is not None:
        query.advance(now=step.clock)
    if step.drain:
        query.drain()
    query._check()
    return of_arrow(query.results())
