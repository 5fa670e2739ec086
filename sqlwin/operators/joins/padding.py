"""Results of single rows: padded ones, and rows of SEMI and ANTI joins.

Of each row of such a side it is known how many matches it has, and whether its result is
*out*: emitted, or about to be.

| store                       | record                                          |
|-----------------------------|-------------------------------------------------|
| `left_known`, `right_known` | `__matches`, `__out`; none where there is neither |

Invariant: between two calls a row with a match is not out (SEMI: one without is not), and a
complete row without one is; but for what LATE NEVER keeps silent.

Worked example, LEFT: a row at 10 that is complete at 15 and has no match is out, padded. A
late right row makes it one: the padded row is retracted, with the word and the time of
that match.
"""

from __future__ import annotations

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import row_key
from sqlwin.operators.emitter.schema import DUE, SIGN
from sqlwin.operators.joins.arrivals import Arrivals
from sqlwin.operators.joins.changes.change_ledger import ChangeLedger
from sqlwin.operators.joins.changes.replaced import as_they_were
from sqlwin.operators.joins.changes.words import Moment, both, by_pairs, either
from sqlwin.operators.joins.match_records import MATCHES, MatchRecords
from sqlwin.operators.joins.pairing import AT, marked
from sqlwin.operators.joins.schema import LIVE, OUT, REPLACED, WANTED
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Policy
from sqlwin.schema import EMIT, ROW_KEY, TS

CAUSES = ("__came_late", "__came_full", "__gone_late", "__gone_full")
THERE = "__there"
LATE = "late"


