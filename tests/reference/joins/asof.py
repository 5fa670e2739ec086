"""The specification of ASOF joins: for each left row the nearest right row of its keys.

Nearest is, where `left.ts >= right.ts` (or `>`), the right row with the greatest (time,
partition, position) that meets it; where `<=` (or `<`), the one with the least. A left row
without one is padded by a LEFT join, and makes no result of an inner one.

*Certain* is a left row when no right row may come that is nearer: looking back, when the
watermark is past its time; looking ahead, when it is past the time of the nearest, or, where
there is none, when the row leaves by RETAIN. Then it is emitted, `full`, or, if it is so when
it comes, `late`. What changes afterwards corrects it, `late`. Under an early policy it is
emitted before, and corrected, as `early`. An end of input and TIMEOUT tell the rest, `full`.

Kept is a left row looking back until it leaves by RETAIN. Looking ahead, rows are kept since
the first one whose nearest is still within RETAIN: a row that is nearer may come. Of right
rows looking back the newest of each key that is out of RETAIN stays, with all that are newer.

With RETAIN n ROWS a right row below the instant of the n-th newest of its keys is retired once the
watermark is past it, and looking back the newest of those stays. A left row is retired below the
same instants of either side; looking ahead it stays while its nearest is not below the watermark,
and one without a nearest is certain then.

With a TTL (`forgetting`) a left row that is emitted, or certain, when it is looked at has *met*
its nearest: should that be forgotten, it stays its nearest until a nearer one comes, or the
left row is replaced. Looking ahead one that waited for a right row that is forgotten, and has
left RETAIN without one, is emitted with the next watermark.

Worked example, `>=`, watermark 10: a left row at 8 and a right row at 5 have come; the left
row went out with it. A right row at 6: `+U late`, revision 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from sqlwin.instants import START
from sqlwin.operators.contract import Stores
from sqlwin.schema import TS
from sqlwin.windows.joins import AsOf
from tests.reference.definitions.window import key_text
from tests.reference.joins.changing import Due
from tests.reference.joins.join_sides import Ident, Logged, ident, order, place_key
from tests.reference.kernels.rows import Row

BACK = AsOf(">=")


@dataclass
class ReferenceAsOf(Logged):
    """kind: `inner` or `left`. met: of left rows, by which right row, if by any.

    matched: places of rows that met, or meet no longer, since somebody took note.
    """

    match: AsOf = BACK
    met: dict[Ident, Row | None] = field(default_factory=dict)
    matched: list[tuple[Ident, Ident | None]] = field(default_factory=list)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        due, gone = self.log.due(now), self.left.take(left)
        self._part(gone, self.right.take(right))
        for at in {**gone, **self.left.kept}:
            self._tell(gone.get(at), self.left.kept.get(at), due)
        return self.records(self.log.go(now, self.closed))

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        if watermark <= self.closed and self.policy.retain_rows is None:
            return self.records(self.log.go(now, self.closed))
        closed = self.closed
        self.closed = stores.watermark = max(watermark, self.closed)
        for side in (self.left, self.right):
            side.note(self.policy)
        gone = [row for row in self.left.kept.values() if self._outnumbered(row)]
        for row in self.left.kept.values():
            if self._certain(row, self.closed):
                if not self._settled(row, closed):
                    self._show(row, now)
            elif row in gone:
                self._show(row, now)
        floor = self._floor()
        self.left.kept = {
            at: row for at, row in self.left.kept.items() if row[TS] >= floor and row not in gone
        }
        self._retire_outnumbered()
        self._retire_right()
        return self.records(self.log.go(now, self.closed))

    def show_all(self, now: int) -> None:
        for row in self.left.kept.values():
            if not self._settled(row, self.closed):
                self._show(row, now)

    # The nearest.

    def _nearest(self, row: Row) -> Row | None:
        rows = [b for b in self.right.kept.values() if self._meets(row, b)]
        met = self.met.get(ident(row))
        if met is not None and ident(met) not in map(ident, rows):
            rows.append(met)
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

    def _settled(self, row: Row, closed: int) -> bool:
        """Certain, and not only since what it waited for was forgotten."""
        anyway = self.match.backward or not self.forgets
        return self._certain(row, closed) and (anyway or ident(row) in self.met)

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

    def _retire_right(self) -> None:
        retain, kept = self.policy.retain, self.right.kept
        if retain is None or not self.match.backward:
            return
        newest: dict[str, int] = {}
        for row in kept.values():
            if row[TS] < self.closed - retain:
                key = key_text(row, self.right.keys)
                newest[key] = max(row[TS], newest.get(key, START))
        self.right.kept = {
            at: row
            for at, row in kept.items()
            if row[TS] >= newest.get(key_text(row, self.right.keys), START)
        }

    # RETAIN n ROWS.

    def _horizon(self, row: Row) -> int:
        """Of a left row: the later one of either side."""
        own, _ = self.left.reached.get(key_text(row, self.left.keys), (START, row))
        others = self.right.reached.values()
        return max([own, *(at for at, of in others if self.left.equals(row, of, self.right))])

    def _outnumbered(self, row: Row) -> bool:
        if self.policy.retain_rows is None or row[TS] >= min(self.closed, self._horizon(row)):
            return False
        nearest = self._nearest(row)
        return self.match.backward or nearest is None or bool(nearest[TS] < self.closed)

    def _retire_outnumbered(self) -> None:
        of_keys = dict[str, list[Row]]()
        for row in self.right.kept.values():
            of_keys.setdefault(key_text(row, self.right.keys), []).append(row)
        gone = list[Row]()
        for key, rows in of_keys.items() if self.policy.retain_rows is not None else ():
            horizon, _ = self.right.reached.get(key, (START, None))
            older = [row for row in rows if row[TS] < min(self.closed, horizon)]
            newest = max((row[TS] for row in older), default=START)
            gone += [row for row in older if row[TS] < newest or not self.match.backward]
        self.right.kept = {at: row for at, row in self.right.kept.items() if row not in gone}

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        of_right = super().horizons(stores, 1)
        if side == 1:
            return of_right
        named = dict(zip(self.right.keys, self.left.keys, strict=True))
        found = dict[tuple[object, ...], int]()
        for each in (super().horizons(stores, 0), of_right.rename(named).drop_nulls()):
            for *key, at in each.rows():
                found[tuple(key)] = max(at, found.get(tuple(key), START))
        records = [(*key, at) for key, at in found.items()]
        return pl.DataFrame(records, schema=super().horizons(stores, 0).schema, orient="row")

    # Who met.

    @property
    def forgets(self) -> bool:
        return self.left.forgets or self.right.forgets

    def _meet(self, at: Ident, nearest: Row | None) -> None:
        before, now = (row and ident(row) for row in (self.met.get(at), nearest))
        if before != now:
            self.matched.append((at, now or None))
        self.met[at] = nearest

    def _part(self, lefts: dict[Ident, Row], rights: dict[Ident, Row]) -> None:
        """These rows are retracted."""
        for at, met in self.met.items():
            left = self.left.kept.get(at)
            there = rights.get(ident(met)) if met and left else None
            if there and left and self.left.equals(left, there, self.right):
                self._meet(at, None)
        for at in lefts:
            self.met.pop(at, None)

    # What goes out.

    def _tell(self, old: Row | None, row: Row | None, due: Due) -> None:
        known = row or old
        assert known is not None
        out = self.log.true.get(place_key(known))
        nearest = None if row is None else self._nearest(row)
        sure = row is not None and self._certain(row, self.closed)
        found = nearest is not None or self.match.backward or not self.forgets
        emitted = (sure and found) or out is not None or self.policy.early is not None
        if row is not None and emitted:
            self._meet(ident(row), nearest)
        else:
            self.met.pop(ident(known), None)
        values = self.joined(row, nearest) if row and emitted and self._results(nearest) else None
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
            self._meet(ident(row), nearest)
            self.log.change(key, values, "full", now, order(row, None))

    def _results(self, nearest: Row | None) -> bool:
        return nearest is not None or self.kind == "left"
