"""Ranks among the results of one group window, and among the groups of one session.

A rank is a value of a result, and the results that share a window and a partition, a *family*, are
a cohort: whenever one goes out they are taken as they are now, ranked anew, and those that differ
from what was emitted of them go out too. So the ranks that stand always agree with each other.

- One of the family that was never emitted, and is not pending, stays so: its time has not come.
  It has its place all the same. What was pending in the family is pending no more.
- Ties go by the group keys; where the rows of a window are not grouped, by position.
- A result that holds no row any more goes out `-D`; then it has no place, until it comes again.
- One that the stores have no longer, for it alone is out of retention, *holds its place* as it was
  emitted, and so does a superseded session until it is retracted. What is retracted with a
  session brings its own family, and so on, until nothing else goes out.

Invariant: within retention there is a record of each result that was emitted, with its values and
rank. Nothing is implied of one without. With RETAIN n ROWS alone no window is ever out of reach of
a key not seen yet: then no record leaves.

Worked example, rank of products by total, largest first, in the minute from 9:00: at
9:01 tea (3) and milk (2) go out `full` as 1 and 2, revision 0. A late row adds 4 to
milk: it goes out `late` as 6 and 1, revision 1, and so does tea, as 3 and 2, revision 1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

import polars as pl

from sqlwin.kernels.standings import Standing
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores, bounds
from sqlwin.operators.emitter.kernel import changelog, goes_out
from sqlwin.operators.emitter.results import ResultLedger, Results
from sqlwin.operators.emitter.schema import DUE, EXISTS, OLD, PENDING, STANDS, STORE, WORD
from sqlwin.operators.state_queries import FULL_WINDOW, STATE
from sqlwin.schema import REVISION, ROW_KEY

CHOSEN = "__chosen"
"""It goes out for itself, not because others moved it."""
HERE = "__here"
"""It is no superseded session that holds its place."""
GOES = "__goes"


@dataclass(frozen=True)
class Ranks:
    """name: of the column of ranks. standing: within `partition`, and the window."""

    name: str
    standing: Standing

    @property
    def partition(self) -> tuple[str, ...]:
        return self.standing.partition

    @property
    def sorted_by(self) -> tuple[str, ...]:
        """Within a window."""
        return (*self.partition, self.name, ROW_KEY)


def rank_of(ranks: Ranks | None) -> dict[str, pl.DataType]:
    return {} if ranks is None else {ranks.name: pl.Int64()}


class RankedResults(Results):
    """Results that may be ranked."""

    ranks: Ranks | None = None

    @property
    @abstractmethod
    def ties(self) -> tuple[str, ...]:
        """The keys of a group."""

    @property
    @abstractmethod
    def bounds_of_window(self) -> tuple[str, ...]:
        """The columns of an identity that say which window it is."""

    @abstractmethod
    def sharing(self, results: pl.DataFrame, family: list[str], stores: Stores) -> pl.DataFrame:
        """Identities of those that agree with one of `results` in `family`, and are within
        retention."""


@dataclass(frozen=True)
class RankedLedger(ResultLedger):
    """`results` have ranks, and `kept` are all values, the rank among them."""

    results: RankedResults
    recorded: bool = True

    @property
    def ranks(self) -> Ranks:
        assert self.results.ranks is not None
        return self.results.ranks

    @property
    def family(self) -> list[str]:
        """The columns that say which results are ranked among each other."""
        return [*self.results.bounds_of_window, *self.ranks.partition]

    def before(self, touched: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return self.known(touched, stores) if len(touched) else touched

    def retire(self, horizons: pl.DataFrame, stores: Stores) -> None:
        """They hold their places until the family goes."""

    # What goes out.

    def emit_all(self, chosen: Iterable[pl.DataFrame], stores: Stores) -> pl.DataFrame:
        """All at once, or a family would go out as it is between two of them."""
        results = self._first([self._now(one, stores) for one in chosen if len(one)])
        return self.send(results if results.is_empty() else self.cohort(results, stores), stores)

    def send(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if results.is_empty():
            return self.results.nothing()
        placed = self._placed(results)
        ours = pl.any_horizontal(CHOSEN, STANDS)
        placed = placed.with_columns((goes_out(self.kept) & ours).alias(GOES))
        self._settle(placed, stores)
        return changelog(placed.filter(GOES), self.results.output, self.results.update_before)

    def cohort(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """And all of their families, and what goes out with those of them that are pending."""
        all_ = self._marked(super().cohort(results, stores), chosen=True)
        seen = all_.select(self.identity)
        while True:
            near = self.results.sharing(all_, self.family, stores)
            others = near.join(seen, on=near.columns, how="anti", nulls_equal=True)
            if others.is_empty():
                return pl.concat([all_, self.holding(all_, stores)], how="diagonal")
            own = self.own(self.known(others, stores), stores)
            waits = pl.col(PENDING).fill_null(0) > 0
            goes = self._now(own.filter(waits), stores)
            goes = super().cohort(goes, stores) if len(goes) else goes
            stays = self._marked(self._now(own.filter(~waits), stores), chosen=False)
            # one that stays may be brought along later, as another is retracted
            brought = [all_.filter(CHOSEN), self._marked(goes, chosen=True)]
            all_ = self._first([*brought, all_.filter(~pl.col(CHOSEN)), stays])
            seen = pl.concat([seen, others.select(seen.columns), all_.select(seen.columns)])

    def _first(self, parts: list[pl.DataFrame]) -> pl.DataFrame:
        """Each result once, as the first part has it that has it."""
        some = [part for part in parts if len(part)]
        if not some:
            return pl.DataFrame()
        both = pl.concat(some, how="diagonal")
        return both.unique(self.identity, keep="first", maintain_order=True)

    def holding(self, results: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of the families of `results` that stand and are not among these: as emitted."""
        on = list(self.identity)
        windows = results.select(self.family).unique()
        records = stores[STORE].scan(*bounds(results[self.time])).filter(STANDS)
        near = records.join(windows, on=self.family, how="semi", nulls_equal=True)
        left = near.join(results, on=on, how="anti", nulls_equal=True)
        here = pl.col(EXISTS) if EXISTS in left.columns else pl.lit(True)
        return left.with_columns(
            *(pl.col(OLD + name).alias(name) for name in self.kept),
            pl.lit(True).alias(EXISTS),
            pl.lit("late").alias(WORD),
            pl.lit(False).alias(CHOSEN),
            here.alias(HERE),
        )

    def _marked(self, results: pl.DataFrame, chosen: bool) -> pl.DataFrame:
        return results.with_columns(pl.lit(chosen).alias(CHOSEN), pl.lit(True).alias(HERE))

    def _placed(self, results: pl.DataFrame) -> pl.DataFrame:
        """With ranks; first those that are no more."""
        shown = self.results.presented(results)
        ranked = self._ranked(shown.filter(EXISTS))
        return pl.concat([shown.filter(~pl.col(EXISTS)), ranked], how="diagonal")

    def _ranked(self, shown: pl.DataFrame) -> pl.DataFrame:
        rank, name = self.ranks.standing, self.ranks.name
        standing = Standing(rank.function, tuple(self.family), rank.order)
        ranked = standing.of(shown.drop(name, strict=False), name, ties=self.results.ties)
        return ranked.with_columns(pl.col(name).cast(pl.Int64))

    def _settle(self, placed: pl.DataFrame, stores: Stores) -> None:
        """Of one that goes out because others moved it, what is pending stays so."""
        went = self.revised(placed.filter(GOES))
        as_it_was = placed.filter(~pl.col(GOES), CHOSEN)
        self.quiet(pl.concat([went.filter(CHOSEN), as_it_was.select(went.columns)]), stores)
        moved = went.filter(~pl.col(CHOSEN)).with_columns(pl.col(HERE).alias(EXISTS))
        self._put(moved, stores, moved[DUE])

    # State queries.

    def looked_at(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        now = super().looked_at(ids, stores)
        if now.is_empty():
            return now.with_columns(pl.lit(None, pl.Int64).alias(self.ranks.name))
        # nothing is implied of one that has no record
        last = self.known(now.select(self.identity), stores).select(*self.identity, REVISION)
        known = now.drop(REVISION).join(last, on=list(self.identity), how="left", nulls_equal=True)
        left = self.holding(now, stores).filter(HERE)
        stated_ = left.with_columns(pl.lit(FULL_WINDOW).alias(STATE))
        both = pl.concat([known, stated_], how="diagonal")
        emitted = pl.when(pl.col(REVISION) >= 0).then(REVISION)
        return self._ranked(self.results.presented(both)).with_columns(emitted.alias(REVISION))
