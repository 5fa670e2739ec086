"""Where goldens run. A host takes goldens and tells what every step of each gave.

A host that answers at once runs one golden at a time; a `batch` host (Spark)
gets all of them together, once a session, and may drive many in one query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlwin.embedded.host import EmbeddedQuery
from sqlwin.errors import QueryError, RunError
from sqlwin.plan.explain import explain
from sqlwin.plan.nodes import Query
from sqlwin.runtime.lower import Lowered, lower
from sqlwin.sql import script
from tests.golden.cells import of_arrow, text_of
from tests.golden.on_spark import Spark
from tests.golden.outcome import Outcome, StepResult
from tests.golden.specified import specified
from tests.golden.text import START_OF_CLOCK, Golden, Step


class Host(Protocol):
    """name: as in `gap <name>:`. skip: why it does not run here. batch: takes all at once."""

    name: str
    skip: str | None
    batch: bool

    def run(self, goldens: Sequence[Golden]) -> dict[str, Outcome]:
        """Golden's name to what it gave."""


@dataclass(frozen=True)
class InProcess:
    """The embedded host, with the operators that `lowering` chooses."""

    name: str
    lowering: Callable[[Query], Lowered]
    skip: str | None = None
    batch: bool = False

    def run(self, goldens: Sequence[Golden]) -> dict[str, Outcome]:
        return {golden.name: self._outcome(golden) for golden in goldens}

    def _outcome(self, golden: Golden) -> Outcome:
        try:
            query = EmbeddedQuery(script(golden.query), explain, self.lowering)
        except QueryError as mistake:
            return Outcome(refused=str(mistake))
        query.advance(now=START_OF_CLOCK)
        run = Outcome(explain=query.explain())
        for step in golden.steps():
            run.steps.append(_result(query, step))
            if run.steps[-1].failed is not None:
                break
        return run


def _result(query: EmbeddedQuery, step: Step) -> StepResult:
    known = query.expired().num_rows
    try:
        _do(query, step)
    except RunError as failure:
        return StepResult(failed=str(failure))
    return StepResult(
        of_arrow(query.results()), of_arrow(query.expired()[known:]), of_arrow(query.table())
    )


def _do(query: EmbeddedQuery, step: Step) -> None:
    if step.kind == "feed":
        columns = step.rows.columns
        query.push(
            step.argument,
            [dict(zip(columns, map(text_of, row), strict=True)) for row in step.rows.rows],
        )
    elif step.kind == "watermark":
        stream, instant = step.argument.split()
        query.advance(watermark={stream: instant})
    elif step.kind == "clock":
        query.advance(now=step.argument)
    else:
        query.drain()


REFERENCE = InProcess("reference", specified)
HOSTS: tuple[Host, ...] = (
    REFERENCE,
    InProcess("embedded", lower),
    Spark(),
)
