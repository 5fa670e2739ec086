"""Goldens in this process, one at a time; `Drive` says how a query is fed and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import QueryError, RunError
from sqlwin.plan.ir.nodes import Script
from sqlwin.sql import script
from tests.golden.cells import Table, of_arrow, text_of
from tests.golden.functions import FUNCTIONS
from tests.golden.outcome import Outcome, StepResult
from tests.golden.stores import named, opened
from tests.golden.text import START_OF_CLOCK, Golden, Step


class Drive(Protocol):
    """A query of a golden, its clock at START_OF_CLOCK."""

    def explain(self) -> str: ...

    def take(self, step: Step) -> StepResult:
        """RunError where the step stops the query."""


@dataclass(frozen=True)
class InProcess:
    name: str
    drive: Callable[[Script], Drive]
    skip: str | None = None
    batch: bool = False

    def run(self, goldens: Sequence[Golden]) -> dict[str, Outcome]:
        return {golden.name: self._outcome(golden) for golden in goldens}

    def _outcome(self, golden: Golden) -> Outcome:
        try:
            drive = self.drive(_bound(golden.query, tuple(golden.params.items())))
        except QueryError as mistake:
            return Outcome(refused=str(mistake))
        run = Outcome(explain=drive.explain())
        for step in golden.steps():
            try:
                run.steps.append(drive.take(step))
            except RunError as failure:
                run.steps.append(StepResult(failed=str(failure)))
                break
        return run


@cache
def _bound(query: str, params: tuple[tuple[str, str], ...]) -> Script:
    """Once for all hosts: a script is a value, which no host can change."""
    return script(query, params=dict(params), functions=FUNCTIONS)


class Plain:
    """Each feed is one batch, state is in memory, and nothing is restarted.

    queried: whether it has a state to query; the reference has none.
    """

    def __init__(self, query: EmbeddedQuery, queried: bool = True) -> None:
        self.query, self.queried = query, queried
        self.query.advance(now=START_OF_CLOCK)

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
            deadlines=tuple(task.deadline() for task in self.query._task.tasks),
        )


def do(query: EmbeddedQuery, step: Step) -> None:
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


def windows(query: EmbeddedQuery, step: Step) -> Table | None:
    """Of the state query below a step, if there is one."""
    block = step.check("windows")
    if block is None:
        return None
    return of_arrow(query.fetch(block.argument) if block.argument else query.windows())


class Opened(Plain):
    """EXPLAIN names the stores that the tasks opened: these and no others."""

    def explain(self) -> str:
        explained = super().explain()
        assert named(explained) == opened(self.query), explained
        return explained
