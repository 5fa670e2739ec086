"""What sessions store, and how much of it a load makes.

| store       | record                                                  | combined by  |
|-------------|---------------------------------------------------------|--------------|
| `sessions`  | a session, with its accumulators if it is never split   | last written |
| `panes`     | accumulators of (keys, instant), if it may be split     | merging      |
| `messages`, `revisions`, `floors`, `closed` | as of windows, see `windows.stores` |            |
| `counts`    | messages of the stream, if they are the gap             | last written |

A session begins with each row that comes after a pause; rows of a key are apart by e^(-gap/mean).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import exp

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.load import NO_END, Load, Records, Retained, nothing
from sqlwin.operators.sessions.contents import SessionContents
from sqlwin.operators.sessions.merging import SESSIONS
from sqlwin.operators.sessions.retention import SessionRetention
from sqlwin.operators.sessions.splitting import Split
from sqlwin.operators.store_spec import Columns, StoreSpec, layout_of
from sqlwin.operators.windows.closed import ClosedWindows
from sqlwin.operators.windows.messages import PANES
from sqlwin.operators.windows.stores import emitted, horizons, messages
from sqlwin.policies import Policy
from sqlwin.state.combine import last_written, merged
from sqlwin.state.slices import ENDLESS, slice_width
from sqlwin.state.stores.session_store import FROM, UNTIL, segment_interval, session_layout

OWN_GAPS = "how long a session goes on is each row's own to say"
INT: pl.DataType = pl.Int64()


@dataclass(frozen=True)
class SessionStores:
    """below: types of the columns of rows. output: of a result."""

    contents: SessionContents
    retention: SessionRetention
    ledger: ResultLedger
    closed: ClosedWindows
    below: Columns
    output: Columns

    def __iter__(self) -> Iterator[StoreSpec]:
        spans, contents, reached = self.contents.spans, self.contents, self.retention.reached
        keys = {name: contents.by.types[name] for name in spans.partition}
        layout = session_layout(SESSIONS, keys, spans.values(self.below), self.interval)
        words = "metadata" if isinstance(spans, Split) else "merged accumulators"
        yield StoreSpec(layout, last_written(layout), words, self.results)
        yield self.emitted
        if isinstance(spans, Split):
            panes = layout_of(PANES, spans.columns(self.below), spans.keys, spans.pane, self.width)
            words = f"accumulators of each {'message' if contents.by_count else 'instant'}"
            yield StoreSpec(panes, merged(panes, spans.merges), words, self._instants)
        if contents.whole:
            yield messages(contents.message, reached, self.width, self._rows)
        yield from horizons(reached, self.width)
        yield from self.closed.stores(self._closed)

    @property
    def emitted(self) -> StoreSpec:
        """Messages of others make a session in ROWS final: to note that is not to write its key."""
        types = {**self.output, FROM: INT, UNTIL: INT}
        spec = emitted(self.ledger, types, self.width, self._emitted)
        return spec.on(spec.layout, renews=not self.contents.by_count)

    # How wide slices are: of what goes by time, and of what goes by the end of a session.

    @property
    def policy(self) -> Policy:
        return self.retention.policy

    @property
    def gap(self) -> int:
        return self.contents.window.gap or 0

    @property
    def width(self) -> int:
        if self.contents.by_count:
            return max(self.gap, 1)
        return slice_width(self.gap + self._endless)

    @property
    def interval(self) -> int:
        if self.contents.by_count:
            return max(self.gap, 1)
        if self.policy.retain is None and self.retention.by_rows:
            return segment_interval(self.gap)  # of a key they go whole, however soon n rows come
        return segment_interval(self._endless)

    @property
    def _endless(self) -> int:
        return ENDLESS if self.policy.retain is None else self.policy.retain

    # How many.

    @cached_property
    def retained(self) -> Retained:
        policy, contents = self.policy, self.contents
        keyed = bool(contents.by.keys or contents.partition)
        return Retained(policy.retain, policy.retain_rows, self.width, keyed)

    @property
    def _sets(self) -> int:
        return max(len(self.contents.by.sets), 1)

    def _rows(self, load: Load) -> Records:
        gap = self.contents.window.gap
        if self.contents.by_count:
            return float(max(gap or 0, 1))
        return OWN_GAPS if gap is None else self.retained.rows(load, gap)

    def _instants(self, load: Load) -> Records:
        """One for nearly every row."""
        rows = self._rows(load)
        return rows if isinstance(rows, str) else rows * self._sets

    def results(self, load: Load) -> Records:
        """Those that go on, and of the span those that began. With RETAIN n ROWS no more than n of
        each key. Of each grouping set, if not so many."""
        gap, keys = self.contents.window.gap, load.keys_if(self.retained.keyed)
        if gap is None:
            return OWN_GAPS
        if self.contents.by_count:
            apart = exp(-gap / keys)
            return self._sets * (keys * (1 - apart) + self.interval / 2 * apart)
        by_end = Retained(self.policy.retain, None, self.interval, self.retained.keyed)
        span, newest = by_end.span(load, gap), self.policy.retain_rows
        kept = [] if span is None else [load.added(span) * exp(-load.added(gap) / keys)]
        if newest is not None:
            kept.append(newest * keys)
        return self._sets * (self.retained.groups(load, gap) + min(kept)) if kept else NO_END

    def _closed(self, load: Load) -> Records:
        gap, keys = self.contents.window.gap, load.keys_if(self.retained.keyed)
        if gap is None:
            return OWN_GAPS
        return self._sets * load.added(self.closed.span) * exp(-load.added(gap) / keys)

    def _emitted(self, load: Load) -> Records:
        """Sessions that were emitted early, or are ranked; else what waits, which is little."""
        every = self.policy.early is not None or self.ledger.recorded
        return self.results(load) if every else nothing(load)
