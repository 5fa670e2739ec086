"""Where a query of a run goes on: at its last commit, or at the beginning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sqlwin.embedded.checkpoint.folder import file_of
from sqlwin.embedded.checkpoint.query_position import SOURCE_TEXT
from sqlwin.embedded.run_progress import PROGRESS, RunProgress
from sqlwin.errors import InputError, RunError
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.runtime.checkpoint.resumed import Differs, going_on, since_of
from sqlwin.state.blobs.blobs import SqliteBlobs
from sqlwin.state.contract import Blobs


def resumed_run(
    blobs: Blobs | None, query: Query, number: int, streams: Iterable[str], folder: Path | None
) -> tuple[RunProgress, Query]:
    """Its progress, and the query as it goes on; RunError where the state is another's.

    number: of the query in its script. folder: the checkpoint's, for the error.
    """
    plan = fingerprint(query)
    if blobs is None or PROGRESS not in blobs.names():
        return RunProgress.start(plan, streams), query
    restored = RunProgress.load(blobs.get(PROGRESS), streams)
    text = blobs.get(SOURCE_TEXT) if SOURCE_TEXT in blobs.names() else None
    try:
        going = going_on(query, number, restored.plan, restored.since, text, blobs)
    except Differs as differs:
        raise RunError(
            f"the checkpoint {folder} belongs to another script: {differs}; "
            f"give this one a directory of its own"
        ) from differs
    return replace(restored, plan=plan, since=since_of(going)), going


def blobs_of(checkpoint: Path | None, number: int) -> SqliteBlobs | None:
    if checkpoint is None:
        return None
    file = file_of(checkpoint, number)
    try:
        return SqliteBlobs(file)
    except InputError as error:
        raise RunError(str(error)) from error
