"""State queries on the checkpoint of a query on Spark, as of a committed batch.

Spark's `statestore` data source reads it, at any batch that is still retained, with
state stores of its own, so a running query is not disturbed. All
reads of a state query are of one batch, by default the last one committed.
Spark numbers batches from 0, as in its progress and in `commits` of the checkpoint.

A state query by key reads only the bucket of that key, if the query has buckets.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, split

from sqlwin.errors import InputError, RunError, StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.resume.compatibility import with_since
from sqlwin.python_functions.function import UserFunction
from sqlwin.runtime.checkpoint.snapshot import Bucket, Snapshot, bound_again, numbered
from sqlwin.runtime.checkpoint.status import Line, file_lines, watermark_lines
from sqlwin.runtime.checkpoint.task_state import METADATA
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.lock import checkpoint_locked
from sqlwin.spark.checkpoint.manifest import MANIFEST, SOURCE_TEXT
from sqlwin.spark.checkpoint.moved import in_place, is_lost, is_moved
from sqlwin.spark.checkpoint.progress import After, after, last_committed, number_of
from sqlwin.spark.session.local import needed
from sqlwin.spark.sources.listing import loaded
from sqlwin.spark.sources.offsets import pieces_read
from sqlwin.spark.stages.buckets import bucket_of
from sqlwin.spark.stages.program import Program
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.blobs.seal import unsealed
from sqlwin.state.blobs.sqlite_file import TO_DO

TRIES = 3
"""Times that a state query about the last batch is put, if batches pass away meanwhile."""


def is_checkpoint(path: Path) -> bool:
    """Whether this host has written there."""
    return (path / "sqlwin" / MANIFEST).is_file()


def state(
    spark: SparkSession,
    checkpoint: str | Path,
    as_of: int | None = None,
    query: int = 0,
    functions: Sequence[UserFunction] = (),
) -> Snapshot:
    """State queries on a checkpoint, see `sqlwin.spark.state`."""
    path = Path(checkpoint).resolve()
    folder = Folder(str(path / "sqlwin"))
    made: dict[str, Any] | None = folder.json(MANIFEST)
    if made is None:
        raise InputError(f"{checkpoint} is no checkpoint of sqlwin: it has no sqlwin/{MANIFEST}")
    bound = bound_again(folder.read(SOURCE_TEXT), made["print"], functions)
    since = made.get("since", [None] * len(bound.queries))
    queries = tuple(map(with_since, bound.queries, since))
    program = Program(queries, made["partitions"], made["buckets"])
    number = numbered(bound, query)
    return snapshot(
        spark,
        path / "spark",
        program.lowered[number],
        as_of,
        number,
        program.labels[number],
        max(program.levels) - program.levels[number],
    )


def status(checkpoint: Path) -> list[Line]:
    """Batch, watermarks, files that were read, cut and version, as of the last commit. It needs
    no Spark: what Spark keeps in its own state is not in it."""
    path = checkpoint.resolve()
    folder = Folder(str(path / "sqlwin"))
    made: dict[str, Any] | None = folder.json(MANIFEST)
    if made is None:
        raise InputError(f"{checkpoint} is no checkpoint of sqlwin: it has no sqlwin/{MANIFEST}")
    bound = bound_again(folder.read(SOURCE_TEXT), made["print"])
    program = Program(bound.queries, made["partitions"], made["buckets"])
    batch = _Batches(path / "spark").reached(None)
    left = (
        after(folder, last_committed(folder))
        if (path / "sqlwin" / "progress").is_dir()
        else After()
    )
    marks = {
        stream: left.watermarks[number_of(stage, lowered.readers(stream)[0])]
        for stage, lowered in enumerate(program.lowered)
        for stream in lowered.streams
        if number_of(stage, lowered.readers(stream)[0]) in left.watermarks
    }
    lines: list[Line] = [("engine", "", "spark"), ("batch", "", str(batch))]
    lines += watermark_lines(marks)
    read = pieces_read(path / "spark" / "offsets" / str(batch))
    for number, stream in enumerate(program.streams):
        found = folder.json(f"listing/{number}.json")
        if found is not None:
            files = loaded(found)
            files.read(max(files.first, read.get(str(number), 0)))
            lines += file_lines(stream, files)
    for cut in ("buckets", "partitions"):
        lines.append(("cut", cut, str(made[cut])))
    return [*lines, ("version", "checkpoint", str(made["version"]))]


def blobs_of_stages(
    spark: SparkSession, path: Path, top: int
) -> dict[tuple[int, int], dict[str, bytes]]:
    """All state of the last batch committed: blobs by name, by number of the stage and label of
    the bucket. path: of Spark's own checkpoint, which is locked. top: the highest level."""
    in_place(path)
    batch = _Batches(path).reached(None)
    found: dict[tuple[int, int], dict[str, bytes]] = {}
    for operator in range(top + 1):
        rows = _state_of(needed(spark), path, operator, batch)
        columns = ("key.query", "key.bucket", "user_map_key.name", "user_map_value.data")
        for stage, label, name, data in rows.select(*columns).collect():
            found.setdefault((stage, label), {})[name] = _unsealed(name, bytes(data))
    return found


