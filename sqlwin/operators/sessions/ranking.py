"""Ranks among the sessions of one window, and among the groups of one session.

As in `ranks.cohorts`, and a session may be superseded. It holds its place until it is retracted:
then `-D` goes out with what was last emitted of it, and those it leaves behind are corrected in
the same emission. What makes room for it brings the ranking that it comes into, and so on, until
nothing else goes out.

Worked example, sessions by COUNT(*), largest first, ranked by window_start and window_end,
a gap of 5: ann's [0, 7) with 3 rows is 1, bob's with 2 rows is 2. A late row makes ann's
[0, 9): `-D` of hers as 1, `+I` of [0, 9) as 1, and bob's goes out as 1, revision 1.
"""

from __future__ import annotations

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.schema import EXISTS
from sqlwin.operators.emitter.superseding import SupersedingLedger
from sqlwin.operators.horizon import floored
from sqlwin.operators.ranks.cohorts import RankedLedger
from sqlwin.operators.sessions.emission import SessionResults
from sqlwin.state.contract import HORIZON
from sqlwin.state.stores.session_store import UNTIL


@dataclass(frozen=True)
class RankedSessions(RankedLedger, SupersedingLedger):
    results: SessionResults

    def retire(self, horizons: pl.DataFrame, stores: Stores) -> None:
        """A superseded one that nothing will retract any more holds its place as others do."""
        keys = tuple(name for name in horizons.columns if name != HORIZON)
        left = floored(self.departed(stores), horizons, keys)
        held = left.filter(pl.col(UNTIL) < pl.col(HORIZON)).drop(HORIZON)
        self.quiet(held.with_columns(pl.lit(True).alias(EXISTS)), stores)
