"""Left rows of an ASOF join with the nearest right row of each, and what was emitted of them.

Where rows have a TTL, a left row that is *met*, emitted or complete when it was looked
at, keeps the right row it met when that one is forgotten: until a nearer one comes, or that
one is retracted, or the left row is replaced. So it is known by its place as well.

| `left_known`                | is                                             |
|-----------------------------|------------------------------------------------|
| `__out`, `__old.*`          | whether it was emitted, or is about to be, and with which values |
| `__met`, `__old.` and a mark | with a TTL: whether it is met, and by which row   |

Worked example, `>=`, right rows at 3 and 5, a left one at 8 that was emitted with that at 5. It
is forgotten. A right row at 4 changes nothing; one at 6 is nearer than the one at 5 was.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.instants import START
from sqlwin.kernels.joins import coded
from sqlwin.kernels.joins import nearest as nearest_rows
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.schema import OLD
from sqlwin.operators.joins.pairing import marked
from sqlwin.operators.joins.schema import OUT, WANTED
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.schema import TS
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinWindow

KNOWN, FOUND = "left_known", "__found"
MET, BACK, ANEW = "__met", "__back", "__anew"
MEETS, TAKEN = "__meets", "__taken"


def window_of(match: AsOf) -> JoinWindow:
    """Where the right row may be, seen from the left one.

    >>> window_of(AsOf(">"))
    JoinWindow(unit=<Unit.RANGE: 'RANGE'>, low=None, high=-1)
    """
    apart = int(match.strict)
    return JoinWindow(Unit.RANGE, *((None, -apart) if match.backward else (apart, None)))


@dataclass(frozen=True)
class Nearest:
    """retain: of the policy, microseconds."""

    left: Side
    right: Side
    match: AsOf
    retain: int | None

    @cached_property
    def known(self) -> Columns:
        left = self.left
        names = dict.fromkeys((*left.layout.keys, *left.layout.order))
        old = {OLD + name: dtype for name, dtype in self.right.columns.items()}
        met = {MET: pl.Boolean(), **self.met} if self.forgets else {}
        return {**{name: left.row[name] for name in names}, OUT: pl.Boolean(), **old, **met}

    @property
    def forgets(self) -> bool:
        return self.left.forgets or self.right.forgets

    @property
    def met(self) -> Columns:
        """The place of the right row that a left one has met."""
        return {OLD + name: dtype for name, dtype in self.right.marks.items()}

    def valued(
        self,
        rows: pl.DataFrame,
        stores: Stores,
        removed: tuple[pl.DataFrame, pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        """Left rows with the nearest right row of each and what is known of them.

        removed: the left and the right rows that a batch retracts.
        """
        left, right = self.left, self.right
        others = right.near(rows, left, stores)
        ends = coded(rows, others, left.keys, right.keys, TS)
        at = pl.Series(
            nearest_rows(*ends, self.match.backward, self.match.strict), dtype=pl.Int64()
        )
        at = at.set(at < 0, None)
        places = [pl.col(old).alias(new) for old, new in marked(right).items()]
        found = others.select(pl.col(*right.columns), *places).select(pl.all().gather(pl.lit(at)))
        valued = pl.concat(
            [rows, found.with_columns(at.is_not_null().alias(FOUND))], how="horizontal"
        )
        known = self._with_known(valued, stores)
        return self._standing(known, removed) if self.forgets else known

    def _with_known(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        left = self.left
        keys = rows.select(left.keys).unique() if left.keyed else None
        known = stores[KNOWN].scan(*bounds(rows[TS]), keys)
        on = list(left.identity)
        emitted = [name for name in self.known if name not in left.row]
        joined = rows.join(known.select(*on, *emitted), on=on, how="left", maintain_order="left")
        return joined.with_columns(pl.col(OUT).fill_null(False))

    def _standing(
        self, rows: pl.DataFrame, removed: tuple[pl.DataFrame, pl.DataFrame] | None
    ) -> pl.DataFrame:
        """With the right row that each has met, where that is nearer than any that is there.

        `__back`: the one it has met is retracted; `__anew`: the row itself is.
        """
        right, own = marked(self.right), list(self.left.identity)
        lefts, rights = removed or (None, None)
        keys = dict(zip(self.right.keys, self.left.keys, strict=True))
        met = {**keys, **{mark: OLD + mark for mark in right}}
        known = _flagged(
            _flagged(rows, lefts, dict(zip(own, own, strict=True)), ANEW), rights, met, BACK
        )
        nearer = pl.lit(False)
        for mark in reversed(right):
            there, here = pl.col(OLD + mark), pl.col(right[mark])
            beats = there > here if self.match.backward else there < here
            nearer = beats | ((there == here) & nearer)
        has_met = pl.col(MET).fill_null(False) & pl.col(OLD + TS).is_not_null()
        stands = has_met & ~pl.col(BACK) & ~pl.col(ANEW) & (~pl.col(FOUND) | nearer)
        names = {**{name: name for name in self.right.columns}, **right}
        kept = [
            pl.when(stands).then(OLD + name).otherwise(here).alias(here)
            for name, here in names.items()
        ]
        return known.with_columns(*kept, pl.col(FOUND) | stands)

    def remember(self, rows: pl.DataFrame, stores: Stores) -> None:
        """Keep what is emitted of rows from now on, if it is `__taken`, and what they have met."""
        values = {OUT: WANTED, **{OLD + name: name for name in self.right.columns}}
        known = rows.with_columns(
            pl.when(TAKEN).then(new).otherwise(old).alias(old) for old, new in values.items()
        )
        if self.forgets:
            known = self._having_met(known, stores)
        stores[KNOWN].put(known.filter(TAKEN).select(*self.known))

    def _having_met(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """With what they have met, `__taken` where that is new; to meet another reads both."""
        places = {OLD + old: new for old, new in marked(self.right).items()}
        now = {old: pl.when(MEETS).then(new) for old, new in places.items()}
        other = [expr.ne_missing(pl.col(old)) for old, expr in now.items()]
        changed = rows.filter(pl.any_horizontal(BACK, ANEW, *other))
        if stores.sides is not None:
            stores.sides.note_rows("left", changed)
            met = changed.filter(MEETS, FOUND).select(
                pl.col(new).alias(old) for old, new in marked(self.right).items()
            )
            stores.sides.note_rows("right", met)
        ever = pl.col(TAKEN) | pl.any_horizontal(
            *other, pl.col(MET).fill_null(False) != pl.col(MEETS)
        )
        return rows.with_columns(
            ever.alias(TAKEN),
            pl.col(MEETS).alias(MET),
            *(expr.alias(old) for old, expr in now.items()),
        )

    def complete(self, closed: int) -> pl.Expr:
        if self.match.backward:
            return pl.col(TS) < closed
        retain = self.retain
        leaves = pl.lit(False) if retain is None else pl.col(TS) < closed - retain
        return pl.when(FOUND).then(pl.col(marked(self.right)[TS]) < closed).otherwise(leaves)

    def was_complete(self, closed: int) -> pl.Expr:
        """Certain, and not only since what they waited for was forgotten."""
        if self.match.backward or not self.forgets:
            return self.complete(closed)
        return self.complete(closed) & pl.col(MET).fill_null(False)

    def horizon(self, horizon: int, stores: Stores) -> int:
        """The first left row whose nearest, looking ahead, is within retention."""
        rows = self.valued(self.left.scan(stores, START, horizon), stores)
        wanted = rows.filter(pl.col(marked(self.right)[TS]) >= horizon)
        times: list[int] = wanted[TS].to_list()
        return min([horizon, *times])


def _flagged(
    rows: pl.DataFrame, removed: pl.DataFrame | None, on: dict[str, str], flag: str
) -> pl.DataFrame:
    """With whether each is of `removed`, whose columns are called as `on` says."""
    if removed is None or removed.is_empty():
        return rows.with_columns(pl.lit(False).alias(flag))
    flagged = removed.select(
        *(pl.col(old).alias(new) for old, new in on.items()), pl.lit(True).alias(flag)
    )
    joined = rows.join(flagged, on=list(on.values()), how="left", maintain_order="left")
    return joined.with_columns(pl.col(flag).fill_null(False))
