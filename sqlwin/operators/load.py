"""The load for which the size of a store is expected, and what RETAIN keeps of it.

Rows are taken to come evenly in event time and over the keys. A store that goes by time holds the
rows (or panes, or windows) of its *span*: the watermark's delay, the reach of a window, retention,
and one time slice, since slices go whole. With RETAIN n ROWS it holds n rows of each key, and those
of windows that are open. The lesser counts where a query has both.

Worked example, an hour every 15 minutes, RETAIN 1 HOUR, 1000 rows/s of 50 keys, slices of 30
minutes: the span is 1 h + 1 h + 30 min, ten panes of 15 minutes. Every key has a row in each, so
the panes store holds 500 records, whatever the rate.

>>> hour = 3_600_000_000
>>> load, retained = Load(rate=1000, keys=50), Retained(hour, None, hour // 2, keyed=True)
>>> panes = retained.groups(load, hour // 4) * retained.span(load, hour) / (hour // 4)
>>> round(panes)
500
"""

from __future__ import annotations

from collections.abc import Callable
from math import expm1

from sqlwin.instants import SECOND
from sqlwin.lazy_dataclass import dataclass

WIDTH = 16.0
NO_END = "no RETAIN says when these may go"
NOT_ESTIMATED = "how many these are is not estimated"


@dataclass(frozen=True)
class Load:
    """rate: rows a second of event time, of each input. keys: distinct ones. width: bytes of a
    string. delays: of the watermark of each input, microseconds."""

    rate: float
    keys: float
    width: float = WIDTH
    delays: tuple[int, ...] = (0, 0)

    def added(self, micros: float) -> float:
        """Rows of so much event time."""
        return self.rate * micros / SECOND

    def keys_if(self, keyed: bool) -> float:
        """Groups that rows fall into: one where there are no keys."""
        return self.keys if keyed else 1.0


Records = float | str
"""How many, or why there is no bound."""
Expected = Callable[[Load], Records]


def not_estimated(load: Load) -> Records:
    return NOT_ESTIMATED


def nothing(load: Load) -> Records:
    """Of a store that holds only what waits, which is little."""
    return 0.0


def least(*each: Records) -> Records:
    """The bound that comes first; where there is none, the first reason."""
    known = [records for records in each if not isinstance(records, str)]
    return min(known) if known else each[0]


@dataclass(frozen=True)
class Retained:
    """retain: microseconds, retain_rows: of each key; None without. width: of a time slice.

    keyed: whether there are keys. at: the number of the input.
    """

    retain: int | None
    retain_rows: int | None
    width: int
    keyed: bool
    at: int = 0

    def keys(self, load: Load) -> Records:
        return load.keys_if(self.keyed)

    def groups(self, load: Load, micros: float) -> float:
        """Keys that have a row in so much time: K (1 - e^(-n/K)) of n rows."""
        keys = load.keys_if(self.keyed)
        return -keys * expm1(-load.added(micros) / keys)

    def open(self, load: Load, reach: float) -> float:
        """Event time of which rows are needed, whatever RETAIN is."""
        return load.delays[self.at] + reach

    def span(self, load: Load, reach: float) -> float | None:
        """Event time whose rows are there: retention and what is before, or not yet, in it."""
        return None if self.retain is None else self.open(load, reach) + self.retain + self.width

    def rows(self, load: Load, reach: float, of_key: float = 0) -> Records:
        """Rows of the span; with RETAIN n ROWS, n of each key and those not yet full.

        of_key: event time of a key that is kept besides.
        """
        span, newest = self.span(load, reach), self.retain_rows
        kept = [] if span is None else [load.added(span)]
        if newest is not None:
            open_ = load.added(self.open(load, reach) + of_key)
            kept.append(newest * load.keys_if(self.keyed) + open_)
        return min(kept) if kept else NO_END
