"""Rows that arrive, sent to the driver for those who look at a run: a recording, the live page.

Of each stream and batch a query gives the first rows up to a bound, in each task of the source and
again on the driver: a run that reads millions of rows is recorded in a file of some megabytes.

>>> sent = Arrivals(rows=3).sent(0, "s", pl.DataFrame({"n": [1, 2, 3, 4]}))
>>> [(name, list(rows["n"])) for name, rows in collected(sent)]
[('s', [1, 2, 3])]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.connectors.progress import MOST_ARRIVALS
from sqlwin.spark.stages.wire import decode, encode, packed_blob, unpacked_blob

MOST_BYTES = 16 << 20


@dataclass
class Arrivals:
    """What a task sends. rows, size (in bytes): at most, of a stream to a query."""

    rows: int = MOST_ARRIVALS
    size: int = MOST_BYTES
    left: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)

    def sent(self, query: int, stream: str, rows: pl.DataFrame) -> Iterator[bytes]:
        """Payloads with the name of the stream."""
        most, size = self.left.get((query, stream), (self.rows, self.size))
        part = _within(rows.head(most), size)
        self.left[query, stream] = most - len(part), size - int(part.estimated_size())
        if not part.is_empty():
            yield from (packed_blob(stream, payload) for payload in encode(part))


def collected(payloads: Iterable[bytes]) -> list[tuple[str, pl.DataFrame]]:
    """Of one query and batch, by stream."""
    found: dict[str, list[pl.DataFrame]] = {}
    for payload in payloads:
        name, data = unpacked_blob(payload)
        found.setdefault(name, []).append(decode(data))
    return [(name, pl.concat(parts).head(MOST_ARRIVALS)) for name, parts in found.items()]


def _within(rows: pl.DataFrame, size: int) -> pl.DataFrame:
    """As many of the first rows as have about that size."""
    whole = int(rows.estimated_size())
    return rows if whole <= size else rows.head(max(0, len(rows) * size // whole))
