"""Records of a window store, one after the other, as a call of it shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol


class Entry(NamedTuple):
    """A record; its window is [time, time + window_size)."""

    key: Any
    time: int
    value: Any


class Segments(Protocol):
    """What a store has, by time and then by key."""

    def next_segment(self, lo: int, hi: int | None, backward: bool) -> int | None:
        """The nearest of a range of times, looked up anew, since puts may come in between."""

    def of_segment(self, time: int, backward: bool, key_from: Any, key_to: Any) -> list[Entry]:
        """Its records of a range of keys."""

    def closed(self, entries: Entries) -> None:
        """They need nothing any more."""


class Entries:
    """The records of one call, each when it is come to.

    least, most: the times that are still to come, both inclusive; most None is no bound.
    """

    def __init__(
        self,
        segments: Segments,
        least: int,
        most: int | None,
        backward: bool,
        keys: tuple[Any, Any],
    ) -> None:
        self.least, self.most = least, most
        self._segments, self._backward, self._keys = segments, backward, keys
        self._present: Iterator[Entry] = iter(())

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> Entry:
        while (entry := next(self._present, None)) is None:
            time = self._segments.next_segment(self.least, self.most, self._backward)
            if time is None:
                self.close()
                raise StopIteration
            self._present = iter(self._segments.of_segment(time, self._backward, *self._keys))
            if self._backward:
                self.most = time - 1
            else:
                self.least = time + 1
        return entry

    def close(self) -> None:
        """Show nothing more, and need nothing of what is outlived."""
        self.least, self.most, self._present = 0, -1, iter(())
        self._segments.closed(self)
