"""The connector `nexmark`: what a stream's options say, and its events in splits.

A split is a stretch of positions, by name. Streams with the same options are slices of
one sequence, so their n-th splits are of the same stretch of time.

    CREATE STREAM bid (auction BIGINT, price BIGINT, dateTime TIMESTAMP,
      WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
    ) WITH (connector = 'nexmark', table = 'bid', events = 100000, rate = 1000)

>>> Nexmark("bid", Sequence(0, 1000, 2500, 0, 0), step=1000).splits
['0-1000', '1000-2000', '2000-2500']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.instants import parse_instant
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.connectors import STREAMS
from sqlwin.plan.options.option import duration
from sqlwin.runtime.nexmark.sequence import LONGEST_BLOCK, TABLES, Sequence
from sqlwin.runtime.nexmark.tables import COLUMNS, made
from sqlwin.schema import PART, SEQ, type_name

DEFAULTS: Mapping[str, str] = {
    option.name: option.default for option in STREAMS["nexmark"] if option.default
}
BYTES = 100
"""About what an event takes, as Nexmark says of a bid."""


@dataclass(frozen=True)
class Nexmark:
    """step: positions in a split."""

    table: str
    sequence: Sequence
    step: int

    @cached_property
    def splits(self) -> list[str]:
        events = self.sequence.events
        return [f"{lo}-{min(lo + self.step, events)}" for lo in range(0, events, self.step)]

    def weight(self, split: str) -> int:
        """In bytes; the same for each table, so that batches cut all at the same event."""
        lo, hi = span_of(split)
        return (hi - lo) * BYTES

    def read(self, split: str, columns: Iterable[str]) -> pl.DataFrame:
        """The table's events of a split with their positions, `__part` 0 and `__seq`."""
        lo, hi = span_of(split)
        arrivals = self.sequence.arrivals(self.table, lo, hi)
        place = pl.lit(0, pl.Int32).alias(PART), pl.Series(SEQ, arrivals)
        return made(self.table, self.sequence, arrivals, columns).with_columns(*place)


def span_of(split: str) -> tuple[int, int]:
    """The positions lo <= p < hi of a split."""
    lo, hi = split.split("-")
    return int(lo), int(hi)


def declared(stream: Stream) -> Nexmark:
    """QueryError for a table or a column that nexmark does not have; options were checked."""
    given = {**DEFAULTS, **dict(stream.options)}
    found = Nexmark(
        dict(stream.options).get("table", stream.name).lower(),
        Sequence(
            seed=int(given["seed"]),
            rate=int(given["rate"]),
            events=int(given["events"]),
            disorder=duration(given["out-of-orderness"]),
            base=parse_instant(given["base.time"]),
        ),
        int(given["step.events"]),
    )
    if found.table not in TABLES:  # the stream's name
        message = f"nexmark has no table {found.table!r}, which stream {stream.name} names"
        raise QueryError(message, legal=" or ".join(f"table = '{known}'" for known in TABLES))
    if found.sequence.block >= LONGEST_BLOCK:
        message = f"the out-of-orderness of {stream.name} shuffles {found.sequence.block:,} events"
        raise QueryError(message, legal=f"fewer than {LONGEST_BLOCK:,}")
    _columns(stream, found.table)
    return found


def _columns(stream: Stream, table: str) -> None:
    known = COLUMNS[table]
    for column in stream.columns:
        if column.name not in known:
            message = f"nexmark's {table} has no column {column.name}, as stream {stream.name} says"
            raise QueryError(message, legal=", ".join(known))
        if column.type != known[column.name][0]:
            message = f"{column.name} of stream {stream.name} is {type_name(column.type)}"
            legal = f"{column.name} {type_name(known[column.name][0])}, as nexmark's {table} has it"
            raise QueryError(message, legal=legal)
