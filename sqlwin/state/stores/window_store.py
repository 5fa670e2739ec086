"""An in-memory window store: records by key and window start, as KIP-428 lays it out.

A segment is one instant: the sorted map of the keys whose windows start there. The
segments lie in a sorted map by time, so a point is two lookups and a range is read
in its order, by time and then by key. A map holds a key once, so a second put of
(key, start) replaces the first; with `retain_duplicates` a place holds all that
were put there, in the order they were.

Nothing asks a clock: now is the greatest time ever put. A record is readable while
`time > now - retention`, and may be put, replaced or deleted while
`time > now - grace`; both bounds are exclusive, so retention 10 at now 100 reads
91 and not 90, and grace 0 takes nothing, not even the newest. Only a put moves now,
and it drops the segments it has outlived before it does anything else.

Invariant: every segment has a record; no whole interval of segments is at or below
`now - retention` unless an open iterator may still come to it; a new call shows nothing of
what is outlived, whatever is still held.

>>> store = InMemoryWindowStore("clicks", retention=60, window_size=10, grace=30)
>>> store.put("ann", 1, time=100), store.put("bob", 5, time=100), store.put("ann", 2, time=110)
(True, True, True)
>>> store.put("ann", 3, time=100)  # replaces 1: 100 > 110 - 30
True
>>> list(store.fetch("ann", 100, 110))
[Entry(key='ann', time=100, value=3), Entry(key='ann', time=110, value=2)]
>>> store.put("bob", 7, time=130), store.put("bob", 6, time=100)  # 100 > 130 - 30 is false
(True, False)
>>> store.expired, store.fetch("bob", 100)  # expired to write, still there to read
(1, 5)
>>> store.put("bob", None, time=110)  # deletes nothing, and may: 110 > 130 - 30
True
>>> store.put("eve", 1, time=165)
True
>>> [(e.key, e.time) for e in store.all(backward=True)]  # 100 > 165 - 60 is false
[('eve', 165), ('bob', 130), ('ann', 110)]
"""

from __future__ import annotations

from typing import Any, overload
from weakref import WeakSet

from sortedcontainers import SortedDict

from sqlwin.instants import START
from sqlwin.state.stores.window_entries import Entries, Entry
from sqlwin.state.stores.window_sizes import Size, check_sizes, instants_of

Segment = SortedDict
"""Key to value; with duplicates, key to a list of values."""


