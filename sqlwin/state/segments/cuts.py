"""Floors of single keys: what `Store.cut` was given, and which records that hides.

For each set of columns one frame: those columns and `__floor`, a row a key. A
record is alive when, in each of these frames, it finds no row or its time is at
least that row's horizon. Floors only rise, so hiding is for ever and commutes with
combining: either all records of an identity are below a horizon or none is.

Invariant: no key stands twice in a frame; every horizon is above the store's own,
which hides the same records without being given their keys.

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
from sqlwin.state.contract import HORIZON, Layout
from sqlwin.state.records import without

Columns = tuple[str, ...]


class Cuts:
    """The horizons of one store's keys. `risen`: those that rose since they were taken."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._horizons: dict[Columns, pl.DataFrame] = {}
        self._risen: dict[Columns, list[pl.DataFrame]] = {}
        self.top = START

    def take(self, horizons: pl.DataFrame, known: bool = False) -> None:
        """Raise to these, checked before. known: they are in an index already."""
        by = horizons.columns[:-1]
        before = self._horizons.get(tuple(by))
        one_each = highest([horizons] if before is None else [before, horizons])
        if before is not None:
            horizons = one_each.join(before, on=[*by, HORIZON], how="anti", nulls_equal=True)
        if not horizons.height:
            return
        self._horizons[tuple(by)] = one_each
        self.top = max(self.top, int(horizons[HORIZON].max()))  # type: ignore[arg-type]
        if not known:
            self._risen.setdefault(tuple(by), []).append(horizons)

    def alive(self, records: pl.DataFrame) -> pl.DataFrame:
        """The records that no horizon hides, in their order."""
        time = pl.col(self.layout.time)
        if not records.height or self.top <= int(records[self.layout.time].min()):  # type: ignore[arg-type]
            return records
        for by, horizons in self._horizons.items():
            found = records.join(
                horizons, on=list(by), how="left", nulls_equal=True, maintain_order="left"
            )
            hidden = found.select((time < pl.col(HORIZON)).fill_null(False)).to_series()
            records = records.filter(~hidden) if hidden.any() else records
        return records

    def known(self) -> list[pl.DataFrame]:
        """All horizons, one frame for each set of columns."""
        return list(self._horizons.values())

    def risen(self) -> list[pl.DataFrame]:
        """The horizons that rose since the last call, one frame for each set of columns."""
        risen, self._risen = self._risen, {}
        return [highest(frames) for frames in risen.values()]

    def expire(self, horizon: int) -> None:
        """Forget the horizons that the store's own has passed."""
        for by, horizons in list(self._horizons.items()):
            if int(horizons[HORIZON].min()) <= horizon:  # type: ignore[arg-type]
                self._horizons[by] = horizons.filter(pl.col(HORIZON) > horizon)
                if not self._horizons[by].height:
                    del self._horizons[by]
        if self.top <= horizon:
            self.top = START

    def erase(self, gone: pl.DataFrame) -> list[Columns]:
        """Forget the horizons of keys that never come again; the columns of cuts it concerned,
        all of whose other horizons count as risen: what was written of them is to be written again.
        """
        concerned = [by for by in self._horizons if set(gone.columns) <= set(by)]
        for by in concerned:
            self._horizons[by] = without(self._horizons[by], [gone])
            self._risen[by] = [self._horizons[by]]
            if not self._horizons[by].height:
                del self._horizons[by], self._risen[by]
        return concerned

    def __len__(self) -> int:
        return sum(horizons.height for horizons in self._horizons.values())

    def _check(self, horizon: int) -> None:
        for by, horizons in self._horizons.items():
            assert horizons.columns == [*by, HORIZON] and horizons.height
            assert not horizons.select(by).is_duplicated().any()
            assert horizon < int(horizons[HORIZON].min())  # type: ignore[arg-type]
            assert int(horizons[HORIZON].max()) <= self.top  # type: ignore[arg-type]


def highest(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The highest horizon of each key of frames that have the same columns."""
    by = frames[0].columns[:-1]
    return pl.concat(frames).group_by(by, maintain_order=True).agg(pl.col(HORIZON).max())


def accept_horizons(layout: Layout, horizons: pl.DataFrame) -> pl.DataFrame:
    """Floors with their columns in the layout's order; StateError when they do not fit."""
    schema = layout.schema
    for name, type_ in horizons.schema.items():
        if name != HORIZON and schema.get(name) != type_:
            legal = ", ".join(f"{column} {schema[column]}" for column in schema)
            raise StateError(
                f"store {layout.name} cannot be cut by {name} {type_}; its columns: {legal}"
            )
    if horizons.schema.get(HORIZON) != pl.Int64:
        raise StateError(f"store {layout.name}: a cut needs {HORIZON} Int64, got {horizons.schema}")
    if horizons[HORIZON].null_count():
        raise StateError(f"store {layout.name}: {HORIZON} is NULL in a cut")
    by = [name for name in schema if name in horizons.columns]
    return horizons.select(*by, pl.col(HORIZON).clip(upper_bound=END))  # END hides all there can be
