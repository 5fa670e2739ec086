"""The messages that group windows keep where an aggregate needs them all, and what comes of them.

Invariant: a message is stored once, whatever the windows and grouping sets that it is in, and only
where some aggregate is not computed from panes (`whole`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import polars as pl

from sqlwin.instants import format_instant
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.pane_ranges import overlap
from sqlwin.kernels.panes import WINDOW_END, span_of, start_of
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.weights import SIGN, there
from sqlwin.operators.windows.folded import Folded
from sqlwin.operators.windows.grouping import EXTENT, LAST, NUMBER_OF_SET, Grouping, Lifting
from sqlwin.operators.windows.merging import frames_of, windows_of
from sqlwin.polars_frames import PLACE
from sqlwin.schema import POSITION, TS, WEIGHT
from sqlwin.windows import Unit
from sqlwin.windows.group import Aligned, Hop, Whole

PANES, MESSAGES = "panes", "messages"
_AT = "__at"


@dataclass(frozen=True)
class WindowMessages(Folded):
    """below: columns of the rows. stream: its name, for messages."""

    stream: str
    window: Aligned
    below: dict[str, pl.DataType]
    by: Grouping
    folds: tuple[Fold, ...]
    weighted: bool = False

    @property
    def identity(self) -> tuple[str, ...]:
        return (*self.by.names, WINDOW_END)

    @property
    def message(self) -> dict[str, pl.DataType]:
        """The columns of a message: keys, what full-state aggregates read, position."""
        types = {**self.below, **PLACE}
        kept = {name: types[name] for name in self.read(self.by.keys, self.whole)}
        return {**kept, **(SIGN if self.weighted else {})}

    def put_back(self, batch: pl.DataFrame, stores: Stores) -> None:
        """Messages alone: the panes have counted them."""
        if self.whole:
            rows = batch.select(*self.message)
            # what is retracted is written first, for another may take its place
            stores[MESSAGES].put(rows.sort(WEIGHT) if self.weighted else rows)

    def lacking(self, batch: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Messages of `batch` that are not in their store, each once."""
        if not self.whole:
            return batch.clear()
        there = stores[MESSAGES].scan(*bounds(batch[TS]))
        return batch.join(there, on=list(POSITION), how="anti").unique(POSITION)

    @cached_property
    def _whole_panes_of(self) -> Lifting:
        return Lifting(self.by, self.window, self.whole)

    def valued(self, merged: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Windows of `closing` or `of` with a column for each result."""
        if not self.whole:
            return self.finished(merged)
        messages = self._messages(merged, stores)
        slid = self._slid(merged, messages)
        return self.finished(self._whole(merged, messages) if slid is None else merged, slid or {})

    def _slid(self, merged: pl.DataFrame, messages: pl.DataFrame) -> dict[str, pl.Series] | None:
        """Results of full-state aggregates over the messages of each window, as over frames of
        OVER; None where windows overlap little, and their own rows are less work."""
        if isinstance(self.window, Whole) or (isinstance(self.window, Hop) and self.window.tumbles):
            return None
        spread = self.by.spread(messages.with_row_index(_AT))
        placed, frames = frames_of(merged, spread, self.by.names, self.window)
        if not overlap(int((frames.hi - frames.lo).sum()), len(placed)):
            return None
        # a key that a set leaves out may be read all the same
        rows = messages[placed[_AT]] if self.by.sets else placed
        return {fold.call.name: self._slide(fold, rows, frames, merged) for fold in self.whole}

    def _whole(self, merged: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
        """With the accumulators of full-state aggregates, lifted from the messages by pane."""
        between = (*self._ends(merged), merged)
        panes = self._whole_panes_of(messages)
        windows = windows_of(panes, self.by.names, self.window, self.whole, *between).drop(EXTENT)
        if len(windows) < len(merged):
            windows = pl.concat([windows, self._bare(merged, windows, messages)])
        return merged.join(
            windows, on=list(self.identity), how="left", nulls_equal=True, maintain_order="left"
        )

    def _bare(
        self, merged: pl.DataFrame, windows: pl.DataFrame, messages: pl.DataFrame
    ) -> pl.DataFrame:
        """Windows whose messages were lost and are not all put back: of those, none is there."""
        bare = merged.join(windows, on=list(self.identity), how="anti", nulls_equal=True)
        return self.of_nothing(bare.select(self.identity), messages.clear(), windows)

    def _messages(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those that the windows may hold. The store has no keys: it is ordered by position."""
        messages = there(stores[MESSAGES].scan(*self._span(windows)))
        keys = None if self.by.sets else self._keys(windows, self.by.names)
        if keys is None:
            return messages
        return messages.join(
            keys, on=keys.columns, how="semi", nulls_equal=True, maintain_order="left"
        )

    def _span(self, windows: pl.DataFrame) -> tuple[int, int]:
        return (0, 0) if windows.is_empty() else span_of(self.window, *self._ends(windows))

    def _ends(self, windows: pl.DataFrame) -> tuple[int, int]:
        """The first and the last, of windows that end."""
        if windows.is_empty():
            return 0, -1
        first, after = bounds(windows[WINDOW_END])
        return first, after - 1

    def _keys(self, windows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame | None:
        return windows.select(names) if names else None

    def _place(self, window: dict[str, Any]) -> str:
        named = [name for name in self.by.names if name != NUMBER_OF_SET]
        keys = ", ".join(f"{key} = {window[key]!r}" for key in named)
        of = f" of {keys}" if keys else ""
        last = f"the last row of the window is {self.stream} at position {window[LAST]}"
        return f"window {self._edges(window[WINDOW_END])}{of}; {last}"

    def _edges(self, end: int) -> str:
        if isinstance(self.window, Whole):
            return "[start, end)"
        if self.window.unit is Unit.ROWS:
            return f"[{end - self.window.size}, {end})"
        return f"[{format_instant(start_of(end, self.window))}, {format_instant(end)})"