class InMemoryWindowStore:
    """Records by (key, window start), gone once stream time has outlived them.

    name: for messages. retention, window_size, grace: in the unit of the times, or
    `timedelta`s, where times are microseconds since the epoch; grace None is retention.
    retain_duplicates: keep every record of one key and start. segment_interval: how many
    instants are dropped together once all of them are outlived (they are hidden at once
    all the same); None drops each alone. ValueError for sizes that cannot be.

    Keys are whatever has an order among themselves, values whatever is not None.
    Times are integers. Bounds of a range of times, or of keys, are inclusive, as in
    Kafka's API; `lo > hi` is an empty range; a bound of None is open.

    Iterators survive puts and expiry, as Kafka's do: they never fail and show what was
    there throughout, also what has been outlived since they were opened; it is dropped
    once no iterator can come to it. They take a segment when they reach it, so a put at
    or before the present place is not shown, and one further on is. `close` ends one
    early; one that nothing refers to any more is closed. `backward` is the exact reverse
    of forward.
    """

    def __init__(
        self,
        name: str,
        retention: Size,
        window_size: Size,
        grace: Size | None = None,
        retain_duplicates: bool = False,
        segment_interval: Size | None = None,
    ) -> None:
        retention, window_size = instants_of(retention), instants_of(window_size)
        grace = retention if grace is None else instants_of(grace)
        interval = 1 if segment_interval is None else instants_of(segment_interval)
        check_sizes(name, retention, window_size, grace, interval)
        self.name, self.retention, self.window_size = name, retention, window_size
        self.grace, self.retain_duplicates = grace, retain_duplicates
        self.segment_interval, self.now = interval, START
        self.expired = 0
        self._segments: SortedDict[int, Segment] = SortedDict()
        self._open: WeakSet[Entries] = WeakSet()

    @property
    def first(self) -> int:
        """The least time that can be read."""
        return self.now - self.retention + 1

    def put(self, key: Any, value: Any, time: int) -> bool:
        """Insert or replace, or with value None delete; False, and counted, if expired.

        Where duplicates are retained nothing is replaced, and a delete does nothing.
        TypeError for a key that has no order with its neighbours; nothing was put then.
        """
        _check_key(self.name, key)
        self.now = max(self.now, time)
        self._drop_outlived()
        if time <= self.now - self.grace:
            self.expired += 1
            return False
        if value is None:
            self._delete(key, time)
        else:
            self._insert(key, value, time)
        return True

    def _drop_outlived(self) -> None:
        whole = self._least_held()
        while self._segments and self._segments.peekitem(0)[0] < whole:
            self._segments.popitem(0)

    def _least_held(self) -> int:
        """The first instant that may have a segment."""
        needed = min((entries.least for entries in self._open), default=self.first)
        return min(needed, self.first) // self.segment_interval * self.segment_interval

    def _insert(self, key: Any, value: Any, time: int) -> None:
        segment = self._segments.get(time, Segment())
        if self.retain_duplicates:
            segment.setdefault(key, []).append(value)
        else:
            segment[key] = value
        self._segments[time] = segment  # last: a key without an order leaves no empty segment

    def _delete(self, key: Any, time: int) -> None:
        segment = self._segments.get(time)
        if segment is None or self.retain_duplicates:
            return
        segment.pop(key, None)
        if not segment:
            del self._segments[time]

    @overload
    def fetch(self, key: Any, time: int, /) -> Any: ...

    @overload
    def fetch(
        self, key: Any, lo: int | None, hi: int | None, /, *, backward: bool = False
    ) -> Entries: ...

    def fetch(self, key: Any, lo: int | None, /, *hi: int | None, backward: bool = False) -> Any:
        """At one time: the value or None; of duplicates the newest. From one to another: all."""
        _check_key(self.name, key)
        if hi:
            return self._entries(lo, hi[0], backward, key, key)
        found = list(self._entries(lo, lo, False, key, key))
        return found[-1].value if found else None

    def fetch_range(
        self, key_from: Any, key_to: Any, lo: int | None, hi: int | None, *, backward: bool = False
    ) -> Entries:
        """Records of a range of keys in a range of times, by time, then by key."""
        return self._entries(lo, hi, backward, key_from, key_to)

    def fetch_all(self, lo: int | None, hi: int | None, *, backward: bool = False) -> Entries:
        """Records of every key in a range of times, by time, then by key."""
        return self._entries(lo, hi, backward)

    def all(self, *, backward: bool = False) -> Entries:
        """Every record that can be read, by time, then by key."""
        return self._entries(None, None, backward)

    def _entries(
        self,
        lo: int | None,
        hi: int | None,
        backward: bool,
        key_from: Any = None,
        key_to: Any = None,
    ) -> Entries:
        least = self.first if lo is None else max(lo, self.first)
        opened = Entries(self, least, hi, backward, (key_from, key_to))
        self._open.add(opened)
        return opened

    def next_segment(self, lo: int, hi: int | None, backward: bool) -> int | None:
        """The nearest segment of a range; looked up anew, since puts may come in between."""
        if hi is not None and lo > hi:
            return None
        return next(self._segments.irange(lo, hi, reverse=backward), None)

    def of_segment(self, time: int, backward: bool, key_from: Any, key_to: Any) -> list[Entry]:
        segment = self._segments[time]
        if key_from is not None and key_from == key_to:
            keys = [key_from] if key_from in segment else []
        elif key_from is not None and key_to is not None and key_from > key_to:
            keys = []
        else:
            keys = list(segment.irange(key_from, key_to))
        found = [Entry(key, time, value) for key in keys for value in self._values(segment[key])]
        return found[::-1] if backward else found

    def closed(self, entries: Entries) -> None:
        self._open.discard(entries)
        self._drop_outlived()

    def _values(self, place: Any) -> list[Any]:
        return place if self.retain_duplicates else [place]

    def __len__(self) -> int:
        """How many records can be read."""
        return sum(1 for _ in self.all())

    def _check(self) -> None:
        try:
            self._segments._check()
            whole = self._least_held()
            for time, segment in self._segments.items():
                assert whole <= time <= self.now
                assert segment
                segment._check()
                for place in segment.values():
                    values = self._values(place)
                    assert values and all(value is not None for value in values)
        except AssertionError as broken:
            insides = f"{self.name}: now {self.now}, {dict(self._segments)}"
            raise AssertionError(f"{broken}\n{insides}") from broken


def _check_key(name: str, key: Any) -> None:
    if key is None:
        raise ValueError(f"window store {name}: a key cannot be None")
