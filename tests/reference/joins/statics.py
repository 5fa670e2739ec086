"""The specification of joins with a static table: each left row with all rows of the table.

What is true of a left row is so for ever: a pair with each row of the table that has its
keys (NULL equals nothing) and of which the residual is TRUE; LEFT, that it has none; SEMI,
that it has one; ANTI, that it has none. It is emitted `full`, by the early policy.

Weights: a left row of weight -1 retracts what the row of its position made. One of the table, which
may be made of other tables, takes back the row itself; all that comes before the first left row.

State is the operator's own and does not survive it: this is for tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

from sqlwin.errors import RunError
from sqlwin.operators.contract import Stores
from sqlwin.schema import WEIGHT
from tests.reference.joins.join_sides import (
    Logged,
    ident,
    order,
    pair_key,
    place_key,
)
from tests.reference.kernels.rows import Row


@dataclass
class ReferenceStatic(Logged):
    """kind: inner, left, semi or anti. residual: from a frame of pairs to which are true."""

    residual: Callable[[pl.DataFrame], pl.Series] | None = None
    single: bool = False

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        for row in right.to_dicts():  # of a result, what it replaces goes before it
            self.right.kept.pop(ident(row), None)
            if row.get(WEIGHT, 1) > 0:
                self.right.kept[ident(row)] = row
        due = self.log.due(now).early
        for row in sorted(left.to_dicts(), key=lambda row: row.get(WEIGHT, 1)):
            for key, other in self._results(row):
                values = self.joined(row, other) if row.get(WEIGHT, 1) > 0 else None
                self.log.change(key, values, "full", due, order(row, other))
        return self.records(self.log.go(now, self.closed))

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        self.closed = stores.watermark = max(watermark, self.closed)
        return self.records(self.log.go(now, self.closed))

    def show_all(self, now: int) -> None:
        pass

    def _results(self, row: Row) -> Iterator[tuple[str, Row | None]]:
        """The row_keys that are true of a left row, with the row of the table in each."""
        others = [other for other in self.right.kept.values() if self._match(row, other)]
        if self.single and len(others) > 1:
            keys = ", ".join(f"{key} = {row[key]}" for key in self.left.keys)
            found = f" for {keys}" if keys else ""
            raise RunError(f"a query in an expression gives more than one row{found}")
        if self.kind in ("inner", "left"):
            yield from ((pair_key(row, other), other) for other in others)
        if self.kind == "left" and not others:
            yield pair_key(row, None), None
        if self.kind in ("semi", "anti") and bool(others) == (self.kind == "semi"):
            yield place_key(row), None

    def _match(self, row: Row, other: Row) -> bool:
        if not self.left.equals(row, other, self.right):
            return False
        if self.residual is None:
            return True
        schema = {**self.left.columns, **self.right.columns}
        pair = self.left.values(row) | self.right.values(other)
        return self.residual(pl.DataFrame([pair], schema=schema, orient="row"))[0] is True
