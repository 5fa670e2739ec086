"""The manifest of a checkpoint on Spark: which script made it, and how that is cut into buckets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlwin.errors import RunError, StateError
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.resume.compatibility import with_since
from sqlwin.runtime.checkpoint.resumed import (
    Differs,
    before,
    following,
    retains_otherwise,
    since_of,
)
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.imports import batches_before
from sqlwin.spark.checkpoint.moved import in_place
from sqlwin.spark.checkpoint.progress import check_log, committed
from sqlwin.spark.stages.program import Program

MANIFEST, SOURCE_TEXT = "manifest.json", "query.json"
VERSION = 1


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
