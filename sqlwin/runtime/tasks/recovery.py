"""A message store that is lost, filled again by a replay (SAMZA-552, "Basic Data Structure").

The window store and the positions admitted (`seen`) are still there. So a replayed message is
recognised: if the message store held it, it is restored and touches no window, hence nothing is
emitted twice; otherwise it is a new message.

*Strict*: nothing is emitted before the message store is complete; a new message that
arrives too early is refused. *Lazy*: new messages are admitted at once, and windows
that become full meanwhile are emitted from the messages there are; each restored message
corrects those, by the late policy. Windows that were emitted before the loss do not
change, and corrections of them wait until the store is complete (`hold`, `release`).
Nothing is evicted meanwhile (`without_eviction`), so no window is dropped while it is incomplete.

Invariant: the store is complete iff it holds every position of `seen` that is within
retention; a position is restored at most once, as the store has one record of each.

Worked example, a median by the minute, rows at 9:00:10, 9:01:20, 9:02:30, no delay:
9:00 and 9:01 are emitted, and the messages are lost. A new row at 9:03:00 closes the
minute of 9:02, lazily of no messages: NULL. The row of 9:02:30 comes again: that
minute goes out once more, as revision 1; 9:00 and 9:01 do not.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import polars as pl

from sqlwin.errors import Incomplete, StateError
from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds, everything
from sqlwin.operators.emitter.schema import DUE, PENDING, STORE
from sqlwin.runtime.inputs.admission import SEEN
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.schema import PART, POSITION, SEQ, TS


@dataclass(frozen=True)
class Recovery:
    """store: of the lost messages. closed: windows up to here were emitted before the loss.

    lazy: how it is filled now. ever: whether it was lazy once, so that something may have
    gone out without the lost messages.
    """

    store: str
    closed: int
    lazy: bool
    ever: bool

    @property
    def since(self) -> int | None:
        """`watermark`, where windows that end later have to be emitted anew."""
        return self.closed if self.ever else None

    def missing(self, stores: Stores) -> pl.DataFrame:
        """Positions that are not there yet, sorted."""
        lo = max(stores[SEEN].horizon, stores[self.store].horizon)
        there = stores[self.store].scan(lo, END).select(POSITION)
        known = stores[SEEN].scan(lo, END).select(POSITION)
        return known.join(there, on=list(POSITION), how="anti").sort(PART, SEQ)

    def again(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of `rows` that were admitted before."""
        if rows.is_empty():
            return rows
        seen = stores[SEEN].scan(*bounds(rows[TS])).select(POSITION)
        return rows.join(seen, on=list(POSITION), how="semi", maintain_order="left")

    def too_early(self, new: pl.DataFrame, reaches_back: bool) -> bool:
        """Whether `new` messages need what is lost; reaches_back: see that property."""
        if not self.lazy or new.is_empty():
            return len(new) > 0
        return reaches_back and bool((new[TS] < self.closed).any())


def recovery(
    query: Lowered, metadata: dict[str, Any], names: Collection[str], lazy: bool
) -> Recovery | None:
    """The loss since the last commit, or one before it that is not yet restored.

    StateError where a replayed message could not be distinguished from a new one.
    """
    lost_store, known = lost(query, metadata, names), metadata.get("recovery")
    if lost_store is None and known is None:
        return None
    if query.policy is not None and query.policy.ttl is not None:
        raise StateError(
            f"the message store of {query.stream.name} is lost, and a replay cannot fill it: "
            f"nobody knows which of its messages a TTL had forgotten"
        )
    admission = query.inputs[0].admission
    if admission is None or not admission.stores():
        raise StateError(
            f"the message store of {query.stream.name} is lost, and a replay cannot fill it: "
            f"the stream declares no OFFSET, or one that is TRUSTED"
        )
    lazy = lazy and query.corrects
    if known is None:
        return Recovery(str(lost_store), metadata["watermark"], lazy, lazy)
    before = Recovery(**known)
    return replace(before, lazy=lazy, ever=before.ever or lazy)


def refuse_loss(query: Lowered, metadata: dict[str, Any], names: Collection[str]) -> None:
    """StateError for a stage whose lost message store a replay cannot fill: of a chain, for the
    stages below do not emit their messages again; of processing time, for rows had another."""
    if lost(query, metadata, names) is not None:
        whose = "rows with a processing time" if any(each.clock for each in query.inputs) else ""
        raise StateError(
            f"the message store of a query over {whose or 'the results of others'} is lost, and a "
            "replay cannot fill it: start with a new store, from the first message"
        )


def incomplete(query: Lowered, missing: pl.DataFrame) -> Incomplete:
    at = ", ".join(f"{seq} of partition {part}" for part, seq in first_positions(missing).items())
    count = "1 message" if len(missing) == 1 else f"{len(missing)} messages"
    or_else = ", or open the query with lazy=True" if query.corrects else ""
    return Incomplete(
        f"the message store of {query.stream.name} was lost and lacks {count} still: "
        f"replay from position {at}{or_else}"
    )


def lost(query: Lowered, metadata: dict[str, Any], names: Collection[str]) -> str | None:
    """The message store whose segments are named but not there."""
    for spec in query.stores:
        index = metadata.get("stores", {}).get(spec.name) if spec.restorable else None
        if index is not None and not {blob["name"] for blob in _blobs(index)} <= set(names):
            return spec.name
    return None


def emptied(metadata: dict[str, Any], store: str) -> dict[str, Any]:
    """The metadata with an empty store, whose remaining segments are to be deleted."""
    index = metadata["stores"][store]
    left = [*index["dead"], *(blob["name"] for blob in _blobs(index))]
    nothing = {**index, "segments": [], "cuts": [], "dead": left}
    return {**metadata, "stores": {**metadata["stores"], store: nothing}}


def _blobs(index: dict[str, Any]) -> list[dict[str, Any]]:
    return [*index["segments"], *index.get("cuts", [])]


def first_positions(missing: pl.DataFrame) -> dict[int, int]:
    """Where a replay has to begin, by partition of the source."""
    return dict(missing.group_by(PART).agg(pl.col(SEQ).min()).sort(PART).iter_rows())


def hold(before: int, stores: Stores) -> None:
    """Corrections of windows whose time is below `before` are no longer due."""
    due = stores[STORE].scan(START, before).filter(pl.col(DUE).is_not_null())
    _due(due.with_columns(pl.lit(None, pl.Int64).alias(DUE)), stores)


def release(before: int, stores: Stores, now: int) -> None:
    """Corrections that `hold` deferred are due now."""
    withheld = stores[STORE].scan(START, before).filter(pl.col(DUE).is_null(), pl.col(PENDING) > 0)
    _due(withheld.with_columns(pl.lit(now, pl.Int64).alias(DUE)), stores)


def _due(records: pl.DataFrame, stores: Stores) -> None:
    if records.is_empty():
        return
    stores[STORE].put(records)
    stores.pending = everything(stores, STORE)[DUE].min()  # type: ignore[assignment]
