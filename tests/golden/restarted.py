"""Goldens from segments so small that few rows need many, with a commit after each step.

After every other step the query is made anew from what was written, as a process would that was
stopped between two batches; after the others it goes on, and reads what it holds and what it wrote.
What the query said so far is with whoever took it, so the table is folded here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, cycle

import polars as pl

from sqlwin.embedded.output_buffer import OutputBuffer
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.lowering.explained import explain
from sqlwin.runtime.lowering.output_projection import OutputProjection
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.testing.cells import of_arrow
from sqlwin.testing.golden import START_OF_CLOCK, Step
from sqlwin.testing.in_process import do, windows
from sqlwin.testing.outcome import StepResult

SEGMENT_ROWS = 4


def runs(parsed: Script, segment_rows: int = SEGMENT_ROWS) -> Iterator[EmbeddedQuery]:
    """The query, and with each `next` the query after a commit and a restart."""
    blobs = DictBlobs()
    for life in count():
        query = EmbeddedQuery(
            parsed, explain, blobs=blobs, token=f"life{life}", segment_rows=segment_rows
        )
        yield query
        query.commit()


class Restarted:
    def __init__(
        self,
        parsed: Script,
        clock: str = START_OF_CLOCK,
        runs: Callable[[Script], Iterator[EmbeddedQuery]] = runs,
    ) -> None:
        self.runs, self.restarts = runs(parsed), cycle((True, False))
        self.query = next(self.runs)
        self.query.advance(now=clock)
        self.board = OutputBuffer(OutputProjection(self.query._chain.top).nothing())

    def explain(self) -> str:
        return self.query.explain()

    def take(self, step: Step) -> StepResult:
        known = self.query.expired().num_rows
        do(self.query, step)
        self.query._check()
        emitted, errors = self.query.results(), self.query.expired()[known:]
        self.board.add(pl.DataFrame(pl.from_arrow(emitted)))
        if next(self.restarts):
            self.query = next(self.runs)
        else:
            self.query.commit()
        last = of_arrow(self.board.last().to_arrow())
        return StepResult(
            of_arrow(emitted), of_arrow(errors), last, windows=windows(self.query, step)
        )
