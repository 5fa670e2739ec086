"""The state of a task at its last commit: checkpoint metadata, and the stores it names.

The metadata is JSON: watermarks, positions, and the index of every store. Without blobs the
stores are in memory and there is no metadata.

>>> TaskState(None).metadata()
{}
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from sqlwin.errors import StateError
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import STORE as REVISIONS
from sqlwin.operators.sessions.operator import SessionAggregator
from sqlwin.operators.stages.changelog_normalizer import POSITIONS
from sqlwin.operators.stages.join_ttl import JoinTtl
from sqlwin.operators.stages.ttl import OperatorTtl
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.stores import Shape, shapes, ttl_store_name
from sqlwin.state.contract import Blobs, Combine, Layout, SegmentCache, Store
from sqlwin.state.join_ttl_entries import JoinTtlEntries, sides_of
from sqlwin.state.lifetimes import Lifetimes
from sqlwin.state.memory import MemoryStore
from sqlwin.state.pair_store import PairStore
from sqlwin.state.segments import SEGMENT_ROWS, SegmentStore
from sqlwin.state.ttl_entries import LIFE, LIVES
from sqlwin.state.ttl_store import TtlStore

METADATA = "header"
TABLES = {LIVES, POSITIONS, ttl_store_name("left"), ttl_store_name("right")}
VERSION = 3
Metadata = dict[str, Any]


def check_version(what: str, version: object, known: int = VERSION) -> None:
    """StateError for a version that is not known."""
    if version == known:
        return
    why = ""
    if isinstance(version, int) and version > known:
        why = ": made by a newer sqlwin"
    elif isinstance(version, int) and version > 0:
        why = (
            ": made by an older sqlwin, whose state is not read any more; "
            "start with a new store, from the first message"
        )
    raise StateError(f"{what} has version {version}, known is {known}{why}")


def _as_wide(shapes: list[Shape], metadata: Metadata) -> list[Shape]:
    """Stores with the slices that they have by now: under another RETAIN they would be others."""
    known = metadata["stores"]
    return [
        (replace(layout, slice_width=known[layout.name]["slice_width"]), combine)
        for layout, combine in shapes
    ]


def parsed(what: str, data: bytes) -> dict[str, Any]:
    """JSON of a checkpoint; StateError where it is none."""
    try:
        found = json.loads(data)
    except ValueError as wrong:
        raise StateError(f"{what} is damaged: {wrong}") from wrong
    if not isinstance(found, dict):
        raise StateError(f"{what} is damaged: it is no JSON object")
    return found


@dataclass(frozen=True)
class TaskState:
    """segment_rows, run: as in `Task`."""

    blobs: Blobs | None
    segment_rows: int = SEGMENT_ROWS
    cache: SegmentCache | None = None
    run: str | None = None

    def metadata(self) -> Metadata:
        """As of the last commit; nothing before the first."""
        if self.blobs is None:
            return {}
        try:
            metadata: Metadata = parsed(METADATA, self.blobs.get(METADATA))
        except KeyError:
            return {}
        check_version("header", metadata.get("version"))
        return metadata

    def stores(self, query: Lowered, metadata: Metadata) -> Stores:
        admitting = [shape for each in query.inputs for shape in each.shapes]
        own = [] if query.operator is None else shapes(query.operator)
        if metadata and query.policy is not None and query.policy.since is not None:
            own, admitting = (_as_wide(each, metadata) for each in (own, admitting))
        kept = {layout.name for layout, _ in own}
        if metadata and kept.symmetric_difference(metadata["stores"]) & TABLES:
            raise StateError("the state was kept with a TTL or without; the query differs in that")
        stores = Stores({layout.name: self._store(layout, c, metadata) for layout, c in own})
        if isinstance(query.operator, OperatorTtl):
            stores.lives = self._lifetimes(query.operator, stores, metadata)
        if isinstance(query.operator, JoinTtl):
            stores.sides = self._sides(query.operator, stores, metadata)
        stores.named |= {layout.name: self._store(layout, c, metadata) for layout, c in admitting}
        if metadata:
            stores.watermark = metadata["closed"]
            stores.pending = metadata["pending"]
            stores.last_input = metadata["heard"]
        return stores

    def _lifetimes(self, operator: OperatorTtl, stores: Stores, metadata: Metadata) -> Lifetimes:
        lifetimes = Lifetimes(operator.ttl, stores[LIVES], metadata.get("lives"), self.run)
        # messages of others make sessions in ROWS full: to note that is not to write their key
        counts = isinstance(operator.inner, SessionAggregator) and operator.inner.by_count
        by_others = {REVISIONS} if counts else set()
        for name, store in stores.named.items():
            if name != LIVES and LIFE in store.layout.keys:
                stores.named[name] = TtlStore(store, lifetimes, renews=name not in by_others)
        return lifetimes

    def _sides(self, join: JoinTtl, stores: Stores, metadata: Metadata) -> JoinTtlEntries:
        saved = metadata.get("lives") or {}
        sides = {
            side: Lifetimes(ttl, stores[ttl_store_name(side)], saved.get(side), self.run)
            for side, ttl in join.ttls.items()
        }
        both = JoinTtlEntries(sides, join.marks, join.there)
        for name, store in stores.named.items():
            side = join.side_of(name)
            if side is not None:
                renews = not name.endswith("_known")
                stores.named[name] = TtlStore(store, sides[side], renews=renews)
            elif sides_of(store.layout.keys):
                stores.named[name] = PairStore(store, both)
        return both

    def _store(self, layout: Layout, combine: Combine, metadata: Metadata) -> Store:
        if self.blobs is None:
            return MemoryStore(layout, combine)
        index = metadata["stores"][layout.name] if metadata else None
        rest = {"segment_rows": self.segment_rows, "cache": self.cache}
        return SegmentStore(layout, combine, self.blobs, index=index, **rest)  # type: ignore[arg-type]
