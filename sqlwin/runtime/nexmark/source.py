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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.instants import parse_instant
from sqlwin.plan.nodes import Stream
from sqlwin.runtime.nexmark.sequence import LONGEST_BLOCK, TABLES, Sequence
from sqlwin.runtime.nexmark.tables import COLUMNS, made
from sqlwin.schema import PART, SEQ, type_name

DEFAULTS: Mapping[str, str] = {
    "events": "100000",
    "rate": "1000",
    "seed": "0",
    "out-of-orderness": "0 seconds",
    "base.time": "2015-07-15T00:00:00Z",
    "step.events": "10000",
}
OPTIONS = ("connector", "table", *DEFAULTS)
MOST = 10**12
BYTES = 100
"""About what an event takes, as Nexmark says of a bid."""

T = TypeVar("T")


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
    """QueryError for an option or a column that nexmark does not have."""
    options = dict(stream.options)
    given = partial(_given, stream.name, {**DEFAULTS, **options})
    found = Nexmark(
        _table(stream.name, options.get("table", stream.name)),
        Sequence(
            seed=given("seed", _count, f"a whole number, 0 to {MOST:,}: seed = 1"),
            rate=given("rate", _positive, "events a second, 1 or more: rate = 1000"),
            events=given("events", _positive, f"how many, 1 to {MOST:,}: events = 100000"),
            disorder=given("out-of-orderness", _duration, "'4 seconds'"),
            base=given("base.time", parse_instant, "'2015-07-15T00:00:00Z'"),
        ),
        given("step.events", _positive, "events a step, 1 or more: 'step.events' = 10000"),
    )
    if found.sequence.block >= LONGEST_BLOCK:
        message = f"the out-of-orderness of {stream.name} shuffles {found.sequence.block:,} events"
        raise QueryError(message, legal=f"fewer than {LONGEST_BLOCK:,}")
    _columns(stream, found.table)
    return found


def _table(stream: str, name: str) -> str:
    if name.lower() not in TABLES:
        message = f"nexmark has no table {name!r}, which stream {stream} names"
        raise QueryError(message, legal=" or ".join(f"table = '{known}'" for known in TABLES))
    return name.lower()


def _given(
    stream: str, options: Mapping[str, str], name: str, read: Callable[[str], T], legal: str
) -> T:
    try:
        return read(options[name])
    except ValueError:
        message = f"stream {stream} has an option {name!r} that cannot be {options[name]!r}"
        raise QueryError(message, legal=legal) from None


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > MOST:
        raise ValueError(text)
    return int(text)


def _positive(text: str) -> int:
    if not _count(text):
        raise ValueError(text)
    return int(text)


def _duration(text: str) -> int:
    from sqlwin.sql.durations import micros  # here: with it comes all of the front end

    found = micros(text, None)
    if found < 0:
        raise ValueError(text)
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
