"""What one Spark query runs: the stages of a script's queries, each cut into buckets.

Stages are numbered: first the queries, each standing for the stage that gives its
results, then all stages below them. A stage of level n reads the results of lower
levels, and each level is one stateful operator of Spark.

A program travels to the workers as text. Workers are kept between batches, so
each lowers a program once.

Invariant: a program's buckets never change within a checkpoint.
"""

from __future__ import annotations

import base64
import pickle
import uuid
import zlib
from dataclasses import field, replace
from functools import cached_property, lru_cache

from pyspark import cloudpickle

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.runtime.files.folder_filter import FolderFilters
from sqlwin.runtime.lowering.chain import (
    Chain,
    DownstreamInput,
    chain,
    pipelines_of,
    stages_in_order,
)
from sqlwin.runtime.lowering.input_pipeline import InputPipeline
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.schema import SEQ
from sqlwin.spark.stages.buckets import labels

SPREAD = ", by position where there is no window"
"""Of a cut in which rows that no operator takes have all buckets."""


@dataclass(frozen=True)
class Program:
    """partitions: of Spark's shuffle. buckets: of each stage, but of one whose rows all meet.

    counted: queries whose results nobody reads; they are only counted. run: unlike that of
    any other start. given: static tables that are no files of the script's, name and rows as
    Arrow; they come with the first tick. spread: whether rows that no operator takes are cut
    by their positions; if not, they have one bucket, as in checkpoints of before. measured:
    whether open windows are counted. recorded: whether rows that arrive are sent to the driver.
    """

    queries: tuple[Query, ...]
    partitions: int
    buckets: int
    counted: frozenset[int] = frozenset()
    run: str = field(default_factory=lambda: uuid.uuid4().hex, compare=False)
    given: tuple[tuple[str, bytes], ...] = ()
    spread: bool = True
    measured: bool = False
    recorded: bool = False

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        return tuple(chain(query) for query in self.queries)

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Of each stage: number of its query, place in that one's chain."""
        return stages_in_order(self.chains)

    @cached_property
    def lowered(self) -> tuple[Lowered, ...]:
        """The stages."""
        return tuple(self.chains[query].stages[at] for query, at in self.places)

    @cached_property
    def downstream(self) -> tuple[tuple[DownstreamInput, ...], ...]:
        """Of each stage; `to` is the number of a stage here."""
        number = {place: stage for stage, place in enumerate(self.places)}
        return tuple(
            tuple(replace(f, to=number[query, f.to]) for f in self.chains[query].downstream[at])
            for query, at in self.places
        )

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Of each stage: 0 for those that read nothing but declared streams."""
        known = [0] * len(self.lowered)
        for stage in sorted(range(len(known)), key=lambda stage: self.places[stage][1]):
            for reader in self.downstream[stage]:
                known[reader.to] = max(known[reader.to], known[stage] + 1)
        return tuple(known)

    def stages(self, query: int) -> list[int]:
        """Numbers of a query's stages, its own first."""
        return [stage for stage, (of, _) in enumerate(self.places) if of == query]

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """Those that are read, in the order of the queries: their numbers in a checkpoint."""
        read = (stream for each in self.chains for stream in each.streams.values())
        return tuple(dict.fromkeys(read))

    @cached_property
    def tables(self) -> frozenset[int]:
        """Numbers of the static ones among `streams`."""
        static = {each.streams[name] for each in self.chains for name in each.tables}
        return frozenset(at for at, stream in enumerate(self.streams) if stream in static)

    @cached_property
    def pipelines(self) -> tuple[tuple[InputPipeline, ...], ...]:
        """Of each stage's inputs."""
        return tuple(pipelines_of(stage) for stage in self.lowered)

    @cached_property
    def labels(self) -> tuple[tuple[int, ...], ...]:
        """For each stage the labels of its buckets."""
        return tuple(
            labels(stage, self.buckets if self.cut_by(stage) else 1, self.partitions)
            for stage in range(len(self.lowered))
        )

    def cut_by(self, stage: int, number: int = 0) -> tuple[str, ...]:
        """The columns of an input that a row's bucket is chosen by; none: there is one bucket.

        Rows that no operator takes need not meet. By its position each goes where what
        retracts it goes, and rows whose positions are counted there are equal ones.
        """
        if self.lowered[stage].operator is not None:
            return self.lowered[stage].inputs[number].keys
        return (SEQ,) if self.spread else ()

    @cached_property
    def folders(self) -> tuple[FolderFilters, ...]:
        """Of each query, which folders of partitioned sources it reads."""
        return tuple(FolderFilters.of(query.plan) for query in self.queries)

    @property
    def print(self) -> str:
        return fingerprint(*self.queries)

    @property
    def cut(self) -> str:
        """Two programs of one cut have each key in the same bucket."""
        text = f"{self.buckets} buckets on {self.partitions} shuffle partitions"
        spread = self.spread and self.buckets > 1
        return text + SPREAD * (spread and any(each.operator is None for each in self.lowered))

    def check_cut(self, known: str, by_checkpoint: bool = False) -> None:
        """RunError where a checkpoint has another cut; "" says nothing.

        by_checkpoint: whether a version that records the cut wrote the checkpoint.
        """
        if self.cut == known + SPREAD or (
            by_checkpoint and not known and self.cut.endswith(SPREAD)
        ):
            raise RunError(
                "the checkpoint has all rows of what has no window in one bucket, as versions "
                "up to 0.1 cut them; they are spread by now: give the query a new checkpoint"
            )
        if known not in ("", self.cut):
            raise RunError(
                f"the checkpoint has {known}, the session asks for {self.cut}; "
                f"SET 'buckets' and spark.sql.shuffle.partitions as they were"
            )

    def dump(self) -> str:
        """As text, for the options of a data source."""
        of_run = (self.counted, self.run, self.given, self.spread, self.measured, self.recorded)
        bare = (self.queries, self.partitions, self.buckets, *of_run)
        pickled: bytes = cloudpickle.dumps(bare)  # type: ignore[no-untyped-call]
        return base64.b64encode(zlib.compress(pickled)).decode()


@lru_cache(maxsize=8)
def load(text: str) -> Program:
    """The program of a text; the same object as long as the worker remembers it."""
    return Program(*pickle.loads(zlib.decompress(base64.b64decode(text))))
