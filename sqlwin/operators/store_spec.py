"""What an operator declares of each store that it keeps.

Set-up, EXPLAIN, estimates of size, recovery and state queries read these declarations, and nothing
else says which stores there are. So they cannot disagree.

    layout, combine   how records look, and what becomes of several of one identity
    words             what the store holds, as EXPLAIN says it; no comma-separated list
    expected          how many records a load makes of it
    ttl               with whose TTL entry a record expires, where there is a TTL:
                      `key`, its key's; `left` or `right`, that of its side of a join;
                      `pair`, those of both rows of a pair; None, with none
    renews            whether to write a record renews that entry; else it is kept with it
    restorable        a message store, which a replay fills again should it be lost
    pins              admission keeps the positions of its messages as long as they are stored

>>> from sqlwin.state.combine import last_written
>>> layout = layout_of("counts", {"__at": pl.Int64(), "n": pl.Int64()}, (), ("__at",), 1)
>>> StoreSpec(layout, last_written(layout), "messages of all keys").explained
'counts (messages of all keys)'
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.load import Expected, not_estimated
from sqlwin.state.combine import Merged, OneOf
from sqlwin.state.contract import Layout

ONE_SLICE = 2**40
"""Of a store whose records do not go by time."""

Columns = dict[str, pl.DataType]


@dataclass(frozen=True)
class StoreSpec:
    layout: Layout
    combine: OneOf | Merged
    words: str
    expected: Expected = not_estimated
    ttl: Literal["key", "left", "right", "pair"] | None = "key"
    renews: bool = True
    restorable: bool = False
    pins: bool = False

    @property
    def name(self) -> str:
        return self.layout.name

    @property
    def explained(self) -> str:
        """As EXPLAIN lists it."""
        return f"{self.name} ({self.words})"

    def on(self, layout: Layout, **more: Any) -> StoreSpec:
        """The same of another layout of these records. more: fields that differ."""
        return replace(self, layout=layout, combine=self.combine.on(layout), **more)


def layout_of(
    name: str, columns: Columns, keys: tuple[str, ...], order: tuple[str, ...], slice_width: int
) -> Layout:
    return Layout(name, tuple(columns.items()), keys, order, slice_width)
