"""What both joins share: two sides, a changelog, and who waits for the clock.

| call     | goes out                                                             |
|----------|----------------------------------------------------------------------|
| on_tick  | if the streams were silent for TIMEOUT, rows emitted as if they were complete; |
|          | then what is due by now                                              |
| on_end   | the same rows, and all that waits                                    |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.operators.contract import Stores, timeout_at
from sqlwin.operators.joins.changes.change_ledger import ChangeLedger
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.operators.state_queries import SIDE, MessageRange, StateQuery
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.polars_frames import empty
from sqlwin.policies import Policy
from sqlwin.schema import PART, POSITION, SEQ, TS, WEIGHT
from sqlwin.state.contract import HORIZON


class JoinBase(ABC):
    """A join of two sides."""

    left: Side
    right: Side
    kind: str
    policy: Policy
    update_before: bool

    @property
    def output(self) -> Columns:
        """The columns of an emission, before those of a change."""
        single = self.kind in ("semi", "anti")
        return {**self.left.columns, **({} if single else self.right.columns)}

    @property
    @abstractmethod
    def repeats(self) -> bool:
        """Whether a result may change after it was emitted."""

    @property
    def retains_rows(self) -> bool:
        """Whether it knows RETAIN n ROWS."""
        return False

    @abstractmethod
    def stores(self) -> list[StoreSpec]:
        """As of `Timed`."""

    @abstractmethod
    def show_all(self, stores: Stores, now: int) -> pl.DataFrame:
        """Changes that emit the rows which are not complete as if they were."""

    @cached_property
    def ledger(self) -> ChangeLedger:
        sides = (self.left, self.right)
        return ChangeLedger(self.output, *sides, self.policy, self.repeats, self.update_before)

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        """What `on_batch` takes of the rows of a side: 0 is the left one. Stateless."""
        own = (self.left, self.right)[side]
        weight = [WEIGHT] if own.weighted and WEIGHT in rows.columns else []
        return own.numbered(rows).select(*own.row, *weight)

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        at = timeout_at(self.policy.timeout, stores)
        if at is None or now < at:
            return self.ledger.emit(self.ledger.none(), stores, now)
        stores.last_input = None
        return self.ledger.emit(self.show_all(stores, now), stores, now, silent=True)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        shown = self.show_all(stores, now)
        return self.ledger.emit(shown, stores, now, forced=True)

    def next_deadline(self, stores: Stores) -> int | None:
        times = (stores.pending, timeout_at(self.policy.timeout, stores))
        return min((time for time in times if time is not None), default=None)

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        return empty({HORIZON: pl.Int64()})

    def nothing(self) -> pl.DataFrame:
        return self.ledger.nothing()

    # State queries.

    @property
    def equal(self) -> Columns:
        """The equal columns, as the left calls them."""
        return {name: self.left.columns[name] for name in self.left.keys}

    @property
    def key(self) -> Columns:
        """Of windows: the same, but of sessions the session key."""
        return self.equal

    @property
    def order(self) -> tuple[str, ...]:
        return POSITION

    def windows(self, query: StateQuery, stores: Stores) -> pl.DataFrame:
        why = "a row finds one partner, however far it is: such a join has no windows"
        raise QueryError(why, legal="messages(…), with join_keys")

    def messages(self, between: MessageRange, stores: Stores) -> pl.DataFrame:
        """Those of both sides, `__side` first; a row has NULL in the columns of the other."""
        found = [self._held(side, between, stores) for side in self._kept]
        return pl.concat(found, how="diagonal")

    @property
    def _kept(self) -> tuple[Side, ...]:
        """The sides whose rows are in a store."""
        return self.left, self.right

    def _held(self, side: Side, between: MessageRange, stores: Stores) -> pl.DataFrame:
        rows = side.scan(stores)
        wanted = replace(between, keys=self._keys_of(side, between.keys))
        held = rows.select(pl.lit(side.name).alias(SIDE), *side.columns, *POSITION)
        found = wanted.of(held) if self._known_by_time(side) else wanted.counted(held)
        if stores.sides is not None and between.keys is not None:
            stores.sides.note_rows(side.name, rows.join(found, on=[PART, SEQ], how="semi"))
        return found

    def _known_by_time(self, side: Side) -> bool:
        """Whether its rows are known by their time, or by their numbers."""
        return side.at == TS or side.dated

    def _keys_of(self, side: Side, keys: pl.DataFrame | None) -> pl.DataFrame | None:
        """Keys that are asked for, all or some, under the side's own names."""
        if keys is None:
            return None
        named = zip(self.equal, side.keys, strict=True)
        return keys.rename({name: own for name, own in named if name in keys.columns})

    def _check_sides(self) -> None:
        """ValueError for sides or policies that no join can have."""
        left, right, policy = self.left, self.right, self.policy
        if left.window.mirrored != right.window:
            raise ValueError(f"{left.window} seen from the right is not {right.window}")
        shared = left.columns.keys() & right.columns.keys()
        if shared:
            raise ValueError(f"both sides have {', '.join(sorted(shared))}")
        for one, other in zip(left.keys, right.keys, strict=True):
            if left.columns[one] != right.columns[other]:
                raise ValueError(f"{one} and {other} are not of one type")
        if policy.retain_rows is not None and not self.retains_rows:
            raise ValueError("RETAIN n ROWS counts rows by their time")
