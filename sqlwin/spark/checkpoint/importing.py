"""A checkpoint on Spark from an exported file, see `export_file`.

Spark writes its own state alone, so an import is a streaming query of one batch: its source gives
the blobs of each bucket, which take them as they are. From then on it is a checkpoint as others.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from sqlwin.errors import InputError
from sqlwin.plan.options.settings import run_settings
from sqlwin.plan.resume.compatibility import with_since
from sqlwin.runtime.checkpoint.export_file import (
    Exported,
    bucket,
    opened,
)
from sqlwin.runtime.checkpoint.rebuckets import rebucketed
from sqlwin.runtime.checkpoint.snapshot import bound_again
from sqlwin.runtime.checkpoint.task_state import TaskState
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.tasks.task import Task
from sqlwin.spark.awaiting import patiently
from sqlwin.spark.checkpoint.exporting import Stages
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.imports import Imports, note
from sqlwin.spark.checkpoint.lock import checkpoint_locked
from sqlwin.spark.checkpoint.manifest import SOURCE_TEXT, write_manifest
from sqlwin.spark.checkpoint.progress import After, leave, number_of
from sqlwin.spark.run import SHUFFLE, bucketed, sourced
from sqlwin.spark.session.local import configured
from sqlwin.spark.sources.listing import VERSION as LISTING
from sqlwin.spark.sources.offsets import Offset
from sqlwin.spark.sources.source import Settings
from sqlwin.spark.stages.buckets import bucket_of
from sqlwin.spark.stages.program import Program


def import_checkpoint(
    spark: SparkSession,
    file: Path,
    checkpoint: Path,
    buckets: int | None = None,
    partitions: int | None = None,
) -> None:
    """Make a checkpoint of an exported file.

    buckets, partitions: of the shuffle; None: as a new run of the script would have. InputError
    where there is something already, or queries have read one stream to different places.
    """
    if checkpoint.exists():
        raise InputError(f"{checkpoint} is there already; an import makes a new folder")
    check_cut(buckets, partitions)
    path = checkpoint.resolve()
    with opened(file) as (about, blobs):
        bound = bound_again(about.text, about.queries[0].plan)
        partitions = partitions or int(spark.conf.get(SHUFFLE) or 1)
        buckets = buckets or run_settings(bound.settings).buckets or partitions
        queries = [
            with_since(query, each.since)
            for query, each in zip(bound.queries, about.queries, strict=True)
        ]
        program = Program(tuple(queries), partitions, buckets)
        files = _positions(program, about)
        stages = [
            rebucketed(
                program.lowered[stage],
                [bucket(blobs, stage, number) for number in range(about.buckets[stage])],
                len(program.labels[stage]),
                bucket_of,
            )
            for stage in range(len(program.lowered))
        ]
    try:
        with checkpoint_locked(path):
            _make(spark, path, program, about, files, stages)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


def _positions(program: Program, about: Exported) -> list[FileProgress]:
    """Of each stream, which all queries that read it have read alike."""
    known: list[FileProgress] = []
    for stream in program.streams:
        found = [
            each.progress()[stream.name]
            for each, chain in zip(about.queries, program.chains, strict=True)
            if chain.streams.get(stream.name) == stream
        ]
        if any((each.first, each.files) != (found[0].first, found[0].files) for each in found):
            raise InputError(
                f"the queries have read {stream.name} to different places, and on Spark they read "
                "it together: run the script to the end of its input, and export again"
            )
        known.append(found[0])
    return known


def _make(
    spark: SparkSession,
    path: Path,
    program: Program,
    about: Exported,
    files: Sequence[FileProgress],
    stages: Stages,
) -> None:
    folder, batch = Folder(str(path / "sqlwin")), about.batch
    note(folder, batch, done=False)
    write_manifest(program, folder)
    folder.write(SOURCE_TEXT, about.text)
    for number, each in enumerate(files):
        saved = {"version": LISTING, **each.dump()}
        folder.write(f"listing/{number}.json", json.dumps(saved))
    reached = {str(number): each.first for number, each in enumerate(files)}
    offset = Offset(batch, about.now, reached, ends=about.ends, unread=about.unread)
    imports = Imports(folder)
    imports.write(offset, _labelled(program, stages))
    _load(spark, path, program)
    leave(folder, batch, _after(program, stages))
    imports.remove()
    note(folder, batch, done=True)


def _labelled(program: Program, stages: Stages) -> Mapping[tuple[int, int], Mapping[str, bytes]]:
    return {
        (stage, label): blobs.blobs
        for stage, buckets in enumerate(stages)
        for label, blobs in zip(program.labels[stage], buckets, strict=True)
    }


def _load(spark: SparkSession, path: Path, program: Program) -> None:
    """The batch of Spark's that puts the state into the buckets."""
    settings = Settings(program.dump(), "import", str(path / "sqlwin"), str(path))

    def run_it(frame: DataFrame, number: int) -> None:
        frame.collect()

    def begin() -> StreamingQuery:
        writer = bucketed(sourced(spark, settings), program).writeStream.foreachBatch(run_it)
        writer = writer.option("checkpointLocation", str(path / "spark"))
        return writer.trigger(availableNow=True).start()

    with configured(spark, {SHUFFLE: str(program.partitions)}):
        patiently(begin)


def _after(program: Program, stages: Stages) -> After:
    """What the last batch would have left."""
    watermarks, deadlines = dict[int, int](), list[int]()
    for stage, buckets in enumerate(stages):
        lowered = program.lowered[stage]
        for blobs in buckets:
            due = Task(lowered, blobs).deadline()
            deadlines += [] if due is None else [due]
            reached = TaskState(blobs).metadata()["watermarks"]["reached"]
            watermarks |= {
                number_of(stage, lowered.readers(name)[0]): at
                for name, at in _declared(reached.items(), lowered.streams)
            }
    return After(watermarks, min(deadlines, default=None))


def _declared(
    reached: Iterable[tuple[str, int]], streams: Mapping[str, object]
) -> Iterable[tuple[str, int]]:
    return ((name, at) for name, at in reached if not getattr(streams[name], "of", ()))


def check_cut(*counts: int | None) -> None:
    """Of buckets and partitions that somebody asks for."""
    if any(count is not None and count < 1 for count in counts):
        raise InputError("a checkpoint has 1 bucket and 1 partition at least")
