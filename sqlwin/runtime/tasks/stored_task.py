"""What of a task is stored: its stores and its clock, and what it has read.

`commit` writes stores and clock together, so that state and positions always agree; a task over
the same blobs goes on from there. Where a message store was lost, `missing` says which of its
messages are not put back yet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

import polars as pl

from sqlwin.instants import START
from sqlwin.operators.contract import Stores
from sqlwin.runtime.checkpoint.task_state import METADATA, TaskState
from sqlwin.runtime.checkpoint.versions import VERSION
from sqlwin.runtime.inputs.idleness import idle_timeouts
from sqlwin.runtime.inputs.message_numbers import Numbers
from sqlwin.runtime.inputs.positions import Positions
from sqlwin.runtime.inputs.watermarks import Watermarks
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.output_projection import OutputProjection
from sqlwin.runtime.tasks.recovery import emptied, first_positions, incomplete, lost, recovery
from sqlwin.state.contract import Blobs, SegmentCache, Store
from sqlwin.state.segments.index import IndexJson
from sqlwin.state.segments.store import SEGMENT_ROWS, SegmentStore
from sqlwin.state.ttl.base import TtlStoreBase


class StoredTask:
    """blobs: where state is kept; None keeps it in memory only.

    token: unlike any given before for these blobs; it names new segments.
    segment_rows: the most rows of one segment. lazy: how a lost message store is
    filled again, see `recovery`; None where none can be lost, and nobody looks. run: what
    distinguishes a run of the query, None where every task is one. written: records and bytes
    of the stores as of the last commit of this task.
    """

    def __init__(
        self,
        query: Lowered,
        blobs: Blobs | None = None,
        token: str = "",
        cache: SegmentCache | None = None,
        segment_rows: int = SEGMENT_ROWS,
        lazy: bool | None = None,
        run: str | None = None,
    ) -> None:
        self.query = query
        self.projection = OutputProjection(query)
        hold = 0 if query.policy is None else query.policy.hold
        delays = {name: each.delay + hold for name, each in query.streams.items()}
        idle, clocked = idle_timeouts(query.streams.values()), query.by_clock
        self.clock = Watermarks(delays, idle, by_clock=clocked)
        for name, each in query.streams.items():
            if each.of:  # none of its plans has come to any time yet
                self.clock.seen[name] = dict.fromkeys(range(len(each.of)), START)
        self.blobs, self.token = blobs, token
        state = TaskState(blobs, segment_rows, cache, run)
        metadata = state.metadata()
        names = [] if blobs is None or lazy is None else blobs.names()
        self.recovery = None if lazy is None else recovery(query, metadata, names, lazy)
        lost_store = None if self.recovery is None else lost(query, metadata, names)
        self.stores = state.stores(
            query, metadata if lost_store is None else emptied(metadata, lost_store)
        )
        self.pinning = tuple(spec.name for spec in query.stores if spec.pins)
        self.positions = Positions(tuple(query.streams))
        self.numbers = Numbers.load(metadata["numbers"]) if "numbers" in metadata else Numbers()
        self.admitted = 0
        self.written: tuple[int, int] | None = None
        if metadata:
            self.clock.restore(metadata["watermarks"])
            self.positions.restore(metadata["offsets"])

    def commit(self) -> None:
        """Write the stores' changes and the checkpoint metadata into the blobs."""
        if self.blobs is None:
            return
        ttl = self.stores.ttl
        if ttl is not None:
            ttl.snapshot()
        indexes = {name: self._flush(store) for name, store in self.stores.named.items()}
        self.written = _sizes(indexes)
        metadata = {
            "version": VERSION,
            "watermarks": self.clock.to_json(),
            "watermark": self.stores.watermark,
            "pending": self.stores.pending,
            "last_input": self.stores.last_input,
            "offsets": self.positions.to_json(),
            "recovery": None if self.recovery is None else asdict(self.recovery),
            "ttl": None if ttl is None else ttl.to_json(),
            "stores": indexes,
        }
        if any(each.numbered for each in self.query.inputs):
            metadata["numbers"] = self.numbers.to_json()
        self.blobs.put(METADATA, json.dumps(metadata).encode())

    def _flush(self, store: Store) -> IndexJson:
        inner = store.inner if isinstance(store, TtlStoreBase) else store
        assert isinstance(inner, SegmentStore)
        return inner.flush(self.token)

    def read(self, positions: Mapping[str, Mapping[int, int]]) -> None:
        """Note the greatest positions read by stream and partition, also of refused rows."""
        for stream, read in positions.items():
            self.positions.note(stream, read)

    def missing(self) -> pl.DataFrame | None:
        """Positions of the lost messages that are not put back; None: nothing was lost."""
        return None if self.recovery is None else self.recovery.missing(self.stores)

    def complete_stores(self) -> Stores:
        """The stores, for state queries; Incomplete while lost messages are not all restored."""
        missing = self.missing()
        if missing is not None and len(missing):
            raise incomplete(self.query, missing)
        return self.stores

    def replay_from(self, stream: str, pushed: int) -> dict[int, int]:
        """By partition of a stream, the position that a replay has to begin at.

        pushed: its rows so far, where it declares no OFFSET.
        """
        if self.query.streams[stream].offset is None:
            return {0: pushed}
        after = {part: seq + 1 for part, seq in self.positions.of(stream).items()}
        missing = self.missing()
        return after if missing is None else {**after, **first_positions(missing)}


def _sizes(indexes: Mapping[str, IndexJson]) -> tuple[int, int]:
    segments = [segment for index in indexes.values() for segment in index["segments"]]
    return sum(each["rows"] for each in segments), sum(each["bytes"] for each in segments)