def _unsealed(name: str, data: bytes) -> bytes:
    try:
        return unsealed(name, data)
    except StateError as error:
        raise StateError(f"the state in spark/state: {error}; {TO_DO}") from error


def _state_of(spark: SparkSession, path: Path, operator: int, batch: int) -> DataFrame:
    source = spark.read.format("statestore").option("path", str(path))
    found = source.option("stateVarName", "blobs").option("operatorId", operator)
    return found.option("batchId", batch).load()


def snapshot(
    spark: SparkSession,
    path: Path,
    query: Lowered,
    as_of: int | None = None,
    number: int = 0,
    labels: tuple[int, ...] | None = None,
    operator: int = 0,
) -> Snapshot:
    """path: of Spark's own checkpoint. labels: of the query's buckets, None if not known.

    operator: how Spark numbers that of the query's level; the highest level has 0.
    """
    batches = _Batches(path)
    batches.reached(as_of)
    _find(path)
    read = _Read(needed(spark), query, number, labels, batches, as_of, operator)
    return Snapshot(query, read)


def _find(path: Path) -> None:
    """Where the checkpoint was moved, and no run has found its state since. StateError where that
    cannot be: on a disk that is read only, say, unless Spark's files are also where they were."""
    if not is_moved(path):
        return
    try:
        with checkpoint_locked(path.parent):
            in_place(path)
    except (RunError, OSError) as failure:
        if is_lost(path):
            message = f"{path.parent} was moved, and its state is named by its old folder"
            raise StateError(f"{message}: {failure}") from failure


@dataclass(frozen=True)
class _Batches:
    """Those of which Spark has the state still; path: its part of the checkpoint."""

    path: Path

    def retained(self) -> list[int]:
        commits = (self.path / "commits").glob("[0-9]*")
        return sorted(int(file.name) for file in commits if file.name.isdigit())

    def reached(self, as_of: int | None) -> int:
        """The batch to read; InputError where it is not retained."""
        kept = self.retained()
        if not kept:
            raise InputError(f"no batch was committed yet in {self.path}")
        if as_of is None:
            return kept[-1]
        if as_of not in kept:
            raise InputError(f"batch {as_of} is not retained; there are {kept[0]} to {kept[-1]}")
        return as_of


@dataclass(frozen=True)
class _Read:
    """A `Read` of one query."""

    spark: SparkSession
    query: Lowered
    number: int
    labels: tuple[int, ...] | None
    batches: _Batches
    as_of: int | None
    operator: int

    def __call__(self, stores: Collection[str], keys: pl.DataFrame | None) -> list[Bucket]:
        for left in reversed(range(TRIES)):
            batch = self.batches.reached(self.as_of)
            try:
                return self._read(batch, stores, self._label(keys))
            except PySparkException as failure:
                if batch in self.batches.retained() or not left:
                    why = str(failure).splitlines()[0]
                    raise StateError(f"cannot read batch {batch}: {why}") from failure
        raise AssertionError("the last try returns or raises")

    def _read(self, batch: int, stores: Collection[str], label: int | None) -> list[Bucket]:
        store = split(col("user_map_key.name"), "-")[0]
        found = self._blobs(batch).where(store.isin(METADATA, *stores))
        mine = found.where(col("key.query") == self.number)
        if label is not None:
            mine = mine.where(col("key.bucket") == label)
        blobs_of: dict[int, DictBlobs] = {}
        for row in mine.select("key.bucket", "user_map_key.name", "user_map_value.data").collect():
            blobs_of.setdefault(row[0], DictBlobs()).put(row[1], unsealed(row[1], bytes(row[2])))
        return [Bucket(bucket, blobs) for bucket, blobs in sorted(blobs_of.items())]

    def _blobs(self, batch: int) -> DataFrame:
        return _state_of(self.spark, self.batches.path, self.operator, batch)

    def _label(self, keys: pl.DataFrame | None) -> int | None:
        """Of the only bucket that may hold the key; None: all may."""
        by, labels = self.query.inputs[0].keys, self.labels
        if keys is None or labels is None or not by or not set(by) <= set(keys.columns):
            return None
        return labels[int(bucket_of(keys, by, len(labels))[0])]