@dataclass(frozen=True)
class Alone:
    """The rows of one side. kind: of the join. early: rows are emitted before they are complete."""

    side: Side
    kind: str
    ledger: ChangeLedger
    early: bool

    @property
    def records(self) -> MatchRecords:
        return MatchRecords(self.side)

    @property
    def store(self) -> str:
        return self.records.store

    def spec(self, policy: Policy) -> StoreSpec:
        return self.records.spec(policy)

    # Rows and matches come and go.

    def touched(
        self, arrivals: Arrivals, removed: pl.DataFrame, added: pl.DataFrame, stores: Stores
    ) -> pl.DataFrame:
        """Rows that a batch may emit or retract, with what is known of them from now on.

        removed, added: pairs. A row retracted has no `__wanted`; one replaced has its new values.
        """
        side, on = self.side, list(self.side.identity)
        causes = [self._causes(added, 1, stores), self._causes(removed, -1, stores)]
        there = [arrivals.new, *(each.select(*side.row) for each in causes), arrivals.removed]
        rows = pl.concat(there).unique(on, keep="first", maintain_order=True)
        tallies = pl.concat(causes).group_by(on).agg(pl.col(MATCHES).sum(), pl.col(CAUSES).any())
        emitted = self.records.of(rows, stores, arrivals.removed).join(
            tallies, on=on, how="left", suffix=".more", maintain_order="left"
        )
        more = pl.col(MATCHES) + pl.col(f"{MATCHES}.more").fill_null(0)
        was_replaced = self._among(emitted, arrivals.removed)
        live = ~was_replaced | self._among(emitted, arrivals.new)
        touched = emitted.with_columns(
            more.alias(MATCHES),
            *(pl.col(cause).fill_null(False) for cause in CAUSES),
            was_replaced.alias(REPLACED),
            live.alias(LIVE),
        ).drop(f"{MATCHES}.more")
        return self.side.bounded(touched, stores)

    def changes(self, touched: pl.DataFrame, removed: pl.DataFrame, moment: Moment) -> pl.DataFrame:
        """What becomes true and untrue of `touched` rows. removed: those retracted or replaced."""
        rows = touched.with_columns(self._wanted(moment))
        same = pl.col(OUT) == pl.col(WANTED)
        moved = rows.filter(~same | (pl.col(WANTED) & pl.col(REPLACED)))
        old, new = moved.filter(pl.col(OUT)), moved.filter(pl.col(WANTED))
        retracted = as_they_were(self.side, old, removed)
        return pl.concat(
            [
                self._change(retracted, -1, self._undone(moment)),
                self._change(new, 1, self._done(moment)),
            ]
        )

    def remember(
        self,
        touched: pl.DataFrame,
        removed: pl.DataFrame,
        taken: pl.DataFrame,
        moment: Moment,
        stores: Stores,
    ) -> None:
        """taken: the changes that go out some time; those left out change nothing. removed: rows
        retracted or replaced, whose keys may be others now."""
        if touched.is_empty():
            return
        self.records.clear(removed, stores)
        rows = touched.with_columns(self._wanted(moment), self._row_key)
        silent = (pl.col(OUT) != pl.col(WANTED)) & ~pl.col(ROW_KEY).is_in(taken[ROW_KEY].to_list())
        out = pl.when(silent).then(OUT).otherwise(WANTED).alias(OUT)
        self.records.put(rows.with_columns(out), stores)

    # Rows become complete.

    def unmatched(self, stores: Stores, now: int, lo: int = START, hi: int = END) -> pl.DataFrame:
        """Changes that emit the rows of these positions that have no match, and are not out."""
        if self.kind == "semi" or lo >= hi:
            return self.ledger.none()
        return self.unmatched_of(self.side.ending(stores, lo, hi), stores, now)

    def unmatched_of(self, rows: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        """The same of these rows, which are stored."""
        if self.kind == "semi" or rows.is_empty():
            return self.ledger.none()
        known = self.records.of(rows, stores)
        rows = known.filter(pl.col(MATCHES) == 0, ~pl.col(OUT))
        self.records.put(rows.with_columns(pl.lit(True).alias(OUT)), stores)
        return self._change(rows, 1, (pl.lit("full"), pl.lit(now, pl.Int64())))

    # Parts.

    def _causes(self, pairs: pl.DataFrame, sign: int, stores: Stores) -> pl.DataFrame:
        """The side's rows of pairs, with what each pair adds to what is known of its row."""
        side, late = self.side, _late(pl.col(AT), stores.watermark, self.ledger.dated)
        names = {name: pl.col(new).alias(name) for name, new in marked(side).items()}
        flags = (late & (sign > 0), ~late & (sign > 0), late & (sign < 0), ~late & (sign < 0))
        return pairs.select(
            *side.columns,
            *names.values(),
            pl.lit(sign, pl.Int64()).alias(MATCHES),
            *(flag.alias(name) for flag, name in zip(flags, CAUSES, strict=True)),
        )

    def _among(self, rows: pl.DataFrame, others: pl.DataFrame) -> pl.Expr:
        on = list(self.side.identity)
        there = others.select(*on, pl.lit(True).alias(THERE))
        found = rows.select(on).join(there, on=on, how="left", maintain_order="left")
        return pl.lit(found[THERE].fill_null(False))

    def _wanted(self, moment: Moment) -> pl.Expr:
        matched = pl.col(MATCHES) > 0
        emitted = (pl.col(self.side.ends) < moment.complete) | pl.col(OUT) | pl.lit(self.early)
        wanted = matched if self.kind == "semi" else ~matched & emitted
        return (wanted & pl.col(LIVE)).alias(WANTED)

    def _undone(self, moment: Moment) -> tuple[pl.Expr, pl.Expr]:
        """The word and the time of a retraction."""
        added = CAUSES[2:] if self.kind == "semi" else CAUSES[:2]
        row, pairs = self._by_row(moment), by_pairs(moment, *added)
        retracted = pl.col(REPLACED)
        return either(retracted, row, pairs)

    def _done(self, moment: Moment) -> tuple[pl.Expr, pl.Expr]:
        if self.kind == "semi":
            return by_pairs(moment, *CAUSES[:2])
        late = _late(pl.col(TS), moment.watermark, self.side.dated)
        known = (pl.lit(LATE), pl.lit(moment.due.late, pl.Int64()))
        complete = either(late, known, (pl.lit("full"), pl.lit(moment.now, pl.Int64())))
        early = (pl.lit("early"), pl.lit(moment.due.early, pl.Int64()))
        return either(pl.col(self.side.ends) < moment.complete, complete, early)

    def _by_row(self, moment: Moment) -> tuple[pl.Expr, pl.Expr]:
        late = _late(pl.col(TS), moment.watermark, self.side.dated)
        return either(late, *both(moment))

    def _change(
        self, rows: pl.DataFrame, sign: int, words: tuple[pl.Expr, pl.Expr]
    ) -> pl.DataFrame:
        side, ledger = self.side, self.ledger
        known = rows.with_columns(
            pl.lit(sign, pl.Int8()).alias(SIGN),
            words[0].alias(EMIT),
            words[1].alias(DUE),
            pl.col(TS).alias(AT),
            self._row_key,
            *(pl.col(old).alias(new) for old, new in marked(side).items()),
        )
        lacking = {n: t for n, t in ledger.columns.items() if n not in known.columns}
        padded = known.with_columns(pl.lit(None, dtype).alias(n) for n, dtype in lacking.items())
        return padded.select(*ledger.columns)

    @property
    def _row_key(self) -> pl.Expr:
        place = row_key(self.side.place)
        if self.kind in ("semi", "anti"):
            return place
        before, after = ("[", ",null]") if self.side.name == "left" else ("[null,", "]")
        return pl.concat_str([pl.lit(before), place, pl.lit(after)]).alias(ROW_KEY)


def _late(time: pl.Expr, closed: int, dated: bool) -> pl.Expr:
    return (time < closed) & pl.lit(dated)
