"""Which of the windows that hold a row are there, and so are results.

| windows                         | are there                                     |
|---------------------------------|-----------------------------------------------|
| over rows that may be retracted | if their panes count a row                    |
| of CUMULATE, emitOnlyOnUpdate   | if their last pane counts one                 |
| others                          | always: a pane is there as long as it has one |

So under emitOnlyOnUpdate each pane that counts a row makes one window: the one that ends with it.

>>> panes = pl.DataFrame({"__pane": [0, 20], "__rows": [2, 0]})
>>> presence = Presence(Cumulate(size=60, step=20, only_on_update=True), (), weighted=True)
>>> presence.wanted(panes)["__end"].to_list()
[20]
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.kernels.panes import WINDOW_END, ends_at
from sqlwin.operators.windows.grouping import PANE, ROWS
from sqlwin.windows.group import Aligned, CalendarWindow, Cumulate


@dataclass(frozen=True)
class Presence:
    """names: the keys that a group is known by. weighted: rows may be retracted."""

    window: Aligned
    names: tuple[str, ...]
    weighted: bool = False

    @property
    def by_last_pane(self) -> bool:
        return isinstance(self.window, Cumulate | CalendarWindow) and self.window.only_on_update

    def filled(self, counted: pl.DataFrame) -> pl.DataFrame:
        """Windows, or panes, that count a row."""
        return counted.filter(pl.col(ROWS) > 0) if self.weighted else counted

    def wanted(
        self, panes: pl.DataFrame, wanted: pl.DataFrame | None = None
    ) -> pl.DataFrame | None:
        """Those of `wanted`, None: of all, whose last pane, where they go by it, counts a row.

        panes: each of group and pane once. wanted: of windows, with their identity.
        """
        if not self.by_last_pane:
            return wanted
        held = self._ending_in(self.filled(panes))
        return held if wanted is None else self._among(wanted, held)

    def around(
        self, windows: pl.DataFrame, stored: pl.DataFrame, panes: pl.DataFrame
    ) -> pl.DataFrame:
        """Windows that are there before a batch, or after it. panes: of the batch."""
        if not self.by_last_pane:
            return windows
        counts = [*self.names, PANE, ROWS]
        before, batch = stored.select(counts), panes.select(counts)
        after = pl.concat([before, batch]).group_by(*self.names, PANE).agg(pl.col(ROWS).sum())
        both = pl.concat([before, after.select(counts)])
        return self._among(windows, self._ending_in(self.filled(both)))

    def _ending_in(self, panes: pl.DataFrame) -> pl.DataFrame:
        end, _ = ends_at(pl.col(PANE), self.window)  # type: ignore[arg-type]
        return panes.select(*self.names, end.alias(WINDOW_END))

    def _among(self, windows: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
        on = [*self.names, WINDOW_END]
        return windows.join(held, on=on, how="semi", nulls_equal=True, maintain_order="left")
