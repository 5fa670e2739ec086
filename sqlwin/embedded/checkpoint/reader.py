"""State queries on the checkpoint of an embedded query, as of its last commit.

It is either the `store` of `sqlwin.query`, or the file that `sqlwin run --engine
embedded --checkpoint DIR` keeps for each query. A state query reads in one
transaction, so it sees exactly one commit and blocks no writer.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from sqlwin.embedded.checkpoint.durable_store import TABLES
from sqlwin.embedded.checkpoint.folder import file_of
from sqlwin.embedded.checkpoint.query_position import POSITION, SOURCE_TEXT
from sqlwin.embedded.run_progress import PROGRESS, RunProgress
from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.resume.compatibility import with_since
from sqlwin.python_functions.function import UserFunction
from sqlwin.runtime.checkpoint.export_file import EXPORT
from sqlwin.runtime.checkpoint.snapshot import Bucket, Snapshot, bound_again
from sqlwin.runtime.checkpoint.status import Line, file_lines, position_lines, watermark_lines
from sqlwin.runtime.checkpoint.task_state import METADATA
from sqlwin.runtime.lowering.chain import chain
from sqlwin.runtime.lowering.lower import lower
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.blobs.checksums import Checksums
from sqlwin.state.blobs.commits import Commits
from sqlwin.state.blobs.sqlite_file import check_kind, has_ledger, translated

TABLE = "blobs"


def is_checkpoint(path: Path) -> bool:
    """Whether this host has written there."""
    return path.is_file() or file_of(path, 0).is_file()


def state(
    path: Path, query: int = 0, batch: int | None = None, functions: Sequence[UserFunction] = ()
) -> Snapshot:
    """What can be asked of the state at a path, see `Snapshot`.

    query: which of a script's. batch: InputError for another than the last, for no other
    is kept. functions: aggregates in Python that the query calls.
    """
    file = _File(path if path.is_file() else file_of(path, query))
    known = file.read((METADATA, POSITION, PROGRESS, SOURCE_TEXT), ())
    if METADATA not in known:
        raise InputError(f"{path} has no committed state yet")
    at = json.loads(known.get(POSITION, known.get(PROGRESS, b"{}")))
    if batch is not None and batch != at.get("batch"):
        kept = f"batch {at['batch']}" if "batch" in at else "the last commit, which has no number"
        raise InputError(f"batch {batch} is not kept: this host keeps {kept} only")
    text = known.get(SOURCE_TEXT)
    bound = bound_again(None if text is None else text.decode(), at["plan"], functions)
    return Snapshot(lower(with_since(bound.queries[query], at.get("since"))), file.buckets)


def status(path: Path, query: int = 0) -> list[Line]:
    """Batch, watermarks, input positions, sizes and versions as of the last commit."""
    file = _File(path if path.is_file() else file_of(path, query))
    known = file.read((METADATA, POSITION, PROGRESS, SOURCE_TEXT), ())
    if METADATA not in known:
        raise InputError(f"{path} has no committed state yet")
    at = json.loads(known.get(POSITION, known.get(PROGRESS, b"{}")))
    text = known.get(SOURCE_TEXT)
    stages = chain(bound_again(None if text is None else text.decode(), at["plan"]).queries[query])
    names = [f"stage{number}/{METADATA}" for number in range(len(stages.stages) - 1)]
    below = file.read(names, ())
    headers = [json.loads(data) for data in (*below.values(), known[METADATA])]
    lines: list[Line] = [("engine", "", "embedded")]
    lines += [("batch", "", str(at["batch"]))] if "batch" in at else []
    for stage, header in zip(stages.stages, headers, strict=True):
        marks = header["watermarks"]["reached"].items()
        lines += watermark_lines({name: at for name, at in marks if name in stages.streams})
        declared = [name for name in stage.streams if name in stages.streams]
        if declared == list(stage.streams):
            lines += position_lines(stage.streams, header["offsets"])
    lines += _read(at, stages.streams, PROGRESS in known, known.get(PROGRESS, b""))
    stores = [segment for header in headers for segment in _segments(header)]
    for size in ("rows", "bytes"):
        lines.append(("state", size, str(sum(segment[size] for segment in stores))))
    return [*lines, ("version", "state", str(headers[-1]["version"]))]


def _read(
    at: dict[str, Any], streams: dict[str, Stream], runs: bool, progress: bytes
) -> list[Line]:
    """Files of a run; of a query that rows are pushed to, how many were."""
    if runs:
        found = RunProgress.load(progress, streams).streams
        return [line for name, files in found.items() for line in file_lines(streams[name], files)]
    first, *others = streams
    pushed = {first: at["pushed"], **{name: at["others"].get(name, 0) for name in others}}
    return [("input", name, f"{rows} rows") for name, rows in pushed.items()]


def _segments(header: dict[str, Any]) -> list[dict[str, int]]:
    return [segment for store in header["stores"].values() for segment in store["segments"]]


@dataclass(frozen=True)
class _File:
    """One SQLite file, of whichever of the two."""

    path: Path

    def buckets(self, stores: Collection[str], keys: pl.DataFrame | None) -> list[Bucket]:
        return [Bucket(0, DictBlobs(self.read((METADATA,), stores)))]

    def read(self, names: Collection[str], stores: Collection[str]) -> dict[str, bytes]:
        """The blobs of these names, and the segments of these stores, of one commit."""

        def wanted(name: str) -> bool:
            store, dash, _ = name.partition("-")
            return name in names or (bool(dash) and store in stores)

        if not self.path.is_file():
            raise InputError(f"there is no {self.path}")
        check_kind(self.path, "read state from")
        path = str(self.path)
        uri = f"{self.path.absolute().as_uri()}?mode=ro"
        with translated(path, "read"), closing(sqlite3.connect(uri, uri=True)) as db:
            commits = Commits(path)
            made = commits.known()
            db.execute("BEGIN")
            tables = self._tables(db)
            ledger = Checksums.read(db) if has_ledger(db, path, tables) else None
            commits.check(made, None if ledger is None else ledger.commits)
            found = {n: data for table in tables for n, data in self._found(db, table, wanted)}
            for name, data in found.items():
                if ledger is not None:
                    ledger.check(name, data)
            return found

    def _tables(self, db: sqlite3.Connection) -> list[str]:
        there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        known = [table for table in (TABLE, *TABLES) if table in there]
        if not known:
            raise InputError(f"{self.path} is no checkpoint: it is a database of something else")
        named = f"SELECT 1 FROM {TABLE} WHERE name = ?"
        if TABLE in known and db.execute(named, (EXPORT,)).fetchone():
            legal = f"sqlwin state CHECKPOINT --import {self.path}, which makes one of it"
            raise InputError(f"{self.path} is an export, not a checkpoint; legal is {legal}")
        return known

    def _found(
        self, db: sqlite3.Connection, table: str, wanted: Callable[[str], bool]
    ) -> list[tuple[str, bytes]]:
        names = [name for (name,) in db.execute(f"SELECT name FROM {table}") if wanted(name)]
        one = f"SELECT data FROM {table} WHERE name = ?"
        return [(name, db.execute(one, (name,)).fetchone()[0]) for name in names]
