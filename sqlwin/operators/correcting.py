"""What operators over time share: corrections wait for their period, then go out.

A period runs from the first change of a window that was not emitted yet, so each
window has its own; `Stores.pending` is the oldest of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import polars as pl

from sqlwin.operators.changes import CHANGE_SCHEMA
from sqlwin.operators.contract import Stores
from sqlwin.operators.revisions import Revisions
from sqlwin.policies import Policy


class Correcting(ABC):
    """A window operator that emits again what late rows change."""

    policy: Policy

    @property
    @abstractmethod
    def output(self) -> dict[str, pl.DataType]:
        """The columns of an emission, before those of a change."""

    @property
    @abstractmethod
    def revisions(self) -> Revisions: ...

    @abstractmethod
    def _correct(self, due: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Emit the windows of these records again, and settle them."""

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        deadline = self.next_deadline(stores)
        if deadline is None or now < deadline:
            return self.nothing()
        return self._correct(self.revisions.due(stores, now - self.policy.late_period), stores)

    def next_deadline(self, stores: Stores) -> int | None:
        return None if stores.pending is None else stores.pending + self.policy.late_period

    def nothing(self) -> pl.DataFrame:
        return pl.DataFrame(schema={**self.output, **CHANGE_SCHEMA})
