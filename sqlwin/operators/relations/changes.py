"""Rows of a relation as a changelog: a row enters once, `+I`, and leaves at most once, `-D`.

A row is identified by its position; its revision is 0 as it enters and 1 as it leaves.

>>> row = pl.DataFrame({"n": [7], "__ts": [5], "__part": [0], "__seq": [3], "__word": ["full"]})
>>> changed(row, "s", ["n"], "-D").drop("__ts", "__part", "__seq").rows()
[(7, '-D', 'full', 1, '["s",0,3]')]
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA, row_key_at
from sqlwin.operators.emitter.schema import WORD
from sqlwin.operators.load import Load, Records
from sqlwin.operators.store_spec import Columns, StoreSpec, layout_of
from sqlwin.polars_frames import empty
from sqlwin.schema import EMIT, OP, POSITION, REVISION
from sqlwin.state.combine import last_written
from sqlwin.state.contract import HORIZON

ROWS, STAGE = "rows", "__stage"
INSTANT = "__at"
WAITS, LEFT = 0, 1
"""Of a stored row: time says where it is; or an end of input has had it enter and leave."""


def changed(rows: pl.DataFrame, stream: str, output: Iterable[str], op: str) -> pl.DataFrame:
    """Emissions, and their positions. rows: with `__word`, what an emission is called."""
    return rows.select(
        *output,
        pl.lit(op).alias(OP),
        pl.col(WORD).alias(EMIT),
        pl.lit(0 if op == "+I" else 1, pl.Int32).alias(REVISION),
        row_key_at(stream),
        *POSITION,
    )


def there_at(rows: pl.DataFrame, stream: str, output: Iterable[str], at: Columns) -> pl.DataFrame:
    """Emissions of rows that are there at an instant, each a row of its own.

    rows: with `__word`. at: the columns that know the instant.
    """
    return rows.select(
        *output,
        pl.lit("+I").alias(OP),
        pl.col(WORD).alias(EMIT),
        pl.lit(0, pl.Int32).alias(REVISION),
        row_key_at(stream, at),
    )


def entering(columns: Columns, width: int, stays: int) -> StoreSpec:
    """The store of rows that stay for so long, or that the watermark has not reached."""
    layout = layout_of(ROWS, columns, (), POSITION, width)

    def expected(load: Load) -> Records:
        return load.added(load.delays[0] + stays + width)

    return StoreSpec(layout, last_written(layout), "rows that wait, or have not left", expected)


class Entering:
    """What relations share: the columns of emissions, and that they count no rows to retain."""

    carried: dict[str, pl.DataType]

    @property
    def output(self) -> dict[str, pl.DataType]:
        return self.carried

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select(*self.carried, *POSITION)

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self.nothing()

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return empty({HORIZON: pl.Int64()})

    def next_deadline(self, stores: Stores) -> int | None:
        return None

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})
