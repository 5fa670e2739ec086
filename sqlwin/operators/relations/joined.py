"""A join of two relations, each of rows that stay for a time: what enters and leaves its result.

Its results are changes, `+I`, each a row of its own with its instant and whether the row enters;
none is ever corrected. For that, an instant is looked at once no row of it may come any more, that
is when the watermark is more than RETAIN past it: then all rows before it are known, and who pairs
with whom, and who has no match, at every instant.

| store           | record                                              |
|-----------------|-----------------------------------------------------|
| `left`, `right` | the row and its position; whether it was retracted  |

Invariant: a side has all rows that may be there at an instant at which the watermark, less RETAIN,
has not been. Those that left before it are evicted: by time, or where they stay until others come,
one by one, or by the steps in which their window advances. A static table has no time: its rows are
kept as of the beginning, and nothing evicts them.

Worked example, LEFT, `[RANGE 20]` and `[RANGE 5]`, seconds; rows of 10 and of 12. Past 12 both are
known: the padded row enters at 10; at 12 it leaves, and the pair enters. A microsecond after 17 the
pair leaves and the padded row enters again, and leaves a microsecond after 30.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from sqlwin.instants import END, START
from sqlwin.kernels.joins import coded, near
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA, row_key
from sqlwin.operators.relations.changes import INSTANT
from sqlwin.operators.relations.staying_side import AT, ID, IN, SPAN, StayingSide
from sqlwin.operators.relations.stays import ENTERS, LEAVES, ROW, covered, uncovered
from sqlwin.operators.store_spec import Columns, StoreSpec
from sqlwin.polars_frames import empty
from sqlwin.schema import EMIT, OP, POSITION, REVISION, ROW_KEY, TS
from sqlwin.state.contract import HORIZON
from sqlwin.windows.stays import JoinStays

Residual = Callable[[pl.DataFrame], pl.Series]


@dataclass(frozen=True)
class RelationJoin:
    """kind: as of a plan's Join. retain: how late rows may be. residual: as in `WindowJoin`."""

    left: StayingSide
    right: StayingSide
    kind: str
    retain: int
    match: JoinStays
    residual: Residual | None = None

    @property
    def output(self) -> Columns:
        single = self.kind in ("semi", "anti")
        more = {self.match.instant: AT, self.match.there: pl.Boolean()}
        columns = {**self.left.columns, **({} if single else self.right.columns), **more}
        return {**columns, self.match.identity: pl.String()}

    def stores(self) -> list[StoreSpec]:
        return [self.left.spec, self.right.spec]

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        return (self.left, self.right)[side].prepare(rows)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        self.left.put(left, stores)
        self.right.put(right, stores)
        return self.nothing()

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        before, after = stores.watermark, max(stores.watermark, watermark)
        stores.watermark = after
        if after == before:
            return self.nothing()
        lo, hi = before - self.retain, after - self.retain
        rows = self._rows(hi, stores)
        out = self._changes(rows, lo, hi)
        for side, each in zip((self.left, self.right), rows, strict=True):
            side.retire(each, hi, stores)
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        """All instants pass; of another run these rows are no part, but those of a table are."""
        out = self._changes(self._rows(END, stores), stores.watermark - self.retain, END)
        for side in (self.left, self.right):
            if side.stay.timed:
                rest = stores[side.name].scan(START, END)
                stores[side.name].erase(rest.select(POSITION))
        return out

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self.nothing()

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        return empty({HORIZON: pl.Int64()})

    def next_deadline(self, stores: Stores) -> int | None:
        return None

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    def _rows(self, before: int, stores: Stores) -> list[pl.DataFrame]:
        return [side.staying(before, stores) for side in (self.left, self.right)]

    def _changes(self, rows: list[pl.DataFrame], lo: int, hi: int) -> pl.DataFrame:
        """What enters and leaves at `lo <= instant < hi`."""
        there = [_there(each, lo, hi) for each in rows]
        if not any(_moves(each, lo, hi) for each in there):
            return self.nothing()
        return self._emitted(self._results(*there), lo, hi)

    def _results(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        """Results of the join, each with its stay and what it is known by."""
        pairs = self._pairs(left, right)
        if self.kind == "semi":
            return self._alone(self.left, left, pairs, covered)
        parts = [] if self.kind == "anti" else [pairs.with_columns(self._key(True, True))]
        if self.kind in ("left", "full", "anti"):
            parts.append(self._alone(self.left, left, pairs, uncovered))
        if self.kind in ("right", "full"):
            parts.append(self._alone(self.right, right, pairs, uncovered))
        columns = self._columns
        return pl.concat([part.select(*columns) for part in map(self._padded, parts)])

    def _pairs(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        keys = self.left.keys, self.right.keys
        first, second = self.left.marked(left), self.right.marked(right)
        found = [pl.concat([first.clear(), second.clear()], how="horizontal")]
        for a, b in near(*coded(left, right, *keys, TS), None, None):
            found.append(self._true(pl.concat([first[a], second[b]], how="horizontal")))
        both = [[side.mark(name) for side in (self.left, self.right)] for name in SPAN]
        return pl.concat(found).with_columns(
            pl.max_horizontal(both[0]).alias(ENTERS), pl.min_horizontal(both[1]).alias(LEAVES)
        )

    def _true(self, pairs: pl.DataFrame) -> pl.DataFrame:
        enters, leaves = ([f"__left.{name}", f"__right.{name}"] for name in SPAN)
        together = pairs.filter(pl.max_horizontal(enters) < pl.min_horizontal(leaves))
        if self.residual is None:
            return together
        columns = (*self.left.columns, *self.right.columns)
        return together.filter(self.residual(together.select(*columns)))

    def _alone(
        self,
        side: StayingSide,
        rows: pl.DataFrame,
        pairs: pl.DataFrame,
        part: Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame],
    ) -> pl.DataFrame:
        """Rows of a side for that part of their stays."""
        spans = pairs.select(pl.col(side.mark(ROW)).alias(ROW), *SPAN)
        found = part(rows.select(ROW, *SPAN), spans)
        own = side.marked(rows).rename({side.mark(ROW): ROW})
        joined = found.join(own, on=ROW, how="left", maintain_order="left")
        return joined.with_columns(self._key(side is self.left, side is self.right))

    def _key(self, left: bool, right: bool) -> pl.Expr:
        first, second = (
            pl.col(side.mark(ID)) if there else pl.lit("null")
            for side, there in ((self.left, left), (self.right, right))
        )
        if self.kind in ("semi", "anti"):
            return first.alias(ID)
        return pl.concat_str([pl.lit("["), first, pl.lit(","), second, pl.lit("]")]).alias(ID)

    @property
    def _columns(self) -> tuple[str, ...]:
        names = {self.match.instant, self.match.there, self.match.identity}
        return (*(name for name in self.output if name not in names), *SPAN, ID)

    def _padded(self, part: pl.DataFrame) -> pl.DataFrame:
        lacking = [name for name in self._columns if name not in part.columns]
        return part.with_columns(pl.lit(None, self.output[name]).alias(name) for name in lacking)

    def _emitted(self, results: pl.DataFrame, lo: int, hi: int) -> pl.DataFrame:
        """In the order of their instants; at one of them, first what leaves."""
        parts = [
            results.filter(pl.col(edge) >= lo, pl.col(edge) < hi).with_columns(
                pl.col(edge).alias(INSTANT), pl.lit(edge == ENTERS).alias(IN)
            )
            for edge in SPAN
        ]
        rows = pl.concat(parts).sort(INSTANT, IN, ID, maintain_order=True)
        instant = pl.from_epoch(INSTANT, time_unit="us").dt.replace_time_zone("UTC")
        known = rows.with_columns(
            instant.alias(self.match.instant),
            pl.col(IN).alias(self.match.there),
            pl.col(ID).alias(self.match.identity),
        )
        return known.select(*self.output, *inserted(self.match.identity, self.match.instant, IN))


def inserted(identity: str, instant: str, *more: str) -> list[pl.Expr]:
    """The columns of a `+I` that is known by a JSON text and an instant."""
    rest = row_key({instant: AT, **dict.fromkeys(more, pl.Boolean())}).str.slice(1)
    return [
        pl.lit("+I").alias(OP),
        pl.lit("full").alias(EMIT),
        pl.lit(0, pl.Int32).alias(REVISION),
        pl.concat_str([pl.lit("["), pl.col(identity), pl.lit(","), rest]).alias(ROW_KEY),
    ]


def _there(rows: pl.DataFrame, lo: int, hi: int) -> pl.DataFrame:
    """Those that are there at some instant from `lo` on, or have left then, and enter before
    `hi`."""
    known = pl.col(ENTERS) < hi, pl.col(LEAVES) >= lo, pl.col(ENTERS) < pl.col(LEAVES)
    return rows.filter(*known)


def _moves(rows: pl.DataFrame, lo: int, hi: int) -> bool:
    return any(len(rows.filter(pl.col(edge) >= lo, pl.col(edge) < hi)) for edge in SPAN)
