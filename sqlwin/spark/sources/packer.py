"""Prepared rows, packed as payloads for the buckets of a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.lowering.input_pipelines import PreparedBatch
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.spark.stages.buckets import cut
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import ARRIVED, ERRORS, MARK, ROWS, WARNING, of_input
from sqlwin.spark.stages.wire import CAP, Mark, Packed, encode

Slot = tuple[int, int]
"""Number of the input, bucket."""
Payloads = Iterable[bytes]


@dataclass
class Packer:
    """Prepared rows of one query, by input and bucket, until there are enough for a payload."""

    program: Program
    query: int
    pending: dict[Slot, list[tuple[int, pl.DataFrame]]] = field(default_factory=dict)
    bytes: dict[Slot, int] = field(default_factory=dict)

    def add(self, at: int, rows: pl.DataFrame, number: int = 0) -> Iterator[Packed]:
        """Rows from position `at` on, of the input with that number."""
        by, labels = self.program.cut_by(self.query, number), self.program.labels[self.query]
        for bucket, part in cut(rows, by, len(labels)):
            slot = (number, bucket)
            self.pending.setdefault(slot, []).append((at, part))
            self.bytes[slot] = self.bytes.get(slot, 0) + int(part.estimated_size())
            if self.bytes[slot] >= CAP:
                yield from self._flushed(slot)

    def add_batch(self, at: int, decoded_rows: PreparedBatch) -> Iterator[Packed]:
        """Prepared rows from position `at` on."""
        for number, frames in decoded_rows.rows.items():
            for rows in frames:
                yield from self.add(at, rows, number)

    def flush(self) -> Iterator[Packed]:
        for slot in list(self.pending):
            yield from self._flushed(slot)

    def errors(self, at: int, errors: pl.DataFrame) -> Iterator[Packed]:
        label = self.program.labels[self.query][0]
        if not errors.is_empty():
            for payload in encode(errors):
                yield Packed(self.query, label, ERRORS, at, payload)

    def warn(self, at: int, warnings: Iterable[str]) -> Iterator[Packed]:
        label = self.program.labels[self.query][0]
        for warning in warnings:
            yield Packed(self.query, label, WARNING, at, warning.encode())

    def arrived(self, at: int, payloads: Payloads) -> Iterator[Packed]:
        label = self.program.labels[self.query][0]
        for payload in payloads:
            yield Packed(self.query, label, ARRIVED, at, payload)

    def mark(self, mark: Mark) -> Iterator[Packed]:
        """To all buckets; its counts to one of them."""
        first, *others = self.program.labels[self.query]
        yield Packed(self.query, first, MARK, 0, mark.dump())
        uncounted = replace(mark, taken=0, late=0, expired=0).dump()
        yield from (Packed(self.query, label, MARK, 0, uncounted) for label in others)

    @property
    def lowered(self) -> Lowered:
        return self.program.lowered[self.query]

    def _flushed(self, slot: Slot) -> Iterator[Packed]:
        parts = self.pending.pop(slot)
        self.bytes.pop(slot)
        number, bucket = slot
        label = self.program.labels[self.query][bucket]
        at = parts[0][0]
        for payload in encode(pl.concat([part for _, part in parts])):
            yield Packed(self.query, label, of_input(ROWS, number), at, payload)
            at += 1
