"""The watermark of a stream: the greatest event time seen, less the delay.

Where a source has partitions the minimum over them counts. A watermark never
goes back, not even when a slow partition shows up late.

A stream of processing time has the clock for its watermark, rows or none.

With an idle timeout a partition that had no row for so long, in processing time, is idle and does
not hold the watermark back; where all are idle, the one that is ahead counts.

>>> clock = Watermarks({"orders": 5})
>>> clock.observe("orders", {0: 100, 1: 70}); clock.of("orders")
65
>>> clock.observe("orders", {2: 10}); clock.of("orders")
65
>>> clock = Watermarks({"orders": 0}, by_clock=frozenset({"orders"}))
>>> clock.pass_time(50); clock.of("orders")
50
>>> clock = Watermarks({"orders": 0}, idle={"orders": 30})
>>> clock.observe("orders", {0: 100, 1: 70}, now=1); clock.of("orders"), clock.deadline()
(70, 31)
>>> clock.observe("orders", {0: 110}, now=31); clock.of("orders")
110
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass

Marks = Mapping[int, int]
"""Partition of the source to the greatest event time seen in it, microseconds."""


@dataclass
class Watermarks:
    """delays: microseconds by stream. idle: the timeouts of those that have one. last_input:
    by stream with one and partition, the processing time of the last batch with rows of it.
    by_clock: streams whose event time is processing time."""

    delays: dict[str, int]
    idle: Mapping[str, int] = field(default_factory=dict)
    seen: dict[str, dict[int, int]] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    last_input: dict[str, dict[int, int]] = field(default_factory=dict)
    by_clock: frozenset[str] = frozenset()

    def of(self, stream: str) -> int:
        return self.reached.get(stream, START)

    def least(self, streams: Iterable[str]) -> int:
        """That of a query over `streams`: it knows no more than the slowest of them."""
        return min(self.of(stream) for stream in streams)

    def observe(self, stream: str, marks: Marks, now: int = 0) -> None:
        """now: the processing time of the batch."""
        if not marks:
            return
        seen = self.seen.setdefault(stream, {})
        for part, ts in marks.items():
            seen[part] = max(ts, seen.get(part, START))
        if stream in self.idle:
            self.last_input.setdefault(stream, {}).update(dict.fromkeys(marks, now))
        self.raise_to(stream, self._least(stream, now))

    def pass_time(self, now: int) -> None:
        """Partitions that are idle by now hold nothing back, and the clock is some watermarks."""
        for stream in self.by_clock:
            self.raise_to(stream, now - self.delays[stream])
        for stream in self.idle:
            seen, last_input = self.seen.get(stream, {}), self.last_input.setdefault(stream, {})
            for part in seen.keys() - last_input.keys():  # seen by a run without a timeout
                last_input[part] = now
            if seen:
                self.raise_to(stream, self._least(stream, now))

    def deadline(self) -> int | None:
        """The next processing time at which a watermark rises by idleness; None: it does not."""
        times = (self._rises(stream) for stream in self.idle)
        return min((at for at in times if at is not None), default=None)

    def _rises(self, stream: str) -> int | None:
        last_input = self.last_input.get(stream, {}).values()
        ends = sorted({at + self.idle[stream] for at in last_input})
        return next((at for at in ends if self._least(stream, at) > self.of(stream)), None)

    def _least(self, stream: str, now: int) -> int:
        """The watermark that the partitions give that are not idle."""
        seen, last_input = self.seen[stream], self.last_input.get(stream, {})
        if stream not in self.idle:
            return min(seen.values()) - self.delays[stream]
        since = now - self.idle[stream]
        awake = [ts for part, ts in seen.items() if last_input.get(part, now) > since]
        return (min(awake) if awake else max(seen.values())) - self.delays[stream]

    def raise_to(self, stream: str, watermark: int) -> None:
        self.reached[stream] = max(watermark, self.of(stream))

    def to_json(self) -> dict[str, object]:
        seen = {
            stream: {str(p): ts for p, ts in parts.items()} for stream, parts in self.seen.items()
        }
        saved: dict[str, object] = {"seen": seen, "reached": dict(self.reached)}
        if self.idle:
            saved["heard"] = {
                stream: {str(p): at for p, at in parts.items()}
                for stream, parts in self.last_input.items()
            }
        return saved

    def restore(self, saved: Mapping[str, Mapping[str, object]]) -> None:
        self.seen = _by_part(saved["seen"])
        known = _by_part(saved.get("heard", {}))
        self.last_input = {stream: parts for stream, parts in known.items() if stream in self.idle}
        self.reached = {stream: int(w) for stream, w in saved["reached"].items()}  # type: ignore[call-overload]


def _by_part(saved: Mapping[str, object]) -> dict[str, dict[int, int]]:
    return {
        stream: {int(p): int(at) for p, at in parts.items()}  # type: ignore[attr-defined]
        for stream, parts in saved.items()
    }


def merged(one: Marks, other: Marks) -> dict[int, int]:
    """The greatest of each partition."""
    both = one.keys() | other.keys()
    return {part: max(x[part] for x in (one, other) if part in x) for part in both}


def each_merged(
    one: Mapping[str, Marks], other: Mapping[str, Marks]
) -> dict[str, Mapping[int, int]]:
    """Stream by stream."""
    both = {**one, **other}
    return {stream: merged(one.get(stream, {}), other.get(stream, {})) for stream in both}
