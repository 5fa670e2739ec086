"""What an operator is: columns, its stores and a time; no SQL, no Spark, no bytes.

An operator is a frozen declaration. Everything it knows between two calls is in
`Stores`, and every call says what time it is, so the same calls give the same
emissions on every host and after every restart.

Emissions are frames with the operator's output columns and then `__op`,
`__emit`, `__revision`, `__row_key`. Where an operator was told to `withdraw`,
each `+U` stands directly below the `-U` it replaces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import polars as pl

from sqlwin.instants import START
from sqlwin.state.contract import Store


@dataclass
class Stores:
    """The state of one operator in one bucket.

    closed: windows that end by here were emitted full. pending: processing time
    of the oldest change that was not emitted yet, None where there is none.
    """

    named: dict[str, Store]
    closed: int = START
    pending: int | None = None

    def __getitem__(self, name: str) -> Store:
        return self.named[name]

    def _check(self) -> None:
        for store in self.named.values():
            store._check()


class Operator(Protocol):
    """A window operator; see the module for what its emissions hold."""

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows to what `on_batch` takes. Stateless: it may run before a shuffle."""

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        """Take prepared rows, none of them expired; emit what must go out at once."""

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        """Emit the windows that became full, then retire those out of retention."""

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        """Emit the corrections whose period is over."""

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        """End of input: emit every open window full and every pending correction."""

    def next_deadline(self, stores: Stores) -> int | None:
        """When `on_tick` would next emit; None where nothing waits."""
