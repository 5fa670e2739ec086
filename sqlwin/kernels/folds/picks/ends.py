"""NTH_VALUE, NTH_LAST and TOP_K: the few rows at one end of an order.

| column | dtype | what |
|--------|-------|------|
| `values` | List of the argument's | at most n values, the nearest to the end first |
| `ts`, `part`, `seq` | Lists of Int64, Int32, Int64 | their positions; not of TOP_K |

NTH_VALUE counts rows by position, NULLs as they are, NTH_LAST from the last row back;
NULL where there are fewer than n. TOP_K passes over NULLs: the k greatest values,
descending, all there are where those are fewer, an empty list for none. No more than
n rows need be kept: what is not among the n of a part is not among those of the whole.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sqlwin.kernels.folds.base import Fold, FoldCall
from sqlwin.kernels.folds.full_state.base import position
from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.gather import among, chunks, listed, lists_of
from sqlwin.kernels.order_statistics.wavelet import Wavelet
from sqlwin.kernels.ranks import ranked
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type


@dataclass(frozen=True)
class Nth(Fold):
    """The value of the n-th row, of the n-th from the end with `last`."""

    call: FoldCall
    last: bool
    ordered = True

    @property
    def n(self) -> int:
        return int(self.call.params[0])

    def sources(self) -> list[tuple[str, pl.Expr]]:
        return [("values", pl.col(self.call.args[0])), *position()]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.call.named(what) for what, _ in self.sources())

    def lift(self) -> list[pl.Expr]:
        lifted = []
        for what, source in self.sources():
            taking = self.call.taking(source)
            near = taking.tail(self.n).reverse() if self.last else taking.head(self.n)
            lifted.append(near.implode().alias(self.call.named(what)))
        return lifted

    def merge(self) -> list[pl.Expr]:
        values = [pl.col(column).explode(empty_as_null=False) for column in self.columns]
        by, down = values[1:], [self.last] * (len(values) - 1)
        # the list is cut, not the values: `sort_by(…).head(n)` of exploded ones panics in Polars
        ordered = (value.sort_by(by, descending=down) for value in values)
        return [value.implode().list.head(self.n) for value in ordered]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        values = accumulators[self.columns[0]]
        return values.list.get(self.n - 1, null_on_oob=True).alias(self.call.name)

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        taking, inner = self._taking(rows, frames)
        kept = taking.select(source.alias(self.call.named(what)) for what, source in self.sources())
        if self.last:
            # from the end back: rows and frames seen in a mirror
            kept = kept.reverse()
            inner = Frames(len(kept) - inner.hi, len(kept) - inner.lo)
        near = Frames(inner.lo, np.minimum(inner.hi, inner.lo + self.n))
        return pl.DataFrame([lists_of(column, near) for column in kept])

    def slide(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        taking, inner = self._taking(rows, frames)
        at = inner.hi - self.n if self.last else inner.lo + self.n - 1
        found = pl.when(pl.Series((at >= inner.lo) & (at < inner.hi))).then(pl.Series(at))
        chosen = pl.select(found).to_series()
        return taking[self.call.args[0]].gather(chosen).alias(self.call.name)

    def _taking(self, rows: pl.DataFrame, frames: Frames) -> tuple[pl.DataFrame, Frames]:
        mask = self.call.taken(rows)
        return rows.filter(pl.Series(mask)), among(mask, frames)


@dataclass(frozen=True)
class TopK(Fold):
    """TOP_K(x, k), of distinct values where the call says so."""

    call: FoldCall

    @property
    def k(self) -> int:
        return int(self.call.params[0])

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.call.named("values"),)

    def lift(self) -> list[pl.Expr]:
        return [self._of(self.call.arg().drop_nulls()).alias(self.columns[0])]

    def merge(self) -> list[pl.Expr]:
        return [self._of(pl.col(self.columns[0]).explode(empty_as_null=False))]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        lists = accumulators[self.columns[0]].cast(polars_type(self.call.type))
        return lists.alias(self.call.name)

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        """The greatest first: the one at place n - 1, then the one below, k times."""
        known = self.call.present(rows)
        values, inner = rows[self.call.args[0]].filter(pl.Series(known)), among(known, frames)
        codes, distinct = ranked(values)
        matrix = Wavelet(codes)
        found = [listed(values.clear(), np.zeros(0, dtype=np.int64))]
        for part in chunks(
            Frames(np.zeros_like(inner.lo), np.minimum(inner.hi - inner.lo, self.k))
        ):
            some = Frames(inner.lo[part.frames], inner.hi[part.frames])
            found.append(self._greatest(matrix, distinct, some))
        return pl.DataFrame([pl.concat(found).alias(self.columns[0])])

    def _of(self, values: pl.Expr) -> pl.Expr:
        values = values.unique() if self.call.distinct else values
        return values.sort(descending=True).head(self.k).implode()

    def _greatest(self, matrix: Wavelet, distinct: pl.Series, frames: Frames) -> pl.Series:
        """Of frames whose lists together are of bounded size."""
        left, owners, found = frames.hi - frames.lo, [], []
        for _ in range(min(self.k, int(left.max(initial=0)))):
            live = np.flatnonzero(left > 0)
            if not len(live):
                break
            some = Frames(frames.lo[live], frames.hi[live])
            codes = matrix.smallest(some, left[live] - 1)
            left[live] = matrix.below(some, codes) if self.call.distinct else left[live] - 1
            owners.append(live)
            found.append(codes)
        return _by_owner(owners, found, distinct, len(frames))


def _by_owner(owners: list[Ints], codes: list[Ints], distinct: pl.Series, count: int) -> pl.Series:
    """Rounds of (owner, code) as one list an owner, in the order of the rounds."""
    none = [np.zeros(0, dtype=np.int64)]
    owner, code = np.concatenate([*none, *owners]), np.concatenate([*none, *codes])
    order = np.argsort(owner, kind="stable")
    return listed(distinct.gather(code[order]), np.bincount(owner, minlength=count))
