"""UNNEST by definition: the elements of each row, one after another.

A change of a row is a change of each of its elements, known by its number. What a replaced row had
and the one in its place has not is deleted, and what only the new one has is inserted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.polars_frames import polars_schema
from sqlwin.schema import OP, REVISION, ROW_KEY, Schema

Row = dict[str, Any]


@dataclass(frozen=True)
class ReferenceUnnesting:
    """As the fields of the plan's node; schema: of what it gives."""

    column: str
    names: tuple[str, ...]
    expands: bool
    ordinal: str | None
    first: int
    outer: bool
    schema: Schema

    def unnest(self, changes: pl.DataFrame) -> pl.DataFrame:
        rows, at = changes.to_dicts(), 0
        made: list[Row] = []
        while at < len(rows):
            row = rows[at]
            if row[OP] == "-U":
                made += self._replaced(row, rows[at + 1])
                at += 2
            else:
                made += [each for _, each in sorted(self._elements(row).items())]
                at += 1
        return pl.DataFrame(made, schema={**polars_schema(self.schema), **CHANGE_SCHEMA})

    def _replaced(self, old: Row, new: Row) -> Iterator[Row]:
        assert new[OP] == "+U" and new[ROW_KEY] == old[ROW_KEY]
        before, after = self._elements(old), self._elements(new)
        for number in sorted({*before, *after}):
            if number in before and number in after:
                yield from (before[number], after[number])
            elif number in before:
                yield {**before[number], OP: "-D", REVISION: new[REVISION]}
            else:
                yield {**after[number], OP: "+I"}

    def _elements(self, row: Row) -> dict[int, Row]:
        """By their numbers from 1 on; 0 is of a row that has none, and stays."""
        held = row[self.column]
        if isinstance(held, dict):
            held = [{"key": key, "value": value} for key, value in held.items()]
        if not held:
            return {0: self._row(row, 0, None)} if self.outer else {}
        return {number: self._row(row, number, each) for number, each in enumerate(held, 1)}

    def _row(self, row: Row, number: int, element: Any) -> Row:
        made = {name: value for name, value in row.items() if name != self.column}
        values = list((element or {}).values()) if self.expands else [element]
        values += [None] * (len(self.names) - len(values))
        made |= dict(zip(self.names, values, strict=True))
        if self.ordinal is not None:
            made[self.ordinal] = number - 1 + self.first if number else None
        return {**made, ROW_KEY: f"[{row[ROW_KEY]},{number}]"}
