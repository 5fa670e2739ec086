"""A query as a chain of stages: each is lowered by itself, and reads the results of others.

A stage whose results are rows of a derived stream emits both halves of every change. Its
watermark is passed on with its results, in the same batch. Equal plans are one stage, so a
subquery that is read twice is computed once.

Invariant: a stage comes after all stages it reads; the last one gives the query's results.

Worked example: the greatest count of an hour's five-minute windows has two stages. The
first counts, and its results are part 0 of the derived stream that the second one reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Node, Stream
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import join_of, plans_of, sources_of, spanned, unnests
from sqlwin.runtime.lowering.derived import derived
from sqlwin.runtime.lowering.input_pipeline import InputPipeline
from sqlwin.runtime.lowering.lower import lower
from sqlwin.runtime.lowering.lowered import Lowered


class Lowering(Protocol):
    def __call__(self, query: Query, derives: bool = False) -> Lowered:
        """derives: as in `Lowered`."""


@dataclass(frozen=True)
class DownstreamInput:
    """A stage `to` that reads the results as rows of `stream`, with `part` in their position:
    the number of the plan they come from. elements: of arrays, see `derived`."""

    to: int
    stream: Stream
    part: int
    elements: bool = False

    @property
    def marked(self) -> bool:
        """Whether it is told how far the results have come: by time, or by numbers."""
        return self.stream.ts is not None or spanned(self.stream)

    def rows(self, results: pl.DataFrame) -> pl.DataFrame:
        """The results as rows of the stream."""
        return derived(results, self.part, self.stream.change, self.stream.copies, self.elements)


@dataclass(frozen=True)
class Chain:
    stages: tuple[Lowered, ...]

    @property
    def top(self) -> Lowered:
        """The stage whose results are the query's."""
        return self.stages[-1]

    @cached_property
    def downstream(self) -> tuple[tuple[DownstreamInput, ...], ...]:
        """Of each stage; none of the last."""
        return tuple(tuple(self._readers_of(stage.query.plan)) for stage in self.stages)

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
    def lookups(self) -> dict[str, frozenset[str]]:
        """Of each of them the names of what looks it up, whose rows come after all of its own; that
        may be the table itself."""
        if not self.tables:
            return {}
        from sqlwin.plan.properties.driving import driving  # by need

        found: dict[str, set[str]] = {name: set() for name in self.tables}
        for join in (join_of(stage.query.plan) for stage in self.stages):
            if join is not None and join.static:
                left = {stream.name for stream in driving(join.left)}
                for table in sources_of(join.right):
                    found[table.name] |= left
        return {name: frozenset(left) for name, left in found.items()}

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
    def pipelines(self) -> tuple[InputPipeline, ...]:
        """Of `inputs`."""
        return tuple(InputPipeline(self.stages[number], at=at) for number, at in self.inputs)

    def _readers_of(self, plan: Node) -> Iterator[DownstreamInput]:
        for number, stage in enumerate(self.stages):
            for stream in stage.streams.values():
                for part, below in enumerate(stream.of):
                    if below == plan:
                        yield DownstreamInput(number, stream, part, unnests(plan))


def chain(query: Query, lowering: Lowering = lower) -> Chain:
    """QueryError for a plan that no host runs."""
    *below, top = plans_of(query.plan)
    stages = [lowering(replace(query, plan=plan, sink=None), derives=True) for plan in below]
    return Chain((*stages, lowering(replace(query, plan=top))))


def stages_in_order(chains: Sequence[Chain]) -> tuple[tuple[int, int], ...]:
    """All stages of a script's queries as they are numbered: number of the query, place in its
    chain. First the stage of each query that gives its results, then those below."""
    tops = [(query, len(each.stages) - 1) for query, each in enumerate(chains)]
    return (*tops, *((query, at) for query, last in tops for at in range(last)))


def pipelines_of(stage: Lowered) -> tuple[InputPipeline, ...]:
    """Of all its inputs."""
    return tuple(InputPipeline(stage, at=at) for at in range(len(stage.inputs)))
