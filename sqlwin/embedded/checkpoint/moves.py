"""A checkpoint of a run in process as an exported file, and from one; see `export_file`.

The stages of each query are one bucket each. An import is made aside and then renamed, so a
checkpoint is there as a whole or not at all.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from sqlwin.embedded.batch_clock import CLOCK, BatchClock
from sqlwin.embedded.checkpoint.folder import checkpoint_locked, file_of, note
from sqlwin.embedded.checkpoint.query_position import SOURCE_TEXT
from sqlwin.embedded.run_progress import PROGRESS, RunProgress, has_ended, note_end
from sqlwin.errors import InputError, RunError
from sqlwin.plan.ir.statements import Script
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.plan.resume.compatibility import with_since
from sqlwin.runtime.checkpoint.export_file import (
    Exported,
    ExportedQuery,
    bucket,
    exporting,
    opened,
    write,
)
from sqlwin.runtime.checkpoint.rebuckets import blobs_of, rebucketed
from sqlwin.runtime.checkpoint.snapshot import bound_again
from sqlwin.runtime.checkpoint.task_state import METADATA, TaskState
from sqlwin.runtime.lowering.chain import Chain, chain, stages_in_order
from sqlwin.runtime.tasks.chain_task import stage_blobs
from sqlwin.state.blobs.blobs import DictBlobs, SqliteBlobs
from sqlwin.state.contract import Blobs


def export_checkpoint(checkpoint: Path, file: Path) -> None:
    """Write what is in a checkpoint into a new file. InputError where it has no commit yet, is of
    `sqlwin.query`, or its run was killed; RunError where it runs."""
    if checkpoint.is_file():
        raise InputError(
            f"{checkpoint} is the store of sqlwin.query, whose input positions only its program "
            "knows; an export is of a checkpoint of sqlwin run"
        )
    count = 0
    while file_of(checkpoint, count).exists():
        count += 1
    if not count:
        raise InputError(f"{checkpoint} has no committed state yet")
    with checkpoint_locked(checkpoint, count), exporting(file) as made:
        blobs = [SqliteBlobs(file_of(checkpoint, number)) for number in range(count)]
        try:
            about, stages = _read(checkpoint, blobs)
        finally:
            for each in blobs:
                each.close()
        write(made, about, stages)


def _read(
    checkpoint: Path, queries: Sequence[SqliteBlobs]
) -> tuple[Exported, list[list[DictBlobs]]]:
    """queries: also those that were removed from the script, whose files stay."""
    known = [PROGRESS in each.names() and METADATA in each.names() for each in queries]
    if not known[0]:
        raise InputError(f"{checkpoint} has no committed state yet")
    text = queries[0].get(SOURCE_TEXT).decode()
    bound = bound_again(text, json.loads(queries[0].get(PROGRESS))["plan"])
    count = len(bound.queries)
    if not all(known[:count]):
        raise InputError(f"{checkpoint} has no committed state yet of one of its queries")
    queries = queries[:count]
    if len(queries) < count or {each.get(SOURCE_TEXT).decode() for each in queries} != {text}:
        raise InputError(
            f"the queries in {checkpoint} are of different scripts; run the present one once more"
        )
    about, states, clocks = [], dict[tuple[int, int], DictBlobs](), [0]
    for number, (query, blobs) in enumerate(zip(bound.queries, queries, strict=True)):
        stages = chain(query)
        progress = RunProgress.load(blobs.get(PROGRESS), stages.streams)
        if not has_ended(blobs):
            raise InputError(
                f"{checkpoint}: its run was killed or interrupted, and sinks may have a batch that "
                "is not committed, or lack the last one; run it once more, and then export"
            )
        clocks.append(BatchClock(blobs).last)
        streams = {name: files.dump(all=False) for name, files in progress.streams.items()}
        about.append(ExportedQuery(progress.plan, progress.batch, streams, progress.since))
        for at in range(len(stages.stages)):
            states[number, at] = _stage(blobs, stages, at)
    ordered = [states[place] for place in stages_in_order(list(map(chain, bound.queries)))]
    exported = Exported(text, about, [1] * len(ordered), now=max(clocks))
    return exported, [[each] for each in ordered]


def _stage(blobs: SqliteBlobs, stages: Chain, at: int) -> DictBlobs:
    own = stage_blobs(blobs, stages, at)
    assert own is not None
    names = (METADATA, *blobs_of(TaskState(own).metadata()))
    return DictBlobs({name: own.get(name) for name in names})


def import_checkpoint(file: Path, checkpoint: Path) -> None:
    """Make a checkpoint of an exported file. InputError where there is something already."""
    if checkpoint.exists():
        raise InputError(f"{checkpoint} is there already; an import makes a new folder")
    unfinished = checkpoint.with_name(f".{checkpoint.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        with opened(file) as (about, blobs):
            bound = bound_again(about.text, about.queries[0].plan)
            with checkpoint_locked(unfinished, len(bound.queries)):
                _write(about, blobs, bound, unfinished)
                note(unfinished, len(bound.queries))
        unfinished.replace(checkpoint)
    except OSError as error:
        raise RunError(f"cannot make {checkpoint}: {error.strerror}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write(about: Exported, exported: Blobs, bound: Script, folder: Path) -> None:
    chains = [
        chain(with_since(query, each.since))
        for query, each in zip(bound.queries, about.queries, strict=True)
    ]
    places = stages_in_order(chains)
    for number, (stages, each) in enumerate(zip(chains, about.queries, strict=True)):
        plan = fingerprint(bound.queries[number])
        progress = RunProgress(plan, each.progress(), each.batch, each.since)
        blobs = SqliteBlobs(file_of(folder, number))
        try:
            with blobs.transaction():
                for at, lowered in enumerate(stages.stages):
                    stage = places.index((number, at))
                    buckets = [bucket(exported, stage, n) for n in range(about.buckets[stage])]
                    (found,) = rebucketed(lowered, buckets, 1, _first)
                    own = stage_blobs(blobs, stages, at)
                    assert own is not None
                    for name in found.names():
                        own.put(name, found.get(name))
                blobs.put(PROGRESS, progress.dump())
                blobs.put(SOURCE_TEXT, about.text.encode())
                if stages.clock:
                    blobs.put(CLOCK, json.dumps({"batch": each.batch, "now": about.now}).encode())
            note_end(blobs, each.batch)
            blobs.settle()
        finally:
            blobs.close()


def _first(rows: object, keys: object, count: int) -> list[int]:
    """Of one bucket nobody asks."""
    raise AssertionError("there is one bucket")
