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
from dataclasses import field
from pathlib import Path

from sqlwin.embedded.output_buffer import OutputBuffer
from sqlwin.errors import InputError, QueryError, RunError
from sqlwin.instants import parse_instant
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.plan.properties.facts import plans_of, sources_of
from sqlwin.python_functions.function import UserFunction
from sqlwin.runtime.lowering.chain import chain
from sqlwin.runtime.lowering.explained import explain
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.output_projection import OutputProjection
from sqlwin.runtime.rows.conform import frame_of
from sqlwin.runtime.rows.error_stream import delivered
from sqlwin.runtime.rows.instants import micros
from sqlwin.spark.awaiting import patiently
from sqlwin.spark.run import start
from sqlwin.spark.session.local import local_session
from sqlwin.spark.sinks.delivery import QueryBatch
from sqlwin.spark.sources.step_source import Step as Fed
from sqlwin.spark.sources.step_source import StepSource
from sqlwin.testing.cells import of_arrow
from sqlwin.testing.feeds import rows
from sqlwin.testing.golden import Golden, Step
from sqlwin.testing.opened import bound
from sqlwin.testing.outcome import Outcome, StepResult


@dataclass(frozen=True)
class Spark:
    """functions: Python aggregates that every golden may call."""

    name: str = "spark"
    skip: str | None = None
    batch: bool = True
    functions: tuple[UserFunction, ...] = ()

    def run(self, goldens: Sequence[Golden]) -> dict[str, Outcome]:
        outcomes, parsed = {}, {}
        for golden in goldens:
            try:
                query = _query(bound(golden, self.functions))
                chain(query)  # some are refused only when they are to run
                for _ in fed(golden, query):
                    pass
            except QueryError as refusal:
                outcomes[golden.name] = Outcome(refused=str(refusal))
            except InputError as mistake:
                outcomes[golden.name] = Outcome(mistake=str(mistake))
            else:
                parsed[golden] = query
        together = [golden for golden in parsed if not _fails(golden)]
        chained = [golden for golden in together if len(plans_of(parsed[golden].plan)) > 1]
        plain = [golden for golden in together if golden not in chained]
        alone = [[golden] for golden in parsed if _fails(golden)]
        for group in [plain, chained, *alone]:
            if group:
                outcomes |= _apart({golden: parsed[golden] for golden in group})
        return outcomes


def _query(script: Script) -> Query:
    (statement,) = script.statements
    assert isinstance(statement, Query)
    return statement


def _fails(golden: Golden) -> bool:
    return any(step.check("fails") for step in golden.steps())


def _apart(group: dict[Golden, Query]) -> dict[str, Outcome]:
    """All together; where that stops the halves of it, down to the golden that does."""
    outcomes, stopped = _driven(group)
    if not stopped or len(group) == 1:
        return outcomes
    pairs, half = list(group.items()), len(group) // 2
    return _apart(dict(pairs[:half])) | _apart(dict(pairs[half:]))


def _driven(group: dict[Golden, Query]) -> tuple[dict[str, Outcome], bool]:
    """One streaming query over the steps of all goldens of a group; whether one stopped it."""
    script = Script((), tuple(group.values()))
    taken = [Taken(lower(query)) for query in script.queries]
    failure = None
    # a thread of the JVM may still write there
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source = StepSource(str(Path(folder) / "feed"))
        steps = [list(fed(golden, query)) for golden, query in group.items()]
        for at in range(max(map(len, steps), default=0)):
            source.add({number: each[at] for number, each in enumerate(steps) if at < len(each)})
        checkpoint = Path(folder) / "checkpoint"
        base = Path(source.folder)

        def take(batch: int, came: dict[int, QueryBatch]) -> None:
            for number, emitted in came.items():
                taken[number].add(emitted)

        try:
            patiently(lambda: start(local_session(2), script, checkpoint, take, base, "steps"))
        except RunError as stopped:
            failure = StepResult(failed=str(stopped))
    outcomes = {
        golden.name: Outcome(None, explain(query), each.steps + ([failure] if failure else []))
        for (golden, query), each in zip(group.items(), taken, strict=True)
    }
    return outcomes, failure is not None


def fed(golden: Golden, query: Query) -> Iterator[Fed]:
    """The golden's steps as a feed has them: rows as they come, positions in their order.

    InputError for a step that cannot be taken.
    """
    now, pushed = parse_instant(golden.clock), Counter[str]()
    streams = {stream.name: stream for stream in sources_of(query.plan)}
    for step in golden.steps():
        try:
            found = _fed(step, now, pushed, streams)
        except InputError as mistake:
            raise InputError(f"{step.where}: {mistake}") from None
        now = found.now
        yield found
        pushed[str(step.stream)] += 0 if found.rows is None else len(found.rows)


def _fed(step: Step, now: int, pushed: Counter[str], streams: dict[str, Stream]) -> Fed:
    name = step.stream
    if name is not None and name not in streams:
        known = " and ".join(map(repr, streams))
        raise InputError(f"no stream {name!r}; the query reads {known}")
    frame = None
    if step.kind == "feed":
        declared = streams[str(name)]
        frame = frame_of(rows(step, declared), declared.columns)
    at = micros(step.argument) if step.kind == "clock" else now
    watermark = micros(step.argument.split()[1]) if step.kind == "watermark" else None
    return Fed(at, frame, watermark, step.kind == "drain", pushed[str(name)], name)


@dataclass
class Taken:
    """What the query of a golden gave, step by step."""

    query: Lowered
    steps: list[StepResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.board = OutputBuffer(OutputProjection(self.query).nothing())

    def add(self, batch: QueryBatch) -> None:
        self.board.add(batch.results)
        errors = delivered(batch.errors, self.query.expired)
        frames = (batch.results, errors, self.board.last())
        emitted, refused, table = (of_arrow(frame.to_arrow()) for frame in frames)
        self.steps.append(StepResult(emitted, refused, table))
