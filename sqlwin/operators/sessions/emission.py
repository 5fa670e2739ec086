"""How sessions go out: those that exist, and those that are superseded.

What goes out together, a cohort, is in `emitter.superseding`; here are the values of a session,
and how its emission looks.

Worked example, a gap of 5: [0, 5) and [9, 14) are out, and a late row at 4 has made them
[0, 14). When that goes out, `late`, the emission has `-D` of both, and `+I` of it.
"""

from __future__ import annotations

from abc import abstractmethod

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import row_key
from sqlwin.operators.emitter.schema import EXISTS
from sqlwin.operators.emitter.superseding import SupersededResults, SupersedingLedger
from sqlwin.operators.ranks.cohorts import RankedResults
from sqlwin.operators.sessions.contents import SessionContents
from sqlwin.operators.windows.grouping import ROWS
from sqlwin.polars_frames import INSTANT, PLACE
from sqlwin.schema import TS
from sqlwin.state.stores.session_store import FROM, UNTIL


class SessionResults(SupersededResults, RankedResults):
    @property
    @abstractmethod
    def contents(self) -> SessionContents: ...

    @property
    @abstractmethod
    def ledger(self) -> SupersedingLedger: ...

    @property
    def edges(self) -> dict[str, pl.DataType]:
        bound = pl.Int64() if self.contents.by_count else INSTANT
        return {"window_start": bound, "window_end": bound}

    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        merged = ids if ROWS in ids.columns else self.contents.spans.of(ids, stores)
        return self.contents.valued(merged, stores)

    @property
    def ties(self) -> tuple[str, ...]:
        return self.contents.by.names

    @property
    def bounds_of_window(self) -> tuple[str, ...]:
        return (UNTIL, FROM)

    def presented(self, results: pl.DataFrame) -> pl.DataFrame:
        """Those that exist no more come first."""
        return self._keyed(results).sort(EXISTS, UNTIL, FROM, *self.contents.by.names)

    def _keyed(self, known: pl.DataFrame) -> pl.DataFrame:
        edges = (pl.col(FROM), pl.col(UNTIL) - self._beyond)
        shown = [
            edge.cast(type_).alias(name)
            for edge, (name, type_) in zip(edges, self.edges.items(), strict=True)
        ]
        # another window may have the bounds of one that an expired row makes alone
        place = {name: t for name, t in PLACE.items() if name in known.columns and name != TS}
        key = row_key({**self.contents.by.types, **self.edges, **place})
        return known.with_columns(shown).with_columns(key)

    @property
    def _beyond(self) -> int:
        """How much further than its window a session reaches: of messages the last one counts."""
        return self.contents.window.gap or 0 if self.contents.by_count else 0
