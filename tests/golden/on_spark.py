"""Goldens on Spark: all of them in one streaming query, a step of each in every batch.

A start of a query costs seconds and a batch half of one, so the goldens share
them: each is a query of one script, with buckets of its own, and batch n holds
the n-th step of every golden that has so many. A golden that ends in a failure
takes its whole query with it, so each of those has one to itself; and chains share one,
for all that runs beside them passes through as many stateful operators as they have.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from pyspark.sql.streaming.query import StreamingQuery

from sqlwin.embedded.output_buffer import OutputBuffer
from sqlwin.errors import QueryError, RunError
from sqlwin.instants import parse_instant
from sqlwin.plan.ir.nodes import Query, Script
from sqlwin.plan.properties.facts import (
    plans_of,
    sources_of,
)
from sqlwin.runtime.lowering.chain import chain
from sqlwin.runtime.lowering.explained import explain
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.output_projection import OutputProjection
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.runtime.rows.error_stream import delivered
from sqlwin.spark.delivery import QueryBatch
from sqlwin.spark.run import patiently, start
from sqlwin.spark.session import local_session
from sqlwin.spark.step_source import Step as Fed
from sqlwin.spark.step_source import StepSource
from sqlwin.sql import script
from tests.golden.cells import of_arrow, text_of
from tests.golden.functions import FUNCTIONS
from tests.golden.outcome import Outcome, StepResult
from tests.golden.text import START_OF_CLOCK, Golden, Step


@dataclass(frozen=True)
class Spark:
    name: str = "spark"
    skip: str | None = None
    batch: bool = True

    def run(self, goldens: Sequence[Golden]) -> dict[str, Outcome]:
        outcomes, bound = {}, {}
        for golden in goldens:
            try:
                asked = script(golden.query, params=golden.params, functions=FUNCTIONS)
                for query in asked.queries:
                    chain(query)  # some are refused only when they are to run
            except QueryError as mistake:
                outcomes[golden.name] = Outcome(refused=str(mistake))
                continue
            bound[golden] = (asked.queries or asked.statements)[0]
        together = [golden for golden in bound if not _fails(golden)]
        chained = [golden for golden in together if len(plans_of(bound[golden].plan)) > 1]
        plain = [golden for golden in together if golden not in chained]
        alone = [[golden] for golden in bound if _fails(golden)]
        for group in [plain, chained, *alone]:
            if group:
                outcomes |= _driven({golden: bound[golden] for golden in group})
        return outcomes


def _fails(golden: Golden) -> bool:
    return any(step.check("fails") for step in golden.steps())


def _driven(group: dict[Golden, Query]) -> dict[str, Outcome]:
    """One streaming query over the steps of all goldens of a group."""
    asked = Script((), tuple(group.values()))
    told = [Told(lower(query)) for query in asked.queries]
    failure = None
    with tempfile.TemporaryDirectory() as folder:
        source = StepSource(str(Path(folder) / "feed"))
        steps = [list(fed(golden, query)) for golden, query in group.items()]
        for at in range(max(map(len, steps), default=0)):
            source.add({number: each[at] for number, each in enumerate(steps) if at < len(each)})
        checkpoint = Path(folder) / "checkpoint"
        base = Path(source.folder)

        def tell(batch: int, came: dict[int, QueryBatch]) -> None:
            _tell(told, came)

        def begin() -> StreamingQuery:
            return start(local_session(2), asked, checkpoint, tell, base, "steps")

        try:
            patiently(begin)
        except RunError as stopped:
            failure = StepResult(failed=str(stopped))
    return {
        golden.name: Outcome(None, explain(query), told[at].steps + ([failure] if failure else []))
        for at, (golden, query) in enumerate(group.items())
    }


def fed(golden: Golden, query: Query) -> Iterator[Fed]:
    """The golden's steps as a feed has them: rows as text, positions in the order of rows."""
    now, pushed = parse_instant(START_OF_CLOCK), Counter[str]()
    streams = {stream.name: stream for stream in sources_of(query.plan)}
    for step in golden.steps():
        if step.kind == "clock":
            now = parse_instant(step.argument)
        name = step.argument.split()[0] if step.kind in ("feed", "watermark") else None
        rows = frame_of(_dicts(step), streams[str(name)].columns) if step.kind == "feed" else None
        watermark = parse_instant(step.argument.split()[1]) if step.kind == "watermark" else None
        first = pushed[str(name)]
        yield Fed(now, rows, watermark, step.kind == "drain", first, name)
        pushed[str(name)] += 0 if rows is None else len(rows)


def _dicts(step: Step) -> list[dict[str, str | None]]:
    columns = step.rows.columns
    return [dict(zip(columns, map(text_of, row), strict=True)) for row in step.rows.rows]


@dataclass
class Told:
    """What a golden's query said, step by step."""

    query: Lowered
    steps: list[StepResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.board = OutputBuffer(OutputProjection(self.query).nothing())

    def add(self, results: pl.DataFrame, errors: pl.DataFrame) -> None:
        self.board.add(results)
        tables = (results, errors, self.board.last())
        self.steps.append(StepResult(*(of_arrow(table.to_arrow()) for table in tables)))


def _tell(told: list[Told], came: dict[int, QueryBatch]) -> None:
    for number, what in came.items():
        query = told[number].query
        told[number].add(what.results, delivered(what.errors, query.expired))
