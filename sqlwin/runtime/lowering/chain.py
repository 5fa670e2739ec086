"""A query as a chain of stages: each is lowered by itself, and rows go on from one to the next.

A stage whose results are rows of a derived stream tells both sides of every change. Its
watermark goes with its results, so the stage above knows in the same batch how far they
reach. Plans that are equal are one stage: what two of them read is computed once.

Invariant: a stage stands behind all it reads; the last one is the query's own.

Worked example: the greatest count of an hour's five-minute windows has two stages. The
first counts, and feeds part 0 of a stream that the second one reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from sqlwin.plan.ir.nodes import Node, Query, Stream
from sqlwin.plan.properties.facts import plans_of
from sqlwin.runtime.lowering.input_pipeline import Front
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.lowering.lowered import Lowered


class Lowering(Protocol):
    def __call__(self, query: Query, derives: bool = False) -> Lowered:
        """derives: as in `Lowered`."""


@dataclass(frozen=True)
class Feed:
    """Results go on as rows of `stream`, which the stage `to` reads, with `part` in their
    position: which of its plans they come from."""

    to: int
    stream: Stream
    part: int


@dataclass(frozen=True)
class Chain:
    stages: tuple[Lowered, ...]

    @property
    def top(self) -> Lowered:
        """The stage whose results are the query's."""
        return self.stages[-1]

    @cached_property
    def feeds(self) -> tuple[tuple[Feed, ...], ...]:
        """Of each stage; none of the last."""
        return tuple(tuple(self._fed_by(stage.query.plan)) for stage in self.stages)

    @cached_property
    def streams(self) -> dict[str, Stream]:
        """The declared ones that it reads, by name, each once, those of lower stages first."""
        read = (stream for stage in self.stages for stream in stage.streams.values())
        return {stream.name: stream for stream in read if not stream.of}

    @cached_property
    def clock(self) -> bool:
        """Whether an expression reads processing time."""
        return any(each.clock for stage in self.stages for each in stage.inputs)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The names of the static ones among `streams`."""
        return frozenset(name for stage in self.stages for name in stage.tables)

    @cached_property
    def inputs(self) -> tuple[tuple[int, int], ...]:
        """Stage and number of the input there, of each that is read from outside."""
        return tuple(
            (number, at)
            for number, stage in enumerate(self.stages)
            for at, each in enumerate(stage.inputs)
            if not each.stream.of
        )

    @cached_property
    def fronts(self) -> tuple[Front, ...]:
        """Of `inputs`."""
        return tuple(Front(self.stages[number], at=at) for number, at in self.inputs)

    def _fed_by(self, plan: Node) -> Iterator[Feed]:
        for number, stage in enumerate(self.stages):
            for stream in stage.streams.values():
                for part, below in enumerate(stream.of):
                    if below == plan:
                        yield Feed(number, stream, part)


def chain(query: Query, lowering: Lowering = lower) -> Chain:
    """QueryError for a plan that no host runs."""
    *below, top = plans_of(query.plan)
    stages = [lowering(replace(query, plan=plan, sink=None), derives=True) for plan in below]
    return Chain((*stages, lowering(replace(query, plan=top))))


def fronts_of(stage: Lowered) -> tuple[Front, ...]:
    """Of all its inputs."""
    return tuple(Front(stage, at=at) for at in range(len(stage.inputs)))
