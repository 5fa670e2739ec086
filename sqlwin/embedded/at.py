"""Where an embedded query stands, and what of it outlives the process.

>>> from sqlwin.state.blobs import DictBlobs
>>> blobs = DictBlobs()
>>> At("plan").moved(3).write(blobs)
>>> At.read(blobs, "plan").pushed
3
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace

import polars as pl

from sqlwin.errors import InputError, RunError
from sqlwin.plan.ir.nodes import Query
from sqlwin.plan.ir.source_text import Wording
from sqlwin.plan.properties.facts import fingerprint
from sqlwin.runtime.checkpoint.resumed import Differs, going_on, since_of
from sqlwin.runtime.checkpoint.task_state import check_version, parsed
from sqlwin.state.contract import Blobs

VERSION = 1
POSITION, WAITING, WORDING = "position", "waiting", "query"


@dataclass(frozen=True)
class At:
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

    def came(self, other: str | None) -> int:
        """Rows of a stream so far; None: of the first."""
        return self.pushed if other is None else self.others.get(other, 0)

    def moved(self, rows: int, other: str | None = None) -> At:
        if other is None:
            return replace(self, pushed=self.pushed + rows)
        return replace(self, others={**self.others, other: self.came(other) + rows})

    def later(self, now: int) -> At:
        return replace(self, now=max(self.now, now))

    def stamped(self, token: str) -> At:
        """For the next commit of the writer that is called `token`."""
        return replace(self, stamp=f"{token}-{int(self.stamp.rpartition('-')[2] or 0) + 1}")

    def check_alone(self, blobs: Blobs) -> None:
        """RunError where another has written there since this was read or written."""
        if At.read(blobs, self.plan).stamp != self.stamp:
            raise RunError("another query has written to the store since this one read it")

    @staticmethod
    def read(blobs: Blobs | None, plan: str) -> At:
        """As of the last commit, which may be another plan's; before the first one, of `plan`."""
        if blobs is None or POSITION not in blobs.names():
            return At(plan)
        found = parsed(POSITION, blobs.get(POSITION))
        check_version(POSITION, found.get("version", VERSION), VERSION)
        return At(**found)

    def write(self, blobs: Blobs) -> None:
        told = asdict(self)
        if not self.others:  # as it was before there could be any
            del told["others"]
        if self.since is None:
            del told["since"]
        blobs.put(POSITION, json.dumps(told).encode())


def resumed(blobs: Blobs | None, query: Query) -> tuple[At, Query]:
    """Where it stands, and the query as it goes on; InputError where the state is another's."""
    plan = fingerprint(query)
    at = At.read(blobs, plan)
    if blobs is None:
        return at, query
    text = blobs.get(WORDING) if WORDING in blobs.names() else None
    try:
        going = going_on(query, 0, at.plan, at.since, text, blobs)
    except Differs as differs:
        raise InputError(
            f"the store belongs to another query; give this one a store of its own: {differs}"
        ) from differs
    return replace(at, plan=plan, since=since_of(going)), going


def waiting(blobs: Blobs | None, nothing: pl.DataFrame) -> pl.DataFrame:
    """Outputs that were written and not sent; `nothing` has their columns."""
    if blobs is None or WAITING not in blobs.names():
        return nothing
    return pl.read_ipc_stream(io.BytesIO(blobs.get(WAITING)))


def keep(blobs: Blobs, outputs: pl.DataFrame) -> None:
    if outputs.is_empty():
        blobs.delete(WAITING)
        return
    out = io.BytesIO()
    outputs.write_ipc_stream(out)
    blobs.put(WAITING, out.getvalue())


def word(blobs: Blobs, wording: Wording | None) -> None:
    """Leave what the query was asked in, for those who ask its state."""
    if wording is not None:
        blobs.put(WORDING, wording.dump().encode())


def write(blobs: Blobs, at: At, token: str, state: Callable[[], None], outputs: pl.DataFrame) -> At:
    """All as one: state, position and outputs that wait; the position as it was written.

    RunError where that cannot be; then nothing was written.
    """
    stamped = at.stamped(token)
    try:
        with transaction(blobs):
            at.check_alone(blobs)
            state()
            stamped.write(blobs)
            keep(blobs, outputs)
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
