"""Which matches there are: attempts over the stored rows of partitions, from a place on."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.matches.conditions import Match, looks_back
from sqlwin.operators.matches.lines import Lines
from sqlwin.operators.matches.matching import Matching
from sqlwin.operators.matches.partitions import Partitions
from sqlwin.operators.matches.progress import NO_PART, NO_SEQ, OPEN, before
from sqlwin.operators.matches.reading import Reading, Rows
from sqlwin.operators.weights import there
from sqlwin.patterns import Start, contains
from sqlwin.polars_frames import PLACE
from sqlwin.schema import PART, POSITION, SEQ, TS

ROWS = "rows"
ROW_PLACE = ("__row", "__row_part", "__row_seq")
"""The position of a row of a match, where that of its first row is its own."""
ROW_TYPES = {name: PLACE[own] for name, own in zip(ROW_PLACE, (TS, PART, SEQ), strict=True)}
ID, OLD_OPEN = "__id", ("__was", "__was_part", "__was_seq")


@dataclass(frozen=True)
class Attempts:
    """types: of the values of the measures, by name. kept: columns of the rows of a match that are
    given with ALL ROWS PER MATCH."""

    partitions: Partitions
    matching: Matching
    measures: Reading
    types: dict[str, pl.DataType]
    kept: tuple[str, ...] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """Of a match: its partition, and the position of its first row. Of a row of it the
        position of the row, too."""
        rows = () if self.matching.all_rows is None else ROW_PLACE
        return (*self.partitions.by, *POSITION, *rows)

    @cached_property
    def back(self) -> int:
        """How many rows before a match are read."""
        readings = (self.measures, *(each.reading for each in self.matching.conditions))
        anchored = int(contains(self.matching.pattern, Start))
        return max(anchored, *(looks_back(reading.terms) for reading in readings))

    def decided(
        self,
        records: pl.DataFrame,
        since: tuple[str, ...],
        stores: Stores,
        *,
        limit: int | None = None,
        ended: bool = False,
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Matches of partitions that begin at `since` or later, with identity and values, and the
        partitions' records with where they are open then, the old place beside it.

        limit: below which rows are known; None: the watermark. ended: no row will come.
        """
        limit = END if ended else stores.watermark if limit is None else limit
        was = [pl.col(new).alias(old) for new, old in zip(OPEN, OLD_OPEN, strict=True)]
        marked = records.with_columns(*was).with_row_index(ID)
        rows = self._rows_of(marked, since, limit, stores)
        begins = _begins(rows, since)
        found = self.matching.found(rows, begins, ID, None if ended else limit)
        matches: list[Match] = []
        opened: dict[int, int] = {}
        ids = rows.frame[ID].to_list()
        for first, own, open_at in found:
            matches += own
            if open_at is not None:
                opened[ids[first]] = open_at
        return self._results(matches, rows), self._moved(marked, opened, rows, limit)

    def _rows_of(
        self, records: pl.DataFrame, since: tuple[str, ...], limit: int, stores: Stores
    ) -> Rows:
        """Rows of partitions from `since` on, and the `back` rows before."""
        first = START if self.back else records[since[0]].min()
        lowest = START if first is None else int(first)  # type: ignore[arg-type]
        keys = self.partitions.keys(records)
        found = there(stores[ROWS].scan(lowest, limit, keys))
        joined = self.partitions.joined(found, records.select(ID, *self.partitions.by, *since))
        ordered = joined.sort(ID, *POSITION)
        after = (~before(POSITION, since)).cast(pl.Int64).sum().over(ID)
        place = pl.int_range(pl.len()).over(ID)
        kept = ordered.filter(place >= pl.len().over(ID) - after - self.back)
        numbers = kept[ID].to_numpy()
        starts = np.flatnonzero(np.diff(numbers, prepend=-1)) if len(numbers) else numbers
        sizes = np.diff(np.append(starts, len(numbers)))
        return Rows(kept, np.repeat(starts, sizes).astype(np.int64))

    def _results(self, matches: list[Match], rows: Rows) -> pl.DataFrame:
        """Identity and values, in the order of partitions and first rows."""
        if self.matching.all_rows is not None:
            return self._lines(Lines(matches), rows)
        at = pl.Series([match.first for match in matches], dtype=pl.UInt32)
        identity = rows.frame.select(self.identity).select(pl.all().gather(at))
        if not self.measures.terms:
            return identity
        values = self.measures.values([(match.last, match.path) for match in matches], rows)
        return self._beside(identity, values)

    def _lines(self, lines: Lines, rows: Rows) -> pl.DataFrame:
        """As `_results`, of the rows of matches."""
        identity = rows.frame.select(*self.partitions.by, *POSITION)
        places = dict(zip(POSITION, ROW_PLACE, strict=True))
        own = rows.frame.select(*POSITION, *self.kept).rename(places)
        at = pl.concat(
            [
                identity.select(pl.all().gather(lines.firsts)),
                own.select(pl.all().gather(lines.rows)),
            ],
            how="horizontal",
        )
        if not self.measures.terms:
            return at
        return self._beside(at, lines.values(self.measures, rows))

    def _beside(self, identity: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
        typed = {name: self.types[name] for name in values.columns}
        return pl.concat([identity, values.cast(typed)], how="horizontal")  # type: ignore[arg-type]

    def _moved(
        self, marked: pl.DataFrame, opened: dict[int, int], rows: Rows, limit: int
    ) -> pl.DataFrame:
        ids, at = list(opened), pl.Series(list(opened.values()), dtype=pl.UInt32)
        places = rows.frame.select(pl.all().gather(at)).select(POSITION)
        found = places.rename(dict(zip(POSITION, OPEN, strict=True))).with_columns(
            pl.Series(ID, ids, dtype=pl.UInt32)
        )
        left = marked.drop(OPEN).join(found, on=ID, how="left", maintain_order="left")
        absent = zip(OPEN, (limit, NO_PART, NO_SEQ), strict=True)
        return left.with_columns(pl.col(name).fill_null(value) for name, value in absent)


def _begins(rows: Rows, since: tuple[str, ...]) -> dict[int, int]:
    """By the number of the first row of a partition that of the first row at `since` or later."""
    after = rows.frame.with_row_index("__n").filter(~before(POSITION, since))
    found = after.group_by(ID, maintain_order=True).agg(pl.col("__n").first())["__n"].to_list()
    return {int(rows.first[at]): at for at in found}
