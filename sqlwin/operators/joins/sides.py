"""One side of a join: its rows, the store they lie in, and how far its partners are.

Rows have the side's columns, their place (`__ts`, partition, position) and, under ROWS,
their number `__pos`. The store is SAMZA-552's message store; its key is

| window | equal keys       | message key                 |
|--------|------------------|-----------------------------|
| ROWS   | no, or small     | number                      |
| ROWS   | large            | equal keys, number          |
| RANGE  | no               | time, position              |
| RANGE  | small            | time, equal keys, position  |
| RANGE  | large, or no end | equal keys, time, position  |

Where the equal keys come first a scan reads only those it is asked for.

Invariant: in the store is each row that may match one that is not expired, and each that is
not expired itself. So, of a side whose partners are at most `reach` later, those at
`closed - reach - retain` and after. Under ROWS, where nothing expires, a row may be evicted
as soon as all its partners have come: then it cannot be retracted any more.

>>> from sqlwin.windows import Unit
>>> from sqlwin.windows.joins import JoinWindow
>>> side = Side("left", {"k": pl.String()}, ("k",), JoinWindow(Unit.RANGE, -5, 10), slice_width=60)
>>> side.layout.keys, side.layout.order
((), ('__ts', 'k', '__part', '__seq'))
>>> side.complete_below(100, 0, retain=20), side.horizon(100, 0, retain=20)
(90, 70)
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Literal

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.joins.arrivals import Arrivals
from sqlwin.operators.joins.schema import POS
from sqlwin.operators.load import Expected, Retained, not_estimated
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Policy
from sqlwin.schema import PART, SEQ, TS, WEIGHT
from sqlwin.state.combine import keep_all, last_written
from sqlwin.state.contract import Layout
from sqlwin.windows import Unit
from sqlwin.windows.joins import JoinWindow, SpannedWindow

Columns = dict[str, pl.DataType]


@dataclass(frozen=True)
class Side:
    """columns: of its rows. keys: equal to those of the other side, one by one.

    window: how far partners are from its rows. place: what distinguishes rows of one instant,
    and breaks ties. large: the window is, so read by keys. weighted: rows may be retracted.
    forgets: by a TTL, so what corrects a row may have to stand for it. timed: they have an event
    time; what has none is not evicted by time. number: one of the columns, which its rows have from
    their number.
    """

    name: str
    columns: Columns
    keys: tuple[str, ...]
    window: JoinWindow
    slice_width: int
    large: bool = False
    weighted: bool = False
    forgets: bool = False
    timed: bool = True
    number: str | None = None
    place: Columns = field(default_factory=lambda: {PART: pl.Int32(), SEQ: pl.Int64()})

    @property
    def at(self) -> str:
        """The column that windows measure."""
        return POS if self.window.unit is Unit.ROWS else TS

    @property
    def dated(self) -> bool:
        """Whether its rows may be late."""
        return self.timed and self.at == TS

    @property
    def ends(self) -> str:
        """The column of `bounded` rows by which they are complete."""
        return self.at

    @cached_property
    def marks(self) -> Columns:
        """What a row has beside its columns; by these it is known."""
        number: Columns = {POS: pl.Int64()} if self.at == POS else {}
        return {TS: pl.Int64(), **self.place, **number}

    @property
    def row(self) -> Columns:
        return {**self.columns, **self.marks}

    @property
    def identity(self) -> tuple[str, ...]:
        return (self.at, *self.place)

    @property
    def keyed(self) -> bool:
        """Whether the store has the equal keys first."""
        endless = self.at == TS and None in (self.window.low, self.window.high)
        return bool(self.keys) and (self.large or endless)

    @property
    def first(self) -> tuple[str, ...]:
        """The keys that a store with a record for each row begins with."""
        return self.keys if self.keyed else ()

    @property
    def order(self) -> tuple[str, ...]:
        """What follows them."""
        between = self.keys if self.at == TS and not self.keyed else ()
        return (self.at, *between, *self.place)

    @cached_property
    def layout(self) -> Layout:
        weight: Columns = {WEIGHT: pl.Int8()} if self.weighted else {}
        return self.layout_of(self.name, {**self.row, **weight})

    def layout_of(self, name: str, columns: Columns) -> Layout:
        """Of a store with a record for each row; columns: those of the message key among them."""
        return Layout(name, tuple(columns.items()), self.first, self.order, self.slice_width)

    def spec(self, policy: Policy) -> StoreSpec:
        """Of its rows."""
        combine = last_written if self.weighted else keep_all
        expected, ttl = self.expected(policy), self._ttl
        return StoreSpec(self.layout, combine(self.layout), "rows", expected, ttl)

    def record(self, name: str, columns: Columns, words: str, policy: Policy) -> StoreSpec:
        """A store with a record for each row, written when it comes or pairs."""
        layout = self.layout_of(name, columns)
        kept = (last_written(layout), words, self.expected(policy), self._ttl)
        return StoreSpec(layout, *kept, renews=False)

    @property
    def _ttl(self) -> Literal["left", "right"]:
        return "right" if self.name == "right" else "left"

    def expected(self, policy: Policy) -> Expected:
        """Rows of a load; of those without an end no RETAIN but one of rows is known."""
        if self.at == POS:
            return not_estimated
        at, retain = int(self.name == "right"), policy.retain if self.timed else None
        keyed, reach = bool(self.keys), max(self.window.high or 0, 0)
        retained = Retained(retain, policy.retain_rows, self.slice_width, keyed, at)
        return lambda load: retained.rows(load, reach)

    # Rows that come.

    def numbered(self, rows: pl.DataFrame) -> pl.DataFrame:
        """With what numbers say: those of spans have them among their columns."""
        if isinstance(self.window, SpannedWindow):
            rows = rows.with_columns(pl.col(self.window.first).alias(POS))
        return rows if self.number is None else rows.with_columns(pl.col(POS).alias(self.number))

    def arrivals(self, batch: pl.DataFrame, stores: Stores) -> Arrivals:
        """Of several rows of one position the last counts; a weight of -1 retracts.

        A position whose first row retracts one that is not there is left alone; where
        rows are forgotten, the retraction is.
        """
        if not self.weighted:
            rows = batch.select(*self.row)
            return Arrivals(rows, rows.clear())
        weight = pl.col(WEIGHT) if WEIGHT in batch.columns else pl.lit(1, pl.Int8()).alias(WEIGHT)
        rows = batch.select(*self.row, weight)
        there = self.scan(stores, *bounds(rows[self.at]))
        stored = there.join(rows, on=list(self.identity), how="semi", maintain_order="left")
        first = rows.unique(self.identity, keep="first").filter(pl.col(WEIGHT) < 0)
        known = rows if self.forgets else self.less(rows, self.less(first, stored))
        last = known.unique(self.identity, keep="last", maintain_order=True)
        added = last.filter(pl.col(WEIGHT) > 0).drop(WEIGHT)
        same = stored.join(added, on=list(self.row), how="semi", nulls_equal=True)
        return Arrivals(self.less(added, same), self.less(stored, same))

    def less(self, rows: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
        """`rows` without those that are among `others`."""
        if others.is_empty() or rows.is_empty():
            return rows
        return rows.join(others, on=list(self.identity), how="anti", maintain_order="left")

    def put(self, arrivals: Arrivals, stores: Stores) -> None:
        if not self.weighted:
            stores[self.name].put(arrivals.new)
            return
        for rows, weight in ((arrivals.were, -1), (arrivals.new, 1)):  # its keys may be others
            stores[self.name].put(rows.with_columns(pl.lit(weight, pl.Int8).alias(WEIGHT)))

    # Rows that are there.

    def scan(
        self, stores: Stores, lo: int = START, hi: int = END, keys: pl.DataFrame | None = None
    ) -> pl.DataFrame:
        rows = stores[self.name].scan(lo, hi, keys)
        return rows.filter(pl.col(WEIGHT) > 0).drop(WEIGHT) if self.weighted else rows

    def near(self, rows: pl.DataFrame, other: Side, stores: Stores) -> pl.DataFrame:
        """Stored rows among which are all partners of `rows`, which are of the other side."""
        if rows.is_empty():
            return self.layout.empty().select(*self.row)
        first, last = bounds(rows[self.at])
        low, high = other.window.low, other.window.high
        lo = START if low is None else first + low
        hi = END if high is None else last + high
        return self.scan(stores, lo, hi, self.keys_of(rows, other) if self.keyed else None)

    def bounded(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Rows with the column `ends`."""
        return rows

    def ending(self, stores: Stores, lo: int, hi: int) -> pl.DataFrame:
        """Stored rows with `lo <= ends < hi`."""
        return self.scan(stores, lo, hi)

    def keys_of(self, rows: pl.DataFrame, other: Side) -> pl.DataFrame:
        """The keys of the other side's rows, under this side's names."""
        named = zip(self.keys, other.keys, strict=True)
        return rows.select(pl.col(old).alias(new) for new, old in named).drop_nulls().unique()

    # Rows that leave.

    def complete_below(self, closed: int, counted: int, retain: int | None) -> int:
        """No partner is still to come of rows at earlier positions.

        counted: messages of the other side that have come. Where partners may be later
        without end, rows are complete when RETAIN evicts them.
        """
        reach = self.window.high
        if self.at == POS:
            return START if reach is None else counted - reach + 1
        if reach is None:
            return START if retain is None or not self.timed else closed - retain
        return closed - reach

    def horizon(self, closed: int, counted: int, retain: int | None) -> int:
        """Rows at earlier positions are evicted."""
        reach = self.window.high
        if self.at == POS or reach is None:
            return self.complete_below(closed, counted, retain)
        return START if retain is None else closed - max(reach, 0) - retain
