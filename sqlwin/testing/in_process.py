"""Goldens in this process, one at a time; `Drive` says how a query is fed and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import InputError, QueryError, RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Script
from sqlwin.python_functions.function import UserFunction
from sqlwin.testing.cells import Table, of_arrow
from sqlwin.testing.feeds import rows
from sqlwin.testing.golden import START_OF_CLOCK, Golden, Step
from sqlwin.testing.opened import bound
from sqlwin.testing.outcome import Outcome, StepResult


class Drive(Protocol):
    """A query of a golden."""

    def explain(self) -> str: ...

    def take(self, step: Step) -> StepResult:
        """RunError where the step stops the query."""


@dataclass(frozen=True)
class InProcess:
    """functions: Python aggregates that every golden may call."""

    name: str
    drive: Callable[[Script, str], Drive]
    skip: str | None = None
    batch: bool = False
    functions: tuple[UserFunction, ...] = ()

    def run(self, goldens: Sequence[Golden]) -> dict[str, Outcome]:
        return {golden.name: self._outcome(golden) for golden in goldens}

    def _outcome(self, golden: Golden) -> Outcome:
        try:
            drive = self.drive(bound(golden, self.functions), golden.clock)
        except QueryError as refusal:
            return Outcome(refused=str(refusal))
        except InputError as mistake:
            return Outcome(mistake=str(mistake))
        run = Outcome(explain=drive.explain())
        for step in golden.steps():
            try:
                run.steps.append(drive.take(step))
            except RunError as failure:
                run.steps.append(StepResult(failed=str(failure)))
                break
            except InputError as mistake:
                return replace(run, mistake=f"{step.where}: {mistake}")
        return run


class Plain:
    """Each feed is one batch, state is in memory, and nothing is restarted.

    clock: where processing time begins. queried: whether the query has a state to query.
    """

    def __init__(
        self, query: EmbeddedQuery, clock: str = START_OF_CLOCK, queried: bool = True
    ) -> None:
        self.query, self.queried = query, queried
        self.query.advance(now=clock)

    def explain(self) -> str:
        return self.query.explain()

    def take(self, step: Step) -> StepResult:
        known = self.query.expired().num_rows
        do(self.query, step)
        return StepResult(
            of_arrow(self.query.results()),
            of_arrow(self.query.expired()[known:]),
            of_arrow(self.query.table()),
            windows=windows(self.query, step) if self.queried else None,
            deadlines=self.query.deadlines(),
        )


def do(query: EmbeddedQuery, step: Step) -> None:
    """InputError for a step that cannot be taken, as of a stream that is not read."""
    if step.kind == "feed":
        stream = str(step.stream)
        query.push(stream, rows(step, query.stream(stream)))
    elif step.kind == "watermark":
        stream, instant = step.argument.split()
        query.advance(watermark={stream: instant})
    elif step.kind == "clock":
        query.advance(now=step.argument)
    else:
        query.drain()


def windows(query: EmbeddedQuery, step: Step) -> Table | None:
    """Of the state query below a step, if there is one."""
    block = step.check("windows")
    if block is None:
        return None
    return of_arrow(query.fetch(block.argument) if block.argument else query.windows())
