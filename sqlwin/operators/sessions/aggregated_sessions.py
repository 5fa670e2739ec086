"""What the session operator is made of: its stores, its ledger, what it evicts and what it judges.

Invariant: all parts are of one operator, frozen; what changes between two batches is in the stores.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import polars as pl

from sqlwin.kernels.folds import Fold
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.superseding import SupersedingLedger
from sqlwin.operators.order.numbering import Numbering
from sqlwin.operators.ranks.cohorts import Ranks, rank_of
from sqlwin.operators.sessions.contents import SessionContents
from sqlwin.operators.sessions.judging import SessionJudging, judged_gap
from sqlwin.operators.sessions.merging import Spans
from sqlwin.operators.sessions.ranking import RankedSessions
from sqlwin.operators.sessions.restoring import SessionRestoring
from sqlwin.operators.sessions.retention import SessionRetention
from sqlwin.operators.sessions.stores import SessionStores
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.operators.windows.grouping import EXTENT, Grouping
from sqlwin.operators.windows.past import PastWindows
from sqlwin.policies import Expired, Policy
from sqlwin.state.stores.session_store import UNTIL
from sqlwin.windows import Unit
from sqlwin.windows.session import Session


@dataclass(frozen=True)
class AggregatedSessions(SessionRestoring):
    """partition: what sessions are of, some of the keys. where: of messages that were counted.

    sets: the GROUPING SETS, each some of the keys; none where there is no such clause.
    restoring: lost messages come back, and what goes out now goes out again: so all of it has a
    record, and nothing is evicted. weighted: rows may be retracted, see `changes`. ranks: of the
    sessions, or groups, that have the same bounds.
    """

    stream: str
    window: Session
    below: dict[str, pl.DataType]
    partition: tuple[str, ...]
    keys: dict[str, pl.DataType]
    folds: tuple[Fold, ...]
    values: tuple[pl.DataType, ...]
    policy: Policy
    where: str | None = None
    update_before: bool = False
    sets: tuple[tuple[str, ...], ...] = ()
    restoring: bool = False
    weighted: bool = False
    ranks: Ranks | None = None

    def __post_init__(self) -> None:
        if self.weighted and self.policy.expired is Expired.EMIT:
            raise ValueError("rows that may be retracted make no such sessions")

    @cached_property
    def by(self) -> Grouping:
        return Grouping(self.keys, self.sets)

    @cached_property
    def contents(self) -> SessionContents:
        """RETAIN n ROWS counts rows by instant, or past sessions by message."""
        instants = self.policy.retain_rows is not None and not self.arriving
        rest = (self.by, self.folds, self.where, instants, self.weighted)
        return SessionContents(self.stream, self.window, self.below, self.partition, *rest)

    @property
    def spans(self) -> Spans:
        return self.contents.spans

    @property
    def by_count(self) -> bool:
        return self.window.unit is Unit.ROWS

    @property
    def arriving(self) -> bool:
        """Whether messages are numbered as they come; those with weights have their numbers."""
        return self.by_count and not self.weighted

    @property
    def numbering(self) -> Numbering:
        return Numbering({})

    @property
    def output(self) -> dict[str, pl.DataType]:
        names = (fold.call.name for fold in self.folds)
        values = dict(zip(names, self.values, strict=True))
        return {**self.by.types, **self.edges, **values, **rank_of(self.ranks)}

    @cached_property
    def declared(self) -> SessionStores:
        parts = (self.contents, self.retention, self.ledger, self.closed)
        return SessionStores(*parts, self.below, self.output)

    def stores(self) -> list[StoreSpec]:
        """Messages of all keys are counted together, so that expires with none of them."""
        counts = [self.numbering.spec(ttl=None)] if self.arriving else []
        return [*self.declared, *counts, *self.past.stores()]

    @cached_property
    def past(self) -> PastWindows:
        """Of messages; those of time are kept as sessions."""
        newest = self.policy.retain_rows if self.arriving else None
        columns = {**self.output, **dict.fromkeys(EXTENT, pl.Int64())}
        return PastWindows(newest, (), self.by.names, columns, max(self.window.gap or 0, 1))

    @cached_property
    def ledger(self) -> SupersedingLedger:
        """Old values are always kept: a session may have to be retracted."""
        kept = tuple(fold.call.name for fold in self.folds)
        known, how = self.spans.identity, (self.by.names, self.arriving)
        if self.ranks is not None:
            return RankedSessions(self, known, UNTIL, (*kept, self.ranks.name), True, *how)
        return SupersedingLedger(self, known, UNTIL, kept, self.restoring, *how)

    @cached_property
    def retention(self) -> SessionRetention:
        judged = None if self.judging is None else self.judging.gap
        policy = replace(self.policy, retain_rows=None) if self.arriving else self.policy
        return SessionRetention(policy, self.spans, self.ledger, self.weighted, judged)

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Sessions of these rows alone where they are enough, else what is read of them."""
        return self.contents.prepare(rows, self._takes_rows)

    @property
    def _takes_rows(self) -> bool:
        emits = self.policy.expired is Expired.EMIT
        return self.by_count or bool(self.contents.whole) or emits

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.retention.horizons(stores)

    @cached_property
    def judging(self) -> SessionJudging | None:
        """How rows are judged by their sessions; None: by their own time."""
        gap = judged_gap(self.window, self.policy, bool(self.sets), self.weighted)
        return None if gap is None else SessionJudging(gap, self.spans.partition, self.spans.store)

    def judge(self, rows: pl.DataFrame, stores: Stores, ended: int) -> pl.DataFrame:
        assert self.judging is not None
        return self.judging.refused(rows, stores, ended)

    def repeated(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        return rows.clear()

    def oldest(self, stores: Stores, ended: int) -> int:
        assert self.judging is not None
        return self.judging.oldest(stores, ended)
