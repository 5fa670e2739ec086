"""The specification of ASOF joins: for each left row the nearest right row of its keys.

Nearest is, where `left.ts >= right.ts` (or `>`), the right row with the greatest (time,
partition, position) that meets it; where `<=` (or `<`), the one with the least. A left row
without one is padded by a LEFT join, and makes no result of an inner one.

*Certain* is a left row when no right row may come that is nearer: looking back, when the
watermark is past its time; looking ahead, when it is past the time of the nearest, or, where
there is none, when the row leaves by RETAIN. Then it is told, `full`, or, if it is so when
it comes, `late`. What changes afterwards corrects it, `late`. Under an early policy it is
told before, and corrected, as `early`. An end of input and TIMEOUT tell the rest, `full`.

Kept is a left row looking back until it leaves by RETAIN. Looking ahead, rows are kept since
the first one whose nearest is still within RETAIN: a row that is nearer may come.

Worked example, `>=`, watermark 10: a left row at 8 and a right row at 5 have come; the left
row went out with it. A right row at 6: `+U late`, revision 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.instants import START
from sqlwin.kernels.reference.rows import Row
from sqlwin.operators.contract import Stores
from sqlwin.operators.definitions.changing import Due
from sqlwin.operators.definitions.join_sides import Logged, ident, order, place_key
from sqlwin.schema import TS
from sqlwin.windows import AsOf

BACK = AsOf(">=")


@dataclass
class ReferenceAsOf(Logged):
    """kind: `inner` or `left`."""

    match: AsOf = BACK

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        due, gone = self.log.due(now), self.left.take(left)
        self.right.take(right)
        for at in {**gone, **self.left.kept}:
            self._tell(gone.get(at), self.left.kept.get(at), due)
        return self.records(self.log.go(now))

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        closed, self.closed = self.closed, max(watermark, self.closed)
        stores.closed = self.closed
        for row in self.left.kept.values():
            if self._certain(row, self.closed) and not self._certain(row, closed):
                self._show(row, now)
        floor = self._floor()
        self.left.kept = {at: row for at, row in self.left.kept.items() if row[TS] >= floor}
        return self.records(self.log.go(now))

    def show_all(self, now: int) -> None:
        for row in self.left.kept.values():
            if not self._certain(row, self.closed):
                self._show(row, now)

    # The nearest.

    def _nearest(self, row: Row) -> Row | None:
        rows = [b for b in self.right.kept.values() if self._meets(row, b)]
        best = max if self.match.backward else min
        return best(rows, key=ident, default=None)

    def _meets(self, left: Row, right: Row) -> bool:
        a, b = left[TS], right[TS]
        compared = {">=": a >= b, ">": a > b, "<=": a <= b, "<": a < b}[self.match.op]
        return compared and self.left.equals(left, right, self.right)

    def _certain(self, row: Row, closed: int) -> bool:
        if self.match.backward:
            return bool(row[TS] < closed)
        nearest, retain = self._nearest(row), self.policy.retain
        if nearest is not None:
            return bool(nearest[TS] < closed)
        return retain is not None and row[TS] < closed - retain

    def _floor(self) -> int:
        retain = self.policy.retain
        if retain is None:
            return START
        horizon = self.closed - retain
        if self.match.backward:
            return horizon
        near = [(row[TS], self._nearest(row)) for row in self.left.kept.values()]
        wanted = [int(ts) for ts, b in near if b is not None and b[TS] >= horizon]
        return min([*wanted, horizon])

    # What goes out.

    def _tell(self, old: Row | None, row: Row | None, due: Due) -> None:
        known = row or old
        assert known is not None
        out = self.log.true.get(place_key(known))
        nearest = None if row is None else self._nearest(row)
        sure = row is not None and self._certain(row, self.closed)
        told = sure or out is not None or self.policy.early is not None
        values = self.joined(row, nearest) if row and told and self._results(nearest) else None
        if (values == out and old is None) or (values is None and out is None):
            return
        causes = []
        if old is not None and out is not None:
            causes.append(("late", due.late) if old[TS] < self.closed else ("early", due.early))
        if row is not None:
            causes.append(("late", due.late) if sure else ("early", due.early))
        when = [time for _, time in causes if time is not None]
        word, at = causes[-1][0], min(when, default=None)
        self.log.change(place_key(known), values, word, at, order(known, None))

    def _show(self, row: Row, now: int) -> None:
        nearest, key = self._nearest(row), place_key(row)
        if self._results(nearest) and key not in self.log.true:
            values = self.joined(row, nearest)
            self.log.change(key, values, "full", now, order(row, None))

    def _results(self, nearest: Row | None) -> bool:
        return nearest is not None or self.kind == "left"
