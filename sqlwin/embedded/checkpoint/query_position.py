"""The position of an embedded query, and what is written beside its state.

In one transaction with the stores: the position (rows read of each stream, processing time),
outputs that were not sent yet, and the query's source text.

>>> from sqlwin.state.blobs.blobs import DictBlobs
>>> blobs = DictBlobs()
>>> QueryPosition("plan").moved(3).write(blobs)
>>> QueryPosition.read(blobs, "plan").pushed
3
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, field, replace

import polars as pl

from sqlwin.errors import InputError, RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.runtime.checkpoint.resumed import Differs, going_on, since_of
from sqlwin.runtime.checkpoint.versions import check_version, parsed
from sqlwin.state.contract import Blobs

VERSION = 1
POSITION, UNSENT, SOURCE_TEXT = "position", "waiting", "query"


@dataclass(frozen=True)
class QueryPosition:
    """plan: whose state it is. pushed: rows so far. now: processing time, microseconds.

    stamp: of the last commit, unlike that of any other. others: rows so far of the streams
    behind the first of FROM, by name; `pushed` are those of the first. since: up to where
    windows were retired under another RETAIN, see `Policy`.
    """

    plan: str
    pushed: int = 0
    now: int = 0
    stamp: str = ""
    version: int = VERSION
    others: Mapping[str, int] = field(default_factory=dict)
    since: int | None = None

    def rows_of(self, other: str | None) -> int:
        """Rows of a stream so far; None: of the first."""
        return self.pushed if other is None else self.others.get(other, 0)

    def moved(self, rows: int, other: str | None = None) -> QueryPosition:
        if other is None:
            return replace(self, pushed=self.pushed + rows)
        return replace(self, others={**self.others, other: self.rows_of(other) + rows})

    def later(self, now: int) -> QueryPosition:
        return replace(self, now=max(self.now, now))

    def stamped(self, token: str) -> QueryPosition:
        """With the stamp of the next commit of the writer `token`."""
        return replace(self, stamp=f"{token}-{int(self.stamp.rpartition('-')[2] or 0) + 1}")

    def check_single_writer(self, blobs: Blobs) -> None:
        """RunError where another has written there since this was read or written."""
        if QueryPosition.read(blobs, self.plan).stamp != self.stamp:
            raise RunError("another query has written to the store since this one read it")

    @staticmethod
    def read(blobs: Blobs | None, plan: str) -> QueryPosition:
        """As of the last commit, which may be another plan's; before the first one, of `plan`."""
        if blobs is None or POSITION not in blobs.names():
            return QueryPosition(plan)
        found = parsed(POSITION, blobs.get(POSITION))
        check_version(POSITION, found.get("version", VERSION), VERSION)
        return QueryPosition(**found)

    def write(self, blobs: Blobs) -> None:
        fields = asdict(self)
        if not self.others:  # as it was before there could be any
            del fields["others"]
        if self.since is None:
            del fields["since"]
        blobs.put(POSITION, json.dumps(fields).encode())


def resumed(blobs: Blobs | None, query: Query) -> tuple[QueryPosition, Query]:
    """Where it stands, and the query as it goes on; InputError where the state is another's."""
    plan = fingerprint(query)
    at = QueryPosition.read(blobs, plan)
    if blobs is None:
        return at, query
    text = blobs.get(SOURCE_TEXT) if SOURCE_TEXT in blobs.names() else None
    try:
        going = going_on(query, 0, at.plan, at.since, text, blobs)
    except Differs as differs:
        raise InputError(
            f"the store belongs to another query; give this one a store of its own: {differs}"
        ) from differs
    return replace(at, plan=plan, since=since_of(going)), going


def unsent_outputs(blobs: Blobs | None, nothing: pl.DataFrame) -> pl.DataFrame:
    """Outputs that were written before they were sent; `nothing` has their columns."""
    if blobs is None or UNSENT not in blobs.names():
        return nothing
    return pl.read_ipc_stream(io.BytesIO(blobs.get(UNSENT)))


def write_unsent_outputs(blobs: Blobs, outputs: pl.DataFrame) -> None:
    if outputs.is_empty():
        blobs.delete(UNSENT)
        return
    out = io.BytesIO()
    outputs.write_ipc_stream(out)
    blobs.put(UNSENT, out.getvalue())


def write_source_text(blobs: Blobs, source_text: SourceText | None) -> None:
    """Store the source text, with which state queries bind the query again."""
    if source_text is not None:
        blobs.put(SOURCE_TEXT, source_text.dump().encode())


def write(
    blobs: Blobs, at: QueryPosition, token: str, state: Callable[[], None], outputs: pl.DataFrame
) -> QueryPosition:
    """All as one: state, position and outputs that wait; the position as it was written.

    RunError where that cannot be; then nothing was written.
    """
    stamped = at.stamped(token)
    try:
        with transaction(blobs):
            at.check_single_writer(blobs)
            state()
            stamped.write(blobs)
            write_unsent_outputs(blobs, outputs)
    except sqlite3.Error as failure:
        raise RunError(f"cannot write state: {failure}; the last flush stands") from failure
    return stamped


@contextmanager
def transaction(blobs: Blobs) -> Iterator[None]:
    """Around what must be written as one, where the blobs can do that."""
    begin = getattr(blobs, "transaction", None)
    if begin is None:
        yield
        return
    with begin():
        yield
