"""What sessions hold: spans with accumulators, and messages where an aggregate needs them all.

    prepare   rows to what a batch takes: spans of these rows alone where they are enough
    lift      the same in any case
    alone     rows as sessions of their own, of which nothing is kept
    valued    sessions of `spans` with the results beside them

Invariant: the rows of the messages store are those that sessions count, less what was lost.

Worked example, MEDIAN(n), a gap of 5, rows at 0 and 4: the session [0, 9) is found by its
span, and its median computed of the two messages from 0 to 8.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import polars as pl

from sqlwin.instants import format_instant
from sqlwin.kernels.folds import Fold
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.sessions.changes import Changing
from sqlwin.operators.sessions.judging import doubted
from sqlwin.operators.sessions.merging import Merged, Spans
from sqlwin.operators.sessions.spans import RUN, extent_of, within
from sqlwin.operators.sessions.splitting import Split
from sqlwin.operators.weights import SIGN, effective, there
from sqlwin.operators.windows.folded import Folded
from sqlwin.operators.windows.grouping import FIRST, LAST, NUMBER_OF_SET, Grouping
from sqlwin.operators.windows.messages import MESSAGES
from sqlwin.polars_frames import PLACE
from sqlwin.schema import PART, POSITION, SEQ, TS, WEIGHT
from sqlwin.state.stores.session_store import FROM, UNTIL
from sqlwin.windows import Unit
from sqlwin.windows.session import Session


@dataclass(frozen=True)
class SessionContents(Folded):
    """below: columns of the rows. partition: the session key. where: of messages that count.

    instants: they are kept apart, although no session is ever split. weighted: rows may be
    retracted, and so split one.
    """

    stream: str
    window: Session
    below: dict[str, pl.DataType]
    partition: tuple[str, ...]
    by: Grouping
    folds: tuple[Fold, ...]
    where: str | None = None
    instants: bool = False
    weighted: bool = False

    @cached_property
    def spans(self) -> Spans:
        if self.weighted:
            return Changing(self.window, self.partition, self.by, self.incremental)
        split = self.window.cut or self.instants or set(self.partition) != set(self.by.keys)
        made = Split if split else Merged
        return made(self.window, self.partition, self.by, self.incremental)

    @property
    def by_count(self) -> bool:
        return self.window.unit is Unit.ROWS

    @property
    def message(self) -> dict[str, pl.DataType]:
        """The columns of a message: keys, what full-state aggregates read, position."""
        types = {**self.below, **PLACE}
        kept = {name: types[name] for name in self.read(self.by.keys, self.whole)}
        return {**kept, **(SIGN if self.weighted else {})}

    # Rows in.

    def prepare(self, rows: pl.DataFrame, raw: bool) -> pl.DataFrame:
        """raw: as they are, with the columns that are read."""
        rows = effective(rows) if self.weighted else rows
        if not raw:
            return self.lift(rows)
        window = self.window
        marks = (window.gap_by, window.starts, window.ends, self.where)
        kept = [*self.read(self.by.keys, self.folds), *(mark for mark in marks if mark is not None)]
        weight = [WEIGHT] if self.weighted else []
        return rows.select(list(dict.fromkeys([*kept, *weight, *doubted(rows)])))

    def lift(self, rows: pl.DataFrame) -> pl.DataFrame:
        return self.spans.lift(rows)

    def put(self, rows: pl.DataFrame, stores: Stores) -> None:
        if self.whole:
            messages = rows.select(*self.message)
            # what is retracted is written first, for another may take its place
            stores[MESSAGES].put(messages.sort(WEIGHT) if self.weighted else messages)

    def alone(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Each a session of its own, with the results, and known by the row's position."""
        extent = [pl.col(SEQ).first().alias(name) for name in (FIRST, LAST)]
        longest = [] if self.window.most is None else [pl.col(TS) + self.window.most]
        until = pl.min_horizontal(self.spans.reach, *longest)
        span = [pl.col(TS).first().alias(FROM), until.first().alias(UNTIL)]
        lifted = [expr for fold in self.folds for expr in fold.lift()]
        numbered = rows.sort(POSITION).with_row_index(RUN)
        place = [pl.col(name).first() for name in (PART, SEQ)]
        each = numbered.group_by(RUN, *self.by.keys).agg(*place, *extent, *span, *lifted)
        return self.finished(self.by.spread(each))

    # Sessions out.

    def of(self, windows: pl.DataFrame, wanted: pl.DataFrame) -> pl.DataFrame:
        """Those of `windows` that are among `wanted`."""
        on = list(self.spans.identity)
        return windows.join(wanted.select(on), on=on, how="semi", nulls_equal=True)

    def valued(self, merged: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self.finished(self._with_whole(merged, stores) if self.whole else merged)

    def _with_whole(self, merged: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """With the accumulators of full-state aggregates, lifted from the messages."""
        messages = there(stores[MESSAGES].scan(*extent_of(merged)))
        return pl.concat(
            self._lifted(messages, windows, keys) for keys, windows in self.by.each(merged)
        )

    def _lifted(
        self, messages: pl.DataFrame, windows: pl.DataFrame, keys: tuple[str, ...]
    ) -> pl.DataFrame:
        """Windows of one set with what is lifted of the messages that they hold."""
        held = within(messages, TS, windows, keys).sort(POSITION)
        on = [*keys, FROM, UNTIL]
        emitted = held.group_by(on).agg(expr for fold in self.whole for expr in fold.lift())
        lost = windows.join(emitted, on=on, how="anti", nulls_equal=True).select(on)
        if len(lost):
            emitted = pl.concat([emitted, self.of_nothing(lost, messages.clear(), emitted)])
        return windows.join(emitted, on=on, how="left", nulls_equal=True)

    def _place(self, window: dict[str, Any]) -> str:
        start, end = window[FROM], window[UNTIL]
        if not self.by_count:
            start, end = format_instant(start), format_instant(end)
        named = [name for name in self.by.names if name != NUMBER_OF_SET]
        keys = ", ".join(f"{key} = {window[key]!r}" for key in named)
        of = f" of {keys}" if keys else ""
        last = f"the last row of the window is {self.stream} at position {window[LAST]}"
        return f"window [{start}, {end}){of}; {last}"
