"""The progress of a run: rows each batch read, emitted and rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from sqlwin.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import polars as pl

MOST_ARRIVALS = 10_000
"""Rows of a stream and a batch that Spark's workers send to those who look at a run."""


@dataclass(frozen=True)
class Batch:
    """number: of the batch. read, emitted: rows. watermarks: by stream, microseconds."""

    number: int
    read: int
    emitted: int
    refused: int
    watermarks: dict[str, int]


@dataclass(frozen=True)
class BatchRows:
    """What a batch of one query took in and gave. query: its number in the script, from 0.

    taken: rows of each stream, as they are decoded; on Spark the first `MOST_ARRIVALS`.
    before, after: watermarks by stream, microseconds. now: processing time.
    """

    query: int
    number: int
    taken: Sequence[tuple[str, pl.DataFrame]]
    results: pl.DataFrame
    errors: pl.DataFrame
    before: Mapping[str, int]
    after: Mapping[str, int]
    now: int
    read: int


OnRows = Callable[[BatchRows], None]
OnBatch = Callable[[Batch], None]
OnErrors = Callable[["pl.DataFrame"], None]
OnWarning = Callable[[str], None]


@dataclass
class Summary:
    """A whole run, all queries together: a row that two queries read is read twice.

    refused: rows of the error stream by reason, without the details. replayed: messages
    that were taken in before, and so did nothing. stopped: whether it was made to end between two
    batches.
    """

    read: int = 0
    emitted: int = 0
    batches: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    replayed: int = 0
    stopped: bool = False

    def add(self, batch: Batch, errors: pl.DataFrame) -> None:
        from sqlwin.runtime.rows.error_stream import reasons

        self.read += batch.read
        self.emitted += batch.emitted
        self.batches += 1
        self.refused.update(reasons(errors))
