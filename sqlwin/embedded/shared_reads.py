"""Pieces of streams that several queries of a script read: each is read and decoded once.

Queries go through their input each by itself, at the place its own checkpoint says, yet most of
the time side by side. What the first has decoded is kept until all that read the stream have had
it, two pieces of a stream at most, so that a query that is behind after a crash costs no memory.

Invariant: a piece is the same for whoever reads it, by its place and its number; only the watermark
in its malformed rows is the reader's own, and such a piece is shared where that is the same.

>>> shared = SharedReads({"orders": 2})
>>> shared.read("orders", ("a.csv", 0), None, lambda: "read")
'read'
>>> shared.read("orders", ("a.csv", 0), None, lambda: "read again")
'read'
>>> shared.read("orders", ("a.csv", 0), None, lambda: "read again")
'read again'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field
from typing import Any

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream

PIECES = 2
"""Of a stream that are kept."""


@dataclass
class _Kept:
    """left: how many have not read it yet."""

    value: Any
    watermark: int | None
    left: int


@dataclass(frozen=True)
class SharedReads:
    """readers: how many queries read each stream."""

    readers: Mapping[Hashable, int]
    kept: dict[Hashable, dict[Hashable, _Kept]] = field(default_factory=dict)

    @classmethod
    def of(cls, queries: Iterable[Iterable[Stream]]) -> SharedReads:
        """queries: the streams of each."""
        return cls(Counter(stream for streams in queries for stream in set(streams)))

    def read(
        self,
        stream: Hashable,
        piece: Hashable,
        watermark: int | None,
        read: Callable[[], Any],
    ) -> Any:
        """What `read` gives, or gave to another query."""
        others = self.readers.get(stream, 1) - 1
        if not others:
            return read()
        pieces = self.kept.setdefault(stream, {})
        known = pieces.get(piece)
        if known is not None and _is_of(known, watermark):
            known.left -= 1
            if not known.left:
                del pieces[piece]
            return known.value
        pieces.pop(piece, None)
        pieces[piece] = _Kept(read(), watermark, others)
        if len(pieces) > PIECES:
            del pieces[next(iter(pieces))]
        return pieces[piece].value


def _is_of(known: _Kept, watermark: int | None) -> bool:
    errors = getattr(known.value, "errors", ())
    return known.watermark == watermark or not len(errors)
