"""The outputs of the last batch, for sinks that cannot replace what they wrote.

Invariant: a batch is in the outbox of the commit that it is part of, and is sent after that commit.
So a run that was killed before or while it sent has, when it goes on, the same outputs to send; the
sink knows by the run and the number which of them it has.

>>> import polars as pl
>>> from sqlwin.state.blobs.blobs import DictBlobs
>>> blobs, rows = DictBlobs(), pl.DataFrame({"n": [1]})
>>> outbox = Outbox(blobs)
>>> outbox.add(3, rows, rows)
>>> outbox.write(blobs)
>>> again = Outbox(blobs)
>>> again.run == outbox.run, again.batch, again.results.rows()
(True, 3, [(1,)])
"""

from __future__ import annotations

import io
import json
import uuid

import polars as pl

from sqlwin.runtime.checkpoint.versions import check_version, parsed
from sqlwin.runtime.connectors.outlets import Outlet
from sqlwin.state.contract import Blobs

OUTBOX, RESULTS, ERRORS = "outbox", "outbox_results", "outbox_errors"
VERSION = 1


class Outbox:
    """run: unlike that of any other checkpoint. batch: the last one's number, 0 before it."""

    def __init__(self, blobs: Blobs | None) -> None:
        self.run, self.batch = uuid.uuid4().hex, 0
        self.results = self.errors = pl.DataFrame()
        if blobs is not None and OUTBOX in blobs.names():
            found = parsed(OUTBOX, blobs.get(OUTBOX))
            check_version(OUTBOX, found["version"], VERSION)
            self.run, self.batch = found["run"], found["batch"]
            self.results, self.errors = (_read(blobs.get(name)) for name in (RESULTS, ERRORS))

    def add(self, batch: int, results: pl.DataFrame, errors: pl.DataFrame) -> None:
        self.batch, self.results, self.errors = batch, results, errors

    def write(self, blobs: Blobs) -> None:
        """In the transaction of the commit."""
        about = {"version": VERSION, "run": self.run, "batch": self.batch}
        blobs.put(OUTBOX, json.dumps(about).encode())
        blobs.put(RESULTS, _bytes(self.results))
        blobs.put(ERRORS, _bytes(self.errors))

    def send(self, outlet: Outlet) -> None:
        if self.batch:
            outlet.send(self.run, self.batch, self.results, self.errors)


def _bytes(rows: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    rows.write_ipc_stream(out)
    return out.getvalue()


def _read(data: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(data))
