"""The ledger of results that may be superseded: sessions, which are merged and split.

A session that was there before a batch and is not after it exists no more. If it stands it is
retracted, `-D`: when its own policy says so, or, before that, with the first emission of a
session that overlaps it and so supersedes it, that the two never stand beside each other; one
that was emitted early has no other time. What was pending in it is pending in the sessions that
overlap it. Where rows are retracted nothing may take its place: then it is *orphaned*. Beside the
columns of `ResultLedger` a record has

    __exists   whether the session does

What must go out together is a cohort: a session, those that it supersedes, and the other late
sessions, never emitted, that overlap these; so what was emitted of a row is never retracted
without what holds it now.

    on_change    sessions whose rows have changed, and sessions that exist no more
    superseded   those that stand, exist no more, and are overlapped by given ones

Worked example, EARLY EVERY 10 s: [0, 7) went out early; a row at now = 20 s makes it
[0, 9), which is due at 30 s. Then the `-D` of [0, 7) goes out, and [0, 9).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.kernel import due
from sqlwin.operators.emitter.records import LATE, least
from sqlwin.operators.emitter.results import FULL, ResultLedger, Results
from sqlwin.operators.emitter.schema import (
    ADDED,
    DUE,
    EXISTS,
    FINAL,
    FORCED,
    PENDING,
    STANDS,
    STORE,
    WORD,
)
from sqlwin.polars_frames import empty
from sqlwin.policies import Late
from sqlwin.state.stores.session_store import FROM, UNTIL

OPENED = "__opened"


class SupersededResults(Results):
    """Sessions whose results may be superseded."""

    @abstractmethod
    def orphaned(self, stores: Stores) -> pl.DataFrame:
        """Records of open, unforced results that stand, exist no more, and that nothing open
        supersedes."""


@dataclass(frozen=True)
class SupersedingLedger(ResultLedger):
    """Of results `[__from, __until)` that do not overlap in one `keys`.

    by_count: in messages, of which none is late.
    """

    results: SupersededResults
    keys: tuple[str, ...] = ()
    by_count: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*super().columns, EXISTS)

    def schema(self, types: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        return {**super().schema(types), EXISTS: pl.Boolean()}

    def known(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return super().known(ids, stores).with_columns(pl.col(EXISTS).fill_null(True))

    def emptied(
        self, held: pl.DataFrame, stores: Stores, lo: int = START, hi: int = END
    ) -> pl.DataFrame:
        """None: what holds no row any more is superseded, or an orphan."""
        return held.select(self.identity).clear()

    def all_open(self, stores: Stores) -> Iterator[pl.DataFrame]:
        yield from super().all_open(stores)
        if self.results.weighted:
            yield self.results.orphaned(stores).with_columns(FULL.alias(WORD))

    # What a batch changes.

    def on_change(
        self, added: pl.DataFrame, left: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        """Results `added` to have other rows, and `left` exist no more: note it.

        Both of `implying`, with `__added` and `__final`. Gives those that came to be final out of
        open ones, which go out at once; no record is made for them.
        """
        self._put_left(left, stores, now)
        stayed = self._inherited(added, left)
        never = self.policy.late is Late.NEVER
        filled = pl.col(FINAL) & pl.col(OPENED) & (~pl.col(FORCED) | never)
        changed = self._renewed(stayed.filter(~filled), now)
        # final and never emitted it would be taken for one that went out as it is now; one that
        # was retracted and exists again, for one that does not
        silent = pl.col(FINAL) & never
        pending = pl.when(~silent).then(PENDING).otherwise(0).alias(PENDING)
        kept = changed.filter(self._goes | silent | ~pl.col(EXISTS)).with_columns(pending)
        out = stayed.filter(filled)
        back = out.filter(~pl.col(EXISTS)) if len(out) else out  # or it would make room for itself
        there = pl.lit(True).alias(EXISTS)
        self._write(pl.concat([kept, back], how="diagonal").with_columns(there), stores)
        if self.results.weighted and len(left) and stores.pending is not None:
            # what was pending in one that exists no more may be due nowhere else
            self.renew_deadline(stores)
        return out.with_columns(there) if len(out) else out

    def _put_left(self, left: pl.DataFrame, stores: Stores, now: int) -> None:
        """A late one that stands is a correction of its own, as is an open one where rows are
        retracted; one never emitted is nothing."""
        if left.is_empty():
            return
        noted = left.filter(pl.col(STANDS) | pl.col(PENDING).is_not_null())
        late = self.policy.late is not Late.NEVER and not self.by_count
        corrects = pl.col(STANDS) & (self._goes if self.results.weighted else LATE & late)
        corrections = self._renewed(noted.filter(corrects), now)
        none = {DUE: pl.lit(None, pl.Int64), PENDING: pl.lit(0, pl.Int64)}
        rest = noted.filter(~corrects).with_columns(**none)
        both = pl.concat([corrections, rest.select(corrections.columns)])
        self._write(both.with_columns(pl.lit(False).alias(EXISTS)), stores)

    def _inherited(self, added: pl.DataFrame, left: pl.DataFrame) -> pl.DataFrame:
        """`added` with what was pending in results that they supersede."""
        if left.is_empty():
            return added.with_columns(pl.lit(False).alias(OPENED))
        opened = (~pl.col(FINAL)).alias(OPENED)
        others = left.select(*self.keys, FROM, UNTIL, DUE, PENDING, opened)
        by = self.overlapping(added.select(self.identity), others).group_by(self.identity)
        of = [pl.col(DUE).min(), pl.col(PENDING).sum(), pl.col(OPENED).any()]
        on = list(self.identity)
        joined = added.join(
            by.agg(of), on=on, how="left", nulls_equal=True, maintain_order="left", suffix=".by"
        )
        return joined.with_columns(
            pl.sum_horizontal(PENDING, f"{PENDING}.by"),
            pl.min_horizontal(DUE, f"{DUE}.by"),
            pl.col(OPENED).fill_null(False),
        )

    def _renewed(self, known: pl.DataFrame, now: int) -> pl.DataFrame:
        counted = known.with_columns(pl.col(PENDING).fill_null(0) + pl.col(ADDED))
        return counted.with_columns(due(self.policy, LATE, now))

    def _write(self, records: pl.DataFrame, stores: Stores) -> None:
        if len(records):
            self.note(records, stores)
            stores.pending = least([stores.pending, records[DUE].min()])

    # What goes out together.

    def cohort(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self._with_superseded(self._with_rivals(results, stores), stores)

    def superseded(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Records of those that exist no more and stand, and that any of `results` overlaps;
        with the word of the one that supersedes it."""
        none = empty({**stores[STORE].layout.schema, WORD: pl.String()})
        if results.is_empty():
            return none
        keys = results.select(self.keys) if self.keys else None
        found = stores[STORE].scan(results[FROM].min(), END, keys)  # type: ignore[arg-type]
        left = found.filter(~pl.col(EXISTS), STANDS) if len(found) else found
        if left.is_empty():
            return none
        pairs = self.overlapping(left, results.select(*self.keys, FROM, UNTIL, WORD))
        last = pairs.group_by(self.identity).agg(pl.col(WORD).max())  # early, full, late
        return left.join(last, on=list(self.identity), how="inner", nulls_equal=True)

    def departed(self, stores: Stores, before: int = END) -> pl.DataFrame:
        """Records of those that exist no more, stand, and end below `before`."""
        return stores[STORE].scan(START, before).filter(~pl.col(EXISTS), STANDS)

    def _with_superseded(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        superseded = self.superseded(results.filter(EXISTS), stores)
        if superseded.is_empty():
            return results
        on = list(self.identity)
        others = results.join(superseded, on=on, how="anti", nulls_equal=True)
        return pl.concat([others, superseded], how="diagonal")

    def _with_rivals(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """And the late results, never emitted, that overlap what `results` supersede."""
        # of rows that are retracted, what overlaps one that is gone may be due later than it
        first = results if self.results.weighted else results.filter(EXISTS)
        superseded = self.superseded(first, stores)
        if superseded.is_empty():
            return results
        keys = superseded.select(self.keys) if self.keys else None
        found = stores[STORE].scan(superseded[FROM].min(), stores.watermark, keys)  # type: ignore[arg-type]
        late = found.filter(EXISTS, ~pl.col(STANDS))
        on = list(self.identity)
        others = late.join(first, on=on, how="anti", nulls_equal=True)
        pairs = self.overlapping(others, superseded.select(*self.keys, FROM, UNTIL))
        near = others.join(pairs.select(on), on=on, how="semi", nulls_equal=True)
        if near.is_empty():
            return results
        rivals = self._now(near.with_columns(pl.lit("late").alias(WORD)), stores)
        return self._with_rivals(pl.concat([results, rivals], how="diagonal"), stores)

    def _now(self, known: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        there = self.results.valued(known.filter(EXISTS), stores)
        left = known.filter(~pl.col(EXISTS), STANDS)
        return pl.concat([there, left], how="diagonal") if len(left) else there

    def overlapping(self, results: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
        return overlapping(results, others, self.keys)


def overlapping(results: pl.DataFrame, others: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """Pairs of one key that overlap; the bounds of the other as `.by`."""
    renamed = others.rename({FROM: f"{FROM}.by", UNTIL: f"{UNTIL}.by"})
    if keys:
        pairs = results.join(renamed, on=list(keys), how="inner", nulls_equal=True)
    else:
        pairs = results.join(renamed, how="cross")
    return pairs.filter(pl.col(FROM) < pl.col(f"{UNTIL}.by"), pl.col(f"{FROM}.by") < pl.col(UNTIL))
