"""A checkpoint on Spark as an exported file, see `export_file`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from sqlwin.errors import InputError, StateError
from sqlwin.plan.resume.compatibility import with_since
from sqlwin.runtime.checkpoint.export_file import (
    Exported,
    ExportedQuery,
    exporting,
    write,
)
from sqlwin.runtime.checkpoint.rebuckets import blobs_of
from sqlwin.runtime.checkpoint.snapshot import bound_again
from sqlwin.runtime.checkpoint.task_state import METADATA, TaskState
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.imports import batches_before
from sqlwin.spark.checkpoint.lock import checkpoint_locked
from sqlwin.spark.checkpoint.manifest import MANIFEST, SOURCE_TEXT
from sqlwin.spark.checkpoint.progress import last_begun, last_committed
from sqlwin.spark.checkpoint.state_queries import blobs_of_stages
from sqlwin.spark.sources.listing import loaded
from sqlwin.spark.sources.offsets import Offset, script_offset
from sqlwin.spark.stages.program import Program
from sqlwin.state.blobs.blobs import DictBlobs

Stages = list[list[DictBlobs]]
"""Of each stage its buckets."""


def export_checkpoint(spark: SparkSession, checkpoint: Path, file: Path) -> None:
    """Write what is in a checkpoint into a new file. InputError where its input positions are of
    other sources, or a batch has begun that is not committed; RunError where it runs."""
    path = checkpoint.resolve()
    folder = Folder(str(path / "sqlwin"))
    with checkpoint_locked(path), exporting(file) as made:
        program, text = _program(checkpoint, folder)
        batch, begun = last_committed(folder), last_begun(folder)
        if not batch:
            raise InputError(f"no batch was committed yet in {checkpoint}")
        if begun != batch:
            raise InputError(
                f"{checkpoint}: batch {begun} has begun and is not committed, so sinks may have "
                "a part of it; run the script once more, without --follow, and then export"
            )
        if not (path / "sqlwin" / "listing").is_dir():
            raise InputError(
                f"{checkpoint} is of a query over DataFrames, the positions of whose sources "
                "Spark alone knows; an export is of a checkpoint of sqlwin run"
            )
        spark_number = batch - 1 - batches_before(folder)
        offset = script_offset(path / "spark" / "offsets" / str(spark_number))
        about = Exported(
            text,
            _queries(program, folder, offset, batch),
            [len(each) for each in program.labels],
            offset.now,
            offset.ends,
            offset.unread,
        )
        write(made, about, _stages(spark, path, program))


def _program(checkpoint: Path, folder: Folder) -> tuple[Program, str]:
    """As the checkpoint has it, and the stored text of its script."""
    made, text = folder.json(MANIFEST), folder.read(SOURCE_TEXT)
    if made is None:
        raise InputError(f"{checkpoint} is no checkpoint of sqlwin: it has no sqlwin/{MANIFEST}")
    bound = bound_again(text, made["print"])
    since = made.get("since", [None] * len(bound.queries))
    queries = tuple(map(with_since, bound.queries, since))
    program = Program(
        queries, made["partitions"], made["buckets"], spread=made.get("spread", False)
    )
    return program, text or ""


def _queries(program: Program, folder: Folder, offset: Offset, batch: int) -> list[ExportedQuery]:
    read = []
    for number, _ in enumerate(program.streams):
        files = FileProgress()
        found = folder.json(f"listing/{number}.json")
        if found is not None:
            files = loaded(found)
            files.read(max(files.first, offset.files.get(str(number), 0)))
        read.append(files.dump(all=False))
    bare = [replace(program, queries=(query,)).print for query in program.queries]
    since = (folder.json(MANIFEST) or {}).get("since", [None] * len(bare))
    return [
        ExportedQuery(
            bare[query],
            batch,
            {name: read[program.streams.index(each)] for name, each in known.streams.items()},
            since[query],
        )
        for query, known in enumerate(program.chains)
    ]


def _stages(spark: SparkSession, path: Path, program: Program) -> Stages:
    """What the headers of all buckets name."""
    found = blobs_of_stages(spark, path / "spark", max(program.levels))
    stages: Stages = []
    for stage, labels in enumerate(program.labels):
        stages.append([])
        for label in labels:
            blobs = DictBlobs(found.get((stage, label), {}))
            header = TaskState(blobs).metadata()
            if not header:
                raise StateError(f"the state in spark/state: bucket {label} has no header")
            names = (METADATA, *blobs_of(header))
            stages[-1].append(DictBlobs({name: blobs.get(name) for name in names}))
    return stages
