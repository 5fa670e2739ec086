"""The state of a task at its last commit: checkpoint metadata, and the stores it names.

The metadata is JSON: watermarks, positions, and the index of every store. Without blobs the
stores are in memory and there is no metadata.

>>> TaskState(None).metadata()
{}
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Expiring, Stores
from sqlwin.operators.stages.changelog_normalizer import POSITIONS
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.runtime.checkpoint.versions import check_version, parsed
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.state.contract import Blobs, SegmentCache, Store
from sqlwin.state.segments.store import SEGMENT_ROWS, SegmentStore
from sqlwin.state.stores.memory import MemoryStore
from sqlwin.state.ttl.entries import STORE as TTL_ENTRIES
from sqlwin.state.ttl.entries import ttl_store_name

METADATA = "header"
TABLES = {TTL_ENTRIES, POSITIONS, ttl_store_name("left"), ttl_store_name("right")}
Metadata = dict[str, Any]


def _check_has(query: Lowered, metadata: Metadata) -> None:
    """StateError where a store of the query is not there."""
    names = {spec.name for spec in query.stores}
    if names.symmetric_difference(metadata["stores"]) & TABLES:
        raise StateError("the state was kept with a TTL or without; the query differs in that")
    lacking = sorted(names.difference(metadata["stores"]))
    if lacking:
        raise StateError(
            f"the state has no {', '.join(lacking)}: this query was planned otherwise by an "
            "older sqlwin; start with a new store, from the first message"
        )


def _as_wide(spec: StoreSpec, metadata: Metadata) -> StoreSpec:
    """With the slices that the store has by now: under another RETAIN they would be others."""
    width = metadata["stores"][spec.name]["slice_width"]
    return spec.on(replace(spec.layout, slice_width=width))


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

    def segment_stores(self, query: Lowered, metadata: Metadata) -> dict[str, SegmentStore]:
        """The stores as they are written, by name: a TTL hides nothing. metadata: of a commit."""
        _check_has(query, metadata)
        opened = {
            spec.name: self._store(_as_wide(spec, metadata), metadata) for spec in query.stores
        }
        return {name: store for name, store in opened.items() if isinstance(store, SegmentStore)}

    def stores(self, query: Lowered, metadata: Metadata) -> Stores:
        specs = query.stores
        if metadata and query.policy is not None and query.policy.since is not None:
            specs = tuple(_as_wide(spec, metadata) for spec in specs)
        if metadata:
            _check_has(query, metadata)
        stores = Stores({spec.name: self._store(spec, metadata) for spec in specs})
        operator: object = query.operator
        if isinstance(operator, Expiring):
            operator.open_ttl(stores, metadata.get("ttl"), self.run)
        if metadata:
            stores.watermark = metadata["watermark"]
            stores.pending = metadata["pending"]
            stores.last_input = metadata["last_input"]
        return stores

    def _store(self, spec: StoreSpec, metadata: Metadata) -> Store:
        layout, combine = spec.layout, spec.combine
        if self.blobs is None:
            return MemoryStore(layout, combine)
        index = metadata["stores"][layout.name] if metadata else None
        rest = {"segment_rows": self.segment_rows, "cache": self.cache}
        return SegmentStore(layout, combine, self.blobs, index=index, **rest)  # type: ignore[arg-type]
