"""How many records each store holds under a load; see `sqlwin.runtime.size.estimate`.

A store that goes by time holds the rows (or panes, or windows) of the *span*: the
watermark's delay, the reach of a window, retention, and one time slice, since
slices go whole. A store that goes by key holds so many records a key. Each store is
one line of `RECORDS`, by its name less its number.

Worked example: an hour every 15 minutes, RETAIN 1 HOUR, 1000 rows/s of 50 keys. The
span is 1 h + 1 h + a slice of 30 min, ten panes of 15 minutes; every key has a row in
each, so the panes store holds 500 records, whatever the rate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1

from sqlwin.instants import SECOND
from sqlwin.plan.ir.nodes import (
    OverAggregate,
    OverCall,
    Stream,
    TopN,
    WindowAggregate,
    WindowedRelation,
)
from sqlwin.plan.properties.facts import (
    Window,
    counts,
    unranked,
)
from sqlwin.policies import Policy
from sqlwin.runtime.size.load import Load
from sqlwin.state.contract import Layout
from sqlwin.windows import Hop, Session, Unit, Whole

Records = float | str
"""How many, or why there is no bound."""


@dataclass(frozen=True)
class Case:
    """A window of a plan under a load, and the store asked about."""

    window: Window
    stream: Stream
    load: Load
    layout: Layout

    @property
    def aggregate(self) -> WindowAggregate:
        """The group windows, those below a rank as well."""
        window = unranked(self.window)
        assert isinstance(window, WindowAggregate)
        return window

    @property
    def policy(self) -> Policy:
        return unranked(self.window).policy

    @property
    def calls(self) -> tuple[OverCall, ...]:
        return self.window.calls if isinstance(self.window, OverAggregate) else ()

    @property
    def never_full(self) -> bool:
        return any(call.frame.following is None for call in self.calls)

    @property
    def keys(self) -> float:
        """Groups that rows fall into; one where the query has no keys."""
        if isinstance(self.window, OverAggregate):
            keyed = any(call.partition for call in self.calls)
        elif isinstance(self.window, TopN | WindowedRelation):
            keyed = bool(self.window.partition)
        else:
            keyed = bool(self.aggregate.keys or self.aggregate.partition)
        return self.load.keys if keyed else 1.0

    def came(self, micros: float) -> float:
        return self.load.rate * micros / SECOND

    def groups(self, micros: float) -> float:
        """Keys that have a row in so much time: K (1 - e^(-n/K)) of n rows."""
        return -self.keys * expm1(-self.came(micros) / self.keys)

    def span(self, reach: float) -> float | None:
        """Event time whose rows are there: retention and what is before, or not yet, in it."""
        if self.policy.retain is None:
            return None
        return self.stream.delay + reach + self.policy.retain + self.layout.slice_width


NO_END = "no RETAIN says when these may go"
ALL_IN_ONE = "an aggregate of the whole stream needs every message of it"
OWN_GAPS = "how long a session goes on is each row's own to say"
NEVER_FULL = "a frame to the end of the input keeps every row of it"


def _rows(case: Case) -> Records:
    """Rows of OVER: as far back as a RANGE reaches, and until the rows ahead have come.

    With RETAIN n ROWS whole slices go of each key, as they do of all.
    """
    if case.never_full:
        return NEVER_FULL
    if isinstance(case.window, WindowedRelation):
        return _in_relation(case, case.window)
    ranges = [call.frame for call in case.calls if call.frame.unit is Unit.RANGE]
    back = max((frame.preceding or 0 for frame in ranges), default=0)
    ahead = max((frame.following or 0 for frame in ranges), default=0)
    return _retained(case, max(back, 0) + max(ahead, 0), of_key=case.layout.slice_width)


def _in_relation(case: Case, window: WindowedRelation) -> float:
    """Those in it and those that the watermark has not reached."""
    stays = window.frame.preceding or 0 if window.frame.unit is Unit.RANGE else 0
    slide = window.slide or 0
    return case.came(case.stream.delay + stays + slide + case.layout.slice_width)


def _last(case: Case) -> Records:
    assert isinstance(case.window, WindowedRelation)
    return ((case.window.frame.preceding or 0) + 1) * case.keys


def _messages(case: Case) -> Records:
    window = case.aggregate.window
    if isinstance(window, Session):
        if window.unit is Unit.ROWS:
            return float(max(window.gap or 0, 1))
        return OWN_GAPS if window.gap is None else _retained(case, window.gap)
    return ALL_IN_ONE if isinstance(window, Whole) else _retained(case, window.size)


def _seen(case: Case) -> Records:
    """Positions of rows, as long as one that came again would not have expired."""
    return _retained(case, 0)


def _retained(case: Case, reach: float, of_key: float = 0) -> Records:
    """Rows of the span; with RETAIN n ROWS, n of each key and those not yet full.

    of_key: event time of a key that is kept besides.
    """
    span, newest = case.span(reach), case.policy.retain_rows
    kept = [] if span is None else [case.came(span)]
    if newest is not None:
        kept.append(newest * case.keys + case.came(case.stream.delay + reach + of_key))
    return min(kept) if kept else NO_END


def _sessions(case: Case) -> Records:
    """Those that go on, and of the span those that began: rows that come after a pause.

    With RETAIN n ROWS no more than n of each key. Of each grouping set, if not so many.
    """
    window, sets = case.aggregate.window, max(len(case.aggregate.sets), 1)
    assert isinstance(window, Session)
    if window.gap is None:
        return OWN_GAPS
    if window.unit is Unit.ROWS:
        apart = exp(-window.gap / case.keys)
        return sets * (case.keys * (1 - apart) + case.layout.slice_width / 2 * apart)
    span, newest, kept = case.span(window.gap), case.policy.retain_rows, []
    if span is not None:
        kept.append(case.came(span) * exp(-case.came(window.gap) / case.keys))
    if newest is not None:
        kept.append(newest * case.keys)
    return sets * (case.groups(window.gap) + min(kept)) if kept else NO_END


def _panes(case: Case) -> Records:
    window, sets = case.aggregate.window, max(len(case.aggregate.sets), 1)
    if isinstance(window, Session):
        instants = _messages(case)  # one for nearly every row
        return instants if isinstance(instants, str) else instants * sets
    if isinstance(window, Whole):
        return case.keys * sets
    span, newest = case.span(window.size), case.policy.retain_rows
    kept = [] if span is None else [case.groups(window.pane) * span / window.pane]
    if newest is not None:
        panes = min(newest, newest * case.keys / case.came(window.pane) + 1)
        open_ = (case.stream.delay + window.size) / window.pane
        kept.append(panes * case.keys + open_ * case.groups(window.pane))
    return min(kept) * sets if kept else NO_END


def _revisions(case: Case) -> Records:
    """Windows that were emitted early; else only corrections that wait, which are few."""
    if case.policy.early is None:
        return 0.0
    if isinstance(case.window, OverAggregate):
        return _rows(case)
    window = case.aggregate.window
    if isinstance(window, Session):
        return _sessions(case)
    if counts(case.window):
        return case.keys * -(-window.size // window.advance)  # type: ignore[union-attr]
    return _windows(case)


def _windows(case: Case) -> Records:
    """Group windows within retention."""
    window = case.aggregate.window
    assert not isinstance(window, Session)
    if isinstance(window, Whole):
        return case.keys
    step = window.advance if isinstance(window, Hop) else window.step
    span = case.span(window.size)
    return NO_END if span is None else case.groups(window.size) * span / step


def _ranked(case: Case) -> Records:
    """With RETAIN n ROWS alone nothing leaves it, see `operators.ranking`."""
    return _windows(case)


def _history(case: Case) -> Records:
    """The rows that ROWS frames reach, for each partition of its own, and those that wait."""
    if case.never_full:
        return 0.0  # they stay where they are
    depths: dict[tuple[str, ...], int] = {}
    for call in case.calls:
        if call.frame.unit is Unit.ROWS:
            depth = max(call.frame.preceding or 0, 0) + max(call.frame.following or 0, 0)
            depths[call.partition] = max(depths.get(call.partition, 0), depth)
    return sum(n * (case.load.keys if keys else 1.0) for keys, n in depths.items())


def _base(case: Case) -> Records:
    """A record for each partition and slice of the row store."""
    if case.never_full:
        return NEVER_FULL
    rows, width = _rows(case), case.layout.slice_width
    return rows if isinstance(rows, str) else case.groups(width) * rows / case.came(width)


def _ring(case: Case) -> Records:
    if isinstance(case.window, OverAggregate):
        return (case.calls[0].frame.preceding or 0) * case.keys
    window = case.aggregate.window
    assert isinstance(window, Hop)
    return -(-window.size // window.pane) * case.keys


def _each(case: Case) -> Records:
    return case.keys


def _top(case: Case) -> Records:
    """As many again are in slots that are held no more."""
    assert isinstance(case.window, TopN)
    return 2 * case.window.limit * case.keys


RECORDS: dict[str, Callable[[Case], Records]] = {
    "rows": _rows,
    "messages": _messages,
    "seen": _seen,
    "panes": _panes,
    "sessions": _sessions,
    "revisions": _revisions,
    "ranked": _ranked,
    "history": _history,
    "base": _base,
    "past": _each,
    "ring": _ring,
    "counts": _each,
    "last": _last,
    "sums": _each,
    "top": _top,
    "rankings": _each,
    "lives": _each,
}
