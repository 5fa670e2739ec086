"""The watermark of a stream: the greatest event time seen, less the delay.

Where a source has partitions the minimum over them counts. A watermark never
goes back, not even when a slow partition shows up late.

>>> clock = Watermarks({"orders": 5})
>>> clock.observe("orders", {0: 100, 1: 70}); clock.of("orders")
65
>>> clock.observe("orders", {2: 10}); clock.of("orders")
65
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlwin.instants import START

Marks = Mapping[int, int]
"""Partition of the source to the greatest event time seen in it, microseconds."""


@dataclass
class Watermarks:
    """delays: microseconds by stream."""

    delays: dict[str, int]
    seen: dict[str, dict[int, int]] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)

    def of(self, stream: str) -> int:
        return self.reached.get(stream, START)

    def least(self, streams: Iterable[str]) -> int:
        """That of a query over `streams`: it knows no more than the slowest of them."""
        return min(self.of(stream) for stream in streams)

    def observe(self, stream: str, marks: Marks) -> None:
        if not marks:
            return
        seen = self.seen.setdefault(stream, {})
        for part, ts in marks.items():
            seen[part] = max(ts, seen.get(part, START))
        self.raise_to(stream, min(seen.values()) - self.delays[stream])

    def raise_to(self, stream: str, watermark: int) -> None:
        self.reached[stream] = max(watermark, self.of(stream))

    def to_json(self) -> dict[str, object]:
        seen = {
            stream: {str(p): ts for p, ts in parts.items()} for stream, parts in self.seen.items()
        }
        return {"seen": seen, "reached": dict(self.reached)}

    def restore(self, saved: Mapping[str, Mapping[str, object]]) -> None:
        self.seen = {
            stream: {int(p): int(ts) for p, ts in parts.items()}  # type: ignore[attr-defined]
            for stream, parts in saved["seen"].items()
        }
        self.reached = {stream: int(w) for stream, w in saved["reached"].items()}  # type: ignore[call-overload]


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
