"""Floors of single keys: what `Store.cut` was told, and which records that hides.

For each set of columns one frame: those columns and `__floor`, a row a key. A
record is alive when, in each of these frames, it finds no row or its time is at
least that row's floor. Floors only rise, so hiding is for ever and commutes with
combining: either all records of an identity are below a floor or none is.

Invariant: no key stands twice in a frame; every floor is above the store's own,
which hides the same records without being told their keys.

>>> layout = Layout("rows", (("t", pl.Int64()), ("user", pl.String())), (), ("t",), 10)
>>> cuts = Cuts(layout)
>>> cuts.take(pl.DataFrame({"user": ["a", "a", None], "__floor": [7, 5, 2]}))
>>> cuts.take(pl.DataFrame({"user": ["a"], "__floor": [6]}))  # lower than before
>>> records = pl.DataFrame({"t": [1, 2, 6, 7], "user": ["b", None, "a", "a"]})
>>> cuts.alive(records).rows()
[(1, 'b'), (2, None), (7, 'a')]
>>> cuts.expire(2)
>>> len(cuts)
1
"""

from __future__ import annotations

import polars as pl

from sqlwin.errors import StateError
from sqlwin.instants import END, START
from sqlwin.state.contract import FLOOR, Layout
from sqlwin.state.records import without

Columns = tuple[str, ...]


class Cuts:
    """The floors of one store's keys. `risen`: those that rose since `told`."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._floors: dict[Columns, pl.DataFrame] = {}
        self._risen: dict[Columns, list[pl.DataFrame]] = {}
        self.top = START

    def take(self, floors: pl.DataFrame, told: bool = False) -> None:
        """Raise to these, checked before. told: they are in an index already."""
        by = floors.columns[:-1]
        before = self._floors.get(tuple(by))
        one_each = highest([floors] if before is None else [before, floors])
        if before is not None:
            floors = one_each.join(before, on=[*by, FLOOR], how="anti", nulls_equal=True)
        if not floors.height:
            return
        self._floors[tuple(by)] = one_each
        self.top = max(self.top, int(floors[FLOOR].max()))  # type: ignore[arg-type]
        if not told:
            self._risen.setdefault(tuple(by), []).append(floors)

    def alive(self, records: pl.DataFrame) -> pl.DataFrame:
        """The records that no floor hides, in their order."""
        time = pl.col(self.layout.time)
        if not records.height or self.top <= int(records[self.layout.time].min()):  # type: ignore[arg-type]
            return records
        for by, floors in self._floors.items():
            found = records.join(
                floors, on=list(by), how="left", nulls_equal=True, maintain_order="left"
            )
            hidden = found.select((time < pl.col(FLOOR)).fill_null(False)).to_series()
            records = records.filter(~hidden) if hidden.any() else records
        return records

    def risen(self) -> list[pl.DataFrame]:
        """The floors that rose since the last call, one frame for each set of columns."""
        risen, self._risen = self._risen, {}
        return [highest(frames) for frames in risen.values()]

    def expire(self, floor: int) -> None:
        """Forget the floors that the store's own has passed."""
        for by, floors in list(self._floors.items()):
            if int(floors[FLOOR].min()) <= floor:  # type: ignore[arg-type]
                self._floors[by] = floors.filter(pl.col(FLOOR) > floor)
                if not self._floors[by].height:
                    del self._floors[by]
        if self.top <= floor:
            self.top = START

    def erase(self, gone: pl.DataFrame) -> list[Columns]:
        """Forget the floors of keys that never come again; the columns of cuts it concerned,
        all of whose other floors count as risen: what was told of them is to be told anew.
        """
        concerned = [by for by in self._floors if set(gone.columns) <= set(by)]
        for by in concerned:
            self._floors[by] = without(self._floors[by], [gone])
            self._risen[by] = [self._floors[by]]
            if not self._floors[by].height:
                del self._floors[by], self._risen[by]
        return concerned

    def __len__(self) -> int:
        return sum(floors.height for floors in self._floors.values())

    def _check(self, floor: int) -> None:
        for by, floors in self._floors.items():
            assert floors.columns == [*by, FLOOR] and floors.height
            assert not floors.select(by).is_duplicated().any()
            assert floor < int(floors[FLOOR].min())  # type: ignore[arg-type]
            assert int(floors[FLOOR].max()) <= self.top  # type: ignore[arg-type]


def highest(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The highest floor of each key of frames that have the same columns."""
    by = frames[0].columns[:-1]
    return pl.concat(frames).group_by(by, maintain_order=True).agg(pl.col(FLOOR).max())


def accept_floors(layout: Layout, floors: pl.DataFrame) -> pl.DataFrame:
    """Floors with their columns in the layout's order; StateError when they do not fit."""
    schema = layout.schema
    for name, type_ in floors.schema.items():
        if name != FLOOR and schema.get(name) != type_:
            legal = ", ".join(f"{column} {schema[column]}" for column in schema)
            raise StateError(
                f"store {layout.name} cannot be cut by {name} {type_}; its columns: {legal}"
            )
    if floors.schema.get(FLOOR) != pl.Int64:
        raise StateError(f"store {layout.name}: a cut needs {FLOOR} Int64, got {floors.schema}")
    if floors[FLOOR].null_count():
        raise StateError(f"store {layout.name}: {FLOOR} is NULL in a cut")
    by = [name for name in schema if name in floors.columns]
    return floors.select(*by, pl.col(FLOOR).clip(upper_bound=END))  # END hides all there can be
