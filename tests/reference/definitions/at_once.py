"""Aggregates of rows that come together, by instant: groups of a batch, each emitted once."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.polars_frames import empty
from sqlwin.schema import EMIT, OP, POSITION, REVISION, ROW_KEY
from tests.reference.definitions.values import Value, json_array
from tests.reference.definitions.window import by_position, key_text
from tests.reference.kernels.rows import Row


@dataclass
class ReferenceAtOnce:
    """keys: the first says the instant."""

    carried: dict[str, pl.DataType]
    output: dict[str, pl.DataType]
    keys: tuple[str, ...]
    values: tuple[Value, ...]

    def stores(self) -> list[StoreSpec]:
        return []

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select(*self.carried, *POSITION)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        groups: dict[str, list[Row]] = {}
        for row in batch.to_dicts():
            groups.setdefault(key_text(row, self.keys), []).append(row)
        return self._frame([self._group(rows) for rows in groups.values()])

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(stores.watermark, watermark)
        return self._frame([])

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self._frame([])

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self._frame([])

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return pl.DataFrame()

    def next_deadline(self, stores: Stores) -> int | None:
        return None

    def _group(self, rows: list[Row]) -> Row:
        keys = {key: rows[0][key] for key in self.keys}
        place = f"the instant of {keys}"
        values = {v.name: v.of(by_position(rows), place) for v in self.values}
        row_key = json_array(list(keys.values()))
        return {**keys, **values, OP: "+I", EMIT: "full", REVISION: 0, ROW_KEY: row_key}

    def _frame(self, records: list[Row]) -> pl.DataFrame:
        schema = empty({**self.output, **CHANGE_SCHEMA}).schema
        return pl.DataFrame(records, schema=schema, orient="row")
