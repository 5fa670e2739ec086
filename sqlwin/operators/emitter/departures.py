"""Revisions of windows that may vanish: sessions, which are merged and parted.

A window that was there before a batch and is not after it has vanished. If it was ever
emitted it is withdrawn, `-D`: when its own policy says so, or, before that, with the
first emission of a window that overlaps it, so that the two never stand beside each
other; one that was emitted early has no other time. What waited in it waits on in the
windows that overlap it. Beside the columns of `Revisions` a record has

    __gone   the window has vanished
    __out    its last emission stands: it was not withdrawn

    touch    windows whose rows have changed, and windows that have vanished
    displaced   the vanished windows that are out and that given ones overlap

Worked example, EARLY EVERY 10 s: [0, 7) went out early; a row at now = 20 s makes it
[0, 9), which is due at 30 s. Then the withdrawal of [0, 7) goes out, and [0, 9).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.changes import WAS
from sqlwin.operators.emitter.revisions import (
    FULL,
    LATE,
    RECORD,
    SHOWN,
    WAITING,
    Revisions,
    early_due,
    late_due,
    recorded,
    sooner,
)
from sqlwin.operators.emitter.schema import ADDED, DUE, OLD, STORE
from sqlwin.policies import Late, Policy
from sqlwin.state.session_store import FROM, UNTIL

GONE, OUT = "__gone", "__out"
OPENED = "__opened"


@dataclass(frozen=True)
class Departures(Revisions):
    """Of windows `[__from, __until)` that do not overlap in one `keys`.

    by_count: in messages, of which none is late. weighted: rows may be withdrawn, so that
    nothing may take the place of one: then an open one, too, goes out by its policy.
    """

    keys: tuple[str, ...] = ()
    by_count: bool = False
    weighted: bool = False

    def columns(self, types: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
        return {**super().columns(types), GONE: pl.Boolean(), OUT: pl.Boolean()}

    def was(self, windows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        known = super().was(windows, stores)
        return known.with_columns(
            pl.col(GONE).fill_null(False), pl.col(OUT).fill_null(pl.col(WAS) >= 0)
        )

    def change(
        self, came: pl.DataFrame, gone: pl.DataFrame, stores: Stores, now: int, policy: Policy
    ) -> pl.DataFrame:
        """Windows `came` to have other rows, and `gone` are no more: records are made or renewed.

        Both have the identity, `__added`, `__full` and, as told without a record, `__was`
        and `__old.*`, as in `Revisions.touch`. Gives those that came to be full out of open
        ones, which go out at once, with their records beside them; none is made for them.
        """
        left = self._known(gone, stores)
        self._put_gone(left, stores, now, policy)
        stayed = self._inherited(self._known(came, stores), left)
        never = policy.late is Late.NEVER
        filled = pl.col(FULL) & pl.col(OPENED) & (~pl.col(SHOWN) | never)
        due = self._due(stayed.filter(~filled), policy, now)
        # late and never to be told, it would be taken for one that went out as it is now; one
        # that was withdrawn and is there again, for one that is not
        silent = pl.col(FULL) & never
        waiting = pl.when(~silent).then(pl.col(WAITING)).otherwise(0)
        kept = due.filter(recorded(policy) | silent | pl.col(GONE)).with_columns(
            waiting.alias(WAITING)
        )
        back = stayed.filter(filled, pl.col(GONE))  # or it would make room for itself
        there = pl.lit(False).alias(GONE)
        self._put(
            pl.concat([kept.with_columns(there), back.with_columns(there)], how="diagonal"), stores
        )
        if self.weighted and len(gone) and stores.pending is not None:
            # what waited in one that is no more may be due nowhere else
            stores.pending = everything(stores, STORE)[DUE].min()  # type: ignore[assignment]
        return stayed.filter(filled).with_columns(pl.lit(False).alias(GONE))

    def displaced(self, windows: pl.DataFrame, word: str, stores: Stores) -> pl.DataFrame:
        """Records of vanished windows that are out and that any of `windows` overlaps.

        word: a column, which each gets from the one that it makes room for.
        """
        if windows.is_empty():
            return stores[STORE].layout.empty().with_columns(pl.lit("").alias(word))
        keys = windows.select(self.keys) if self.keys else None
        found = stores[STORE].scan(windows[FROM].min(), END, keys)  # type: ignore[arg-type]
        out = found.filter(pl.col(GONE) & pl.col(OUT))
        if out.is_empty():
            return out.with_columns(pl.lit("").alias(word))
        pairs = self.overlapping(out, windows.select(*self.keys, FROM, UNTIL, word))
        last = pairs.group_by(self.identity).agg(pl.col(word).max())  # early, full, late
        return out.join(last, on=list(self.identity), how="inner", nulls_equal=True)

    def rivals(self, windows: pl.DataFrame, word: str, stores: Stores) -> pl.DataFrame:
        """Records of late windows that were never emitted and overlap vanished ones which
        `windows` make room for: told now, as late, their rows are never missing."""
        displaced = self.displaced(windows, word, stores)
        if displaced.is_empty():
            return displaced
        keys = displaced.select(self.keys) if self.keys else None
        found = stores[STORE].scan(displaced[FROM].min(), stores.closed, keys)  # type: ignore[arg-type]
        late = found.filter(~pl.col(GONE) & ~pl.col(OUT))
        on = list(self.identity)
        others = late.join(windows, on=on, how="anti", nulls_equal=True)
        pairs = self.overlapping(others, displaced.select(*self.keys, FROM, UNTIL))
        near = others.join(pairs.select(on), on=on, how="semi", nulls_equal=True)
        return near.with_columns(pl.lit("late").alias(word))

    def departed(self, stores: Stores, before: int) -> pl.DataFrame:
        """Identities of vanished windows that are out and end below `before`."""
        records = stores[STORE].scan(START, before)
        return records.filter(pl.col(GONE) & pl.col(OUT)).select(self.identity)

    def settle(self, sent: pl.DataFrame, stores: Stores, shown: bool = False) -> None:
        """As in `Revisions`; what has vanished is out no more, and new should it come again."""
        if sent.is_empty():
            return
        waited = sent[DUE].count() > 0
        there = ~pl.col(GONE)
        values = [pl.col(name.removeprefix(OLD)).alias(name) for name in self.old]
        self._put(
            sent.with_columns(
                (pl.col(WAS) + 1).cast(pl.Int32),
                pl.lit(None, pl.Int64).alias(DUE),
                pl.lit(0, pl.Int64).alias(WAITING),
                (there & (pl.col(SHOWN) | pl.lit(shown))).alias(SHOWN),
                there.alias(OUT),
                *values,
            ),
            stores,
        )
        if waited:
            stores.pending = everything(stores, STORE)[DUE].min()  # type: ignore[assignment]

    def _known(self, told: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Windows with their records, or with what is told where there is none."""
        names = (WAS, *self.old)
        renamed = told.rename({name: f"{name}.told" for name in names})
        known = self.was(renamed, stores)
        new = pl.col(WAITING).is_null()
        filled = known.with_columns(
            pl.when(new).then(pl.col(f"{name}.told")).otherwise(name).alias(name) for name in names
        )
        out = pl.when(new).then(pl.col(WAS) >= 0).otherwise(OUT).alias(OUT)
        return filled.with_columns(out).drop(f"{name}.told" for name in names)

    def _put_gone(self, left: pl.DataFrame, stores: Stores, now: int, policy: Policy) -> None:
        """A late one that is out is a correction of its own, as is an open one where rows are
        withdrawn; one never emitted is nothing."""
        if left.is_empty():
            return
        none = {DUE: pl.lit(None, pl.Int64), WAITING: pl.lit(0, pl.Int64)}
        counted = left.with_columns(pl.col(WAITING).fill_null(0))
        known = counted.filter(pl.col(OUT) | left[WAITING].is_not_null())
        late = policy.late is not Late.NEVER and not self.by_count
        corrects = pl.col(OUT) & (recorded(policy) if self.weighted else LATE & late)
        due = self._due(known.filter(corrects), policy, now)
        rest = known.filter(~corrects).with_columns(**none)
        both = pl.concat([due, rest.select(due.columns)])
        self._put(both.with_columns(pl.lit(True).alias(GONE)), stores)

    def _inherited(self, came: pl.DataFrame, left: pl.DataFrame) -> pl.DataFrame:
        """`came` with what waited in windows that they replace."""
        if left.is_empty():
            return came.with_columns(pl.col(WAITING).fill_null(0), pl.lit(False).alias(OPENED))
        opened = (~pl.col(FULL)).alias(OPENED)
        others = left.select(*self.keys, FROM, UNTIL, DUE, WAITING, opened)
        told = self.overlapping(came.select(self.identity), others).group_by(self.identity)
        of = [pl.col(DUE).min(), pl.col(WAITING).sum(), pl.col(OPENED).any()]
        on = list(self.identity)
        joined = came.join(
            told.agg(of), on=on, how="left", nulls_equal=True, maintain_order="left", suffix=".by"
        )
        return joined.with_columns(
            pl.sum_horizontal(WAITING, f"{WAITING}.by"),
            pl.min_horizontal(DUE, f"{DUE}.by"),
            pl.col(OPENED).fill_null(False),
        )

    def _due(self, known: pl.DataFrame, policy: Policy, now: int) -> pl.DataFrame:
        counted = known.with_columns(pl.col(WAITING) + pl.col(ADDED))
        due = pl.when(LATE).then(late_due(policy, now)).otherwise(early_due(policy, now))
        return counted.with_columns(due.cast(pl.Int64).alias(DUE))

    def overlapping(self, windows: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
        return overlapping(windows, others, self.keys)

    def _put(self, records: pl.DataFrame, stores: Stores) -> None:
        if records.is_empty():
            return
        kept = records.select(*self.identity, *RECORD, *self.old, GONE, OUT)
        stores[STORE].put(kept)
        stores.pending = sooner(stores.pending, kept[DUE].min())  # type: ignore[arg-type]


def overlapping(windows: pl.DataFrame, others: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """Pairs of one key that overlap; the bounds of the other as `.by`."""
    renamed = others.rename({FROM: f"{FROM}.by", UNTIL: f"{UNTIL}.by"})
    if keys:
        pairs = windows.join(renamed, on=list(keys), how="inner", nulls_equal=True)
    else:
        pairs = windows.join(renamed, how="cross")
    return pairs.filter(pl.col(FROM) < pl.col(f"{UNTIL}.by"), pl.col(f"{FROM}.by") < pl.col(UNTIL))
