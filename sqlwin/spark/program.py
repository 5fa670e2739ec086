"""What one Spark query runs: the queries of a script, and how each is cut into buckets.

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

from pyspark import cloudpickle

from sqlwin.errors import RunError
from sqlwin.plan.facts import fingerprint
from sqlwin.plan.nodes import Query, Stream
from sqlwin.plan.wording import Wording
from sqlwin.runtime.front import Front
from sqlwin.runtime.lower import Lowered, lower
from sqlwin.spark.buckets import labels
from sqlwin.spark.folder import Folder

MANIFEST, WORDING = "manifest.json", "query.json"
VERSION = 1


@dataclass(frozen=True)
class Program:
    """partitions: of Spark's shuffle. buckets: for each query with keys; others have one.

    counted: queries whose results nobody reads; they are only counted. run: unlike that of
    any other start. given: static tables that are no files of the script's, name and rows as
    Arrow; they come with the first tick.
    """

    queries: tuple[Query, ...]
    partitions: int
    buckets: int
    counted: frozenset[int] = frozenset()
    run: str = field(default_factory=lambda: uuid.uuid4().hex, compare=False)
    given: tuple[tuple[str, bytes], ...] = ()

    @cached_property
    def lowered(self) -> tuple[Lowered, ...]:
        return tuple(lower(query) for query in self.queries)

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """Those that are read, in the order of the queries: their numbers in a checkpoint."""
        read = (stream for query in self.lowered for stream in query.streams.values())
        return tuple(dict.fromkeys(read))

    @cached_property
    def tables(self) -> frozenset[int]:
        """Numbers of the static ones among `streams`."""
        static = {query.streams[name] for query in self.lowered for name in query.tables}
        return frozenset(at for at, stream in enumerate(self.streams) if stream in static)

    @cached_property
    def fronts(self) -> tuple[Front, ...]:
        """Of each query's first input; `Front.of` has the others."""
        return tuple(Front(query) for query in self.lowered)

    @cached_property
    def labels(self) -> tuple[tuple[int, ...], ...]:
        """For each query the labels of its buckets."""
        return tuple(
            labels(number, self.buckets if query.inputs[0].keys else 1, self.partitions)
            for number, query in enumerate(self.lowered)
        )

    @property
    def print(self) -> str:
        return fingerprint(*self.queries)

    @property
    def cut(self) -> str:
        """Two programs of one cut look for each key in the same bucket."""
        return f"{self.buckets} buckets on {self.partitions} shuffle partitions"

    def check_cut(self, known: str) -> None:
        """RunError where a checkpoint has another cut; "" says nothing."""
        if known not in ("", self.cut):
            raise RunError(
                f"the checkpoint has {known}, the session asks for {self.cut}; "
                f"SET 'buckets' and spark.sql.shuffle.partitions as they were"
            )

    def dump(self) -> str:
        """As text, for the options of a data source."""
        bare = (self.queries, self.partitions, self.buckets, self.counted, self.run, self.given)
        pickled: bytes = cloudpickle.dumps(bare)  # type: ignore[no-untyped-call]
        return base64.b64encode(zlib.compress(pickled)).decode()


@lru_cache(maxsize=8)
def load(text: str) -> Program:
    """The program of a text; the same object as long as the worker remembers it."""
    return Program(*pickle.loads(zlib.decompress(base64.b64decode(text))))


def settled(program: Program, folder: Folder, wording: Wording | None = None) -> Program:
    """The program as its checkpoint has it; RunError where that belongs to another script.

    wording: left in the checkpoint, for those who ask its state.
    """
    kept = _as_kept(program, folder)
    if wording is not None and folder.read(WORDING) is None:
        folder.write(WORDING, wording.dump())
    return kept


def _as_kept(program: Program, folder: Folder) -> Program:
    known = folder.read(MANIFEST)
    if known is None:
        manifest = {
            "version": VERSION,
            "print": program.print,
            "partitions": program.partitions,
            "buckets": program.buckets,
        }
        folder.write(MANIFEST, json.dumps(manifest))
        return program
    manifest = json.loads(known)
    if manifest["version"] != VERSION or manifest["print"] != program.print:
        raise RunError(
            f"the checkpoint {folder.path} belongs to another script; "
            "give this one a checkpoint of its own, or run the script that made it"
        )
    return replace(program, partitions=manifest["partitions"], buckets=manifest["buckets"])
