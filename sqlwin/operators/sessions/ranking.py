"""Ranks among the sessions of one window, and among the groups of one session.

As `ranking`, and a session may vanish. It has its place until it is withdrawn: then `-D`
goes out with what was last sent of it, and who it leaves behind is corrected in the same
emission, for a ranking always agrees with itself. What makes room for it brings the
ranking that it comes into, and so on, until nothing else goes out.

Worked example, sessions by COUNT(*), largest first, ranked by window_start and window_end,
a gap of 5: ann's [0, 7) with 3 rows is 1, bob's with 2 rows is 2. A late row makes ann's
[0, 9): `-D` of hers as 1, `+I` of [0, 9) as 1, and bob's goes out as 1, revision 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.results import WAITED
from sqlwin.operators.emitter.schema import EXISTS, STORE
from sqlwin.operators.ranks.ranking import AT, RANKED, SENT, WindowRanker
from sqlwin.operators.sessions.operator import SessionAggregator
from sqlwin.schema import ROW_KEY


@dataclass(frozen=True)
class SessionRanker(WindowRanker):
    """inner: sessions of time."""

    @property
    def family(self) -> tuple[str, ...]:
        return (AT, "window_start", *self.partition)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        emitted = self._ranked(self.inner.on_watermark(watermark, stores, now), stores)
        stores[RANKED].expire(stores[STORE].floor)
        return emitted

    def _with_families(self, emitted: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """And what goes out with it, and all that shares a window and partition with that."""
        all_ = self._sent(emitted)
        while True:
            others = self.inner.others(all_, self.partition, stores)
            if others.is_empty():
                return all_
            around = self._marked(self.inner.ledger.as_they_are(others, stores), sent=False)
            # one that is as it is may be brought along as well: then it goes out
            goes = pl.any_horizontal(SENT, WAITED, ~pl.col(EXISTS))
            both = pl.concat([all_, around]).sort(goes, descending=True, maintain_order=True)
            all_ = both.unique(ROW_KEY, keep="first", maintain_order=True)

    def _left(self, out: pl.DataFrame, now: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """But for those that have vanished: who asks is told of sessions that are there."""
        assert isinstance(self.inner, SessionAggregator)
        left = super()._left(out, now, stores)
        return left.join(self.inner.vanished(stores), on=ROW_KEY, how="anti")
