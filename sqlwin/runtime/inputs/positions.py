"""The greatest position read from each partition of each stream of a query.

>>> one = Positions(("orders",))
>>> one.note("orders", {0: 7}); one.note("orders", {0: 5, 1: 2}); one.to_json()
{0: 7, 1: 2}

Where a query reads several streams, they are kept by name:

>>> two = Positions(("orders", "shipments"))
>>> two.note("shipments", {0: 3}); two.to_json()
{'orders': {}, 'shipments': {0: 3}}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from sqlwin.lazy_dataclass import dataclass


@dataclass
class Positions:
    """streams: names, each once."""

    streams: tuple[str, ...]
    taken: dict[str, dict[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.taken = {name: {} for name in self.streams}

    def of(self, stream: str) -> dict[int, int]:
        """By partition."""
        return self.taken[stream]

    def note(self, stream: str, positions: Mapping[int, int]) -> None:
        known = self.taken[stream]
        for part, seq in positions.items():
            known[part] = max(seq, known.get(part, seq))

    def to_json(self) -> dict[Any, Any]:
        """Of one stream without its name, as it was before there could be two."""
        return self.taken if len(self.streams) > 1 else self.taken[self.streams[0]]

    def restore(self, saved: Mapping[str, Any]) -> None:
        by_stream = saved if len(self.streams) > 1 else {self.streams[0]: saved}
        for stream, positions in by_stream.items():
            self.note(stream, {int(part): seq for part, seq in positions.items()})
