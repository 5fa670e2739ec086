"""A task: one bucket of a query, its operator, its stores and its clock.

A task is what both hosts run; a bucket of keys is Samza's task. `take` is one
batch: late rows by the watermark before it, then the watermark the batch brings,
then the clock, then, if it is the last, the end of input. `commit` writes stores
and clock together, so that what is stored never knows more than what was taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.runtime.back import Back
from sqlwin.runtime.lower import Lowered
from sqlwin.runtime.stores import shapes
from sqlwin.runtime.watermarks import Marks, Watermarks
from sqlwin.state.contract import Blobs, SegmentCache, Store
from sqlwin.state.memory import MemoryStore
from sqlwin.state.segments import SEGMENT_ROWS, SegmentStore

HEADER = "header"
VERSION = 1


@dataclass(frozen=True)
class Output:
    """results: as `Back.schema`. watermarks: after the batch. deadline: of the next tick."""

    results: pl.DataFrame
    watermarks: dict[str, int]
    deadline: int | None


class Task:
    """blobs: where state is kept; None keeps it in memory only.

    token: unlike any given before for these blobs; it names new segments.
    segment_rows: the most rows of one segment.
    """

    def __init__(
        self,
        query: Lowered,
        blobs: Blobs | None = None,
        token: str = "",
        cache: SegmentCache | None = None,
        segment_rows: int = SEGMENT_ROWS,
    ) -> None:
        self.query = query
        self.back = Back(query)
        self.clock = Watermarks({query.stream.name: query.stream.delay})
        self.blobs, self.token, self.segment_rows = blobs, token, segment_rows
        header = _header(blobs)
        self.stores = self._stores(header, cache)
        if header:
            self.clock.restore(header["watermarks"])

    def take(
        self,
        rows: Iterable[pl.DataFrame],
        marks: Iterable[Marks],
        now: int,
        end: bool = False,
        watermark: int | None = None,
    ) -> Output:
        """One batch of rows that the front prepared, and what all its partitions saw.

        watermark: raise the stream's watermark at least to this instant.
        """
        stream = self.query.stream.name
        for seen in marks:
            self.clock.observe(stream, seen)
        if watermark is not None:
            self.clock.raise_to(stream, watermark)
        batch = list(rows)
        if self.query.operator is None:
            return self._output([self.back.pass_on(part) for part in batch])
        return self._output([self.back.show(self._operate(batch, now, end))])

    def commit(self) -> None:
        """Write the stores' changes and the header into the blobs."""
        if self.blobs is None:
            return
        indexes = {
            name: store.flush(self.token)
            for name, store in self.stores.named.items()
            if isinstance(store, SegmentStore)
        }
        header = {
            "version": VERSION,
            "watermarks": self.clock.to_json(),
            "closed": self.stores.closed,
            "pending": self.stores.pending,
            "stores": indexes,
        }
        self.blobs.put(HEADER, json.dumps(header).encode())

    def _operate(self, batch: list[pl.DataFrame], now: int, end: bool) -> pl.DataFrame:
        operator, stores = self.query.operator, self.stores
        assert operator is not None
        out = [operator.on_batch(pl.concat(batch), stores, now)] if batch else []
        out.append(operator.on_watermark(self.clock.of(self.query.stream.name), stores, now))
        out.append(operator.on_tick(now, stores))
        if end:
            out.append(operator.on_end(stores, now))
        return pl.concat(out)

    def _output(self, results: list[pl.DataFrame]) -> Output:
        operator = self.query.operator
        return Output(
            pl.concat([self.back.nothing(), *results]),
            {name: self.clock.of(name) for name in self.clock.delays},
            None if operator is None else operator.next_deadline(self.stores),
        )

    def _stores(self, header: dict[str, Any], cache: SegmentCache | None) -> Stores:
        operator = self.query.operator
        named: dict[str, Store] = {}
        for layout, combine in [] if operator is None else shapes(operator):
            if self.blobs is None:
                named[layout.name] = MemoryStore(layout, combine)
            else:
                index = header["stores"][layout.name] if header else None
                named[layout.name] = SegmentStore(
                    layout,
                    combine,
                    self.blobs,
                    self.token,
                    index=index,
                    segment_rows=self.segment_rows,
                    cache=cache,
                )
        stores = Stores(named)
        if header:
            stores.closed = header["closed"]
            stores.pending = header["pending"]
        return stores


def _header(blobs: Blobs | None) -> dict[str, Any]:
    if blobs is None:
        return {}
    try:
        header: dict[str, Any] = json.loads(blobs.get(HEADER))
    except KeyError:
        return {}
    return header
