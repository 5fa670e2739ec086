"""Ranks among the sessions of one window, and among the groups of one session.

As `ranking`, and a session may vanish. It has its place until it is withdrawn: then `-D`
goes out with what was last sent of it, and who it leaves behind is corrected in the same
emission, for a ranking always agrees with itself. What makes room for it brings the
ranking that it comes into, and so on, until nothing else goes out.

A record of `ranked` also says whether it is *out*: of one that was withdrawn the revision
stays, should it come again.

Worked example, sessions by COUNT(*), largest first, ranked by window_start and window_end,
a gap of 5: ann's [0, 7) with 3 rows is 1, bob's with 2 rows is 2. A late row makes ann's
[0, 9): `-D` of hers as 1, `+I` of [0, 9) as 1, and bob's goes out as 1, revision 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.operators.changes import CHANGE_SCHEMA, WAS
from sqlwin.operators.contract import Stores
from sqlwin.operators.correcting import WAITED
from sqlwin.operators.departures import OUT
from sqlwin.operators.ranking import AT, KIND, RANKED, SENT, WindowRanker
from sqlwin.operators.revisions import STORE
from sqlwin.schema import EMIT, OP, REVISION, ROW_KEY


@dataclass(frozen=True)
class SessionRanker(WindowRanker):
    """inner: sessions of time."""

    @property
    def columns(self) -> dict[str, pl.DataType]:
        return {**super().columns, OUT: pl.Boolean()}

    @property
    def family(self) -> tuple[str, ...]:
        return (AT, "window_start", *self.partition)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        emitted = self._ranked(self.inner.on_watermark(watermark, stores, now), stores)
        stores[RANKED].expire(stores[STORE].floor)
        return emitted

    def _ranked(self, emitted: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if emitted.is_empty():
            return self.nothing()
        all_ = self._with_families(emitted, stores)
        known, leaves = self._known(all_, stores), pl.col(OP) == "-D"
        withdrawn = self._withdrawn(all_.filter(leaves), known, stores)
        left = known.filter(OUT).join(all_, on=ROW_KEY, how="anti")
        told = self._told(all_.filter(~leaves).drop(OP), known, left, stores)
        return pl.concat([withdrawn, told])

    def _with_families(self, emitted: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """And all that shares a window and partition with what goes out, or goes out with
        it; `__op` beside the marks."""
        all_ = self._all(emitted.with_columns(pl.lit(False).alias(WAITED)), sent=True)
        while True:
            others = self.inner.others(all_, self.partition, stores)
            if others.is_empty():
                return all_
            around = self._all(self.inner.as_they_are(others, stores), sent=False)
            # one that is as it is may be brought along as well: then it goes out
            goes = pl.any_horizontal(SENT, WAITED, pl.col(OP) == "-D")
            both = pl.concat([all_, around]).sort(goes, descending=True, maintain_order=True)
            all_ = both.unique(ROW_KEY, keep="first", maintain_order=True)

    def _all(self, rows: pl.DataFrame, sent: bool) -> pl.DataFrame:
        return self._marked(rows, sent).with_columns(rows[OP])

    def _withdrawn(self, leaves: pl.DataFrame, known: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """What was sent of those that leave, as it was sent."""
        sent = known.filter(OUT).join(leaves.select(ROW_KEY, KIND), on=ROW_KEY)
        after = sent.with_columns((pl.col(WAS) + 1).cast(pl.Int32), pl.lit(False).alias(OUT))
        stores[RANKED].put(after.select(list(self.columns)))
        told = after.with_columns(
            pl.lit("-D").alias(OP), pl.col(KIND).alias(EMIT), pl.col(WAS).alias(REVISION)
        )
        return told.select(*self.output, *CHANGE_SCHEMA)

    def _left(self, known: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
        """Who asks is told of sessions that are there."""
        return known.clear()

    @property
    def _out(self) -> pl.Expr:
        return pl.col(OUT).fill_null(False)
