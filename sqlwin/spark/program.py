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
import json
import pickle
import uuid
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pyspark import cloudpickle

from sqlwin.errors import RunError, StateError
from sqlwin.plan.ir.nodes import Query, Stream
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.plan.properties.facts import fingerprint
from sqlwin.plan.resume.compatibility import with_since
from sqlwin.runtime.checkpoint.resumed import (
    Differs,
    before,
    following,
    retains_otherwise,
    since_of,
)
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
from sqlwin.spark.buckets import labels
from sqlwin.spark.folder import Folder
from sqlwin.spark.imports import batches_before
from sqlwin.spark.moved import in_place
from sqlwin.spark.progress import check_log, committed

MANIFEST, SOURCE_TEXT = "manifest.json", "query.json"
VERSION = 1
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


def as_checkpointed(
    program: Program, folder: Folder, source_text: SourceText | None = None
) -> Program:
    """The program as its checkpoint has it; RunError where that belongs to another script.

    source_text: stored in the checkpoint, for state queries.
    """
    in_place(Path(folder.path).parent / "spark")
    kept = _from_manifest(program, folder)
    if source_text is not None and folder.read(SOURCE_TEXT) != source_text.dump():
        folder.write(SOURCE_TEXT, source_text.dump())
    return kept


def _from_manifest(program: Program, folder: Folder) -> Program:
    manifest = folder.json(MANIFEST)
    batches_before(folder)  # an import that did not end is refused
    if manifest is None:
        if any((Path(folder.path).parent / "spark" / "offsets").glob("[0-9]*")):
            raise folder.missing(MANIFEST)
        write_manifest(program, folder)
        return program
    check_log(folder)
    if manifest["version"] != VERSION:
        newer = ": made by a newer sqlwin" if manifest["version"] > VERSION else ""
        raise StateError(
            f"the checkpoint {folder.path} has version {manifest['version']}, "
            f"known is {VERSION}{newer}"
        )
    known = replace(
        program,
        queries=_going_on(program, folder, manifest),
        partitions=manifest["partitions"],
        buckets=manifest["buckets"],
        spread=manifest.get("spread", False),
    )
    if manifest["print"] != program.print:
        write_manifest(known, folder)
    return known


def write_manifest(program: Program, folder: Folder) -> None:
    since = [since_of(query) for query in program.queries]
    manifest = {
        "version": VERSION,
        "print": program.print,
        "partitions": program.partitions,
        "buckets": program.buckets,
        "spread": program.spread,
        **({"since": since} if any(each is not None for each in since) else {}),
    }
    folder.write(MANIFEST, json.dumps(manifest))


def _going_on(program: Program, folder: Folder, manifest: dict[str, Any]) -> tuple[Query, ...]:
    """The queries as they go on from the checkpoint's. RunError where they cannot."""
    now, since = program.queries, manifest.get("since", [None] * len(program.queries))
    if manifest["print"] == program.print:
        return tuple(map(with_since, now, since))
    try:
        was = before(folder.read(SOURCE_TEXT), manifest["print"], now)
    except Differs as differs:
        raise RunError(
            f"the checkpoint {folder.path} belongs to another script: {differs}; "
            "give this one a checkpoint of its own, or run the script that made it"
        ) from differs
    other = any(retains_otherwise(old, new) for old, new in zip(was, now, strict=True))
    begun = any((Path(folder.path).parent / "spark" / "commits").glob("[0-9]*"))
    ours = any((Path(folder.path) / name).is_dir() for name in ("listing", "progress"))
    if other and begun and not ours:
        raise RunError("RETAIN cannot change over a checkpoint of a query over DataFrames")
    reached = committed(folder).watermarks if other else {}
    return tuple(
        following(old, new, then, reached.get(number))
        for number, (old, new, then) in enumerate(zip(was, now, since, strict=True))
    )
