"""MATCH_RECOGNIZE: matches go out when they are decided, and late rows correct them.

A match is known by its first row, so what becomes of it is a matter of the ledger: other values are
an update, and a row that begins none any more is retracted. Which matches there are is computed
anew from rows (`matching`): when the watermark moves, from where a partition was open; when a late
row comes, from where its attempts begin. What then differs from what stands goes out by LATE; what
is open again waits until it is decided. Rows that only matches of before have read are evicted, and
with them what was emitted of these; `progress` says from where on attempts are made.

| store       | record                                       |
|-------------|----------------------------------------------|
| `rows`      | the row                                      |
| `progress`  | partition: where it begins, and where open   |
| `revisions` | a match that stands, see `emitter.schema`    |

Invariant: of what begins before the open position of a partition, the matches are those that
stand, or their change is pending in the ledger.

Worked example, a b+ c, all at the watermark 5: a at 0, b at 1, c at 2 went out. A row at 1.5 that
is none of b comes: no match begins at 0 any more, and `-D` goes out late.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from sqlwin.instants import END, SECOND, START
from sqlwin.operators.contract import Stores, everything
from sqlwin.operators.emitter.changes import row_key_at
from sqlwin.operators.emitter.results import ResultLedger, Results
from sqlwin.operators.emitter.schema import ADDED, EXISTS, FINAL, OLD, PENDING, STANDS, WORD
from sqlwin.operators.emitter.schema import STORE as RECORDS
from sqlwin.operators.horizon import by_time
from sqlwin.operators.load import Load, Records, Retained
from sqlwin.operators.matches.matching import Match, Matching, looks_back
from sqlwin.operators.matches.progress import BEGIN, NO_PART, NO_SEQ, OPEN, Progress, before
from sqlwin.operators.matches.progress import STORE as PROGRESS
from sqlwin.operators.matches.reading import Reading, Rows
from sqlwin.operators.store_spec import StoreSpec, layout_of
from sqlwin.operators.windows.stores import emitted
from sqlwin.policies import Late, Policy
from sqlwin.schema import PLACE, POSITION, TS
from sqlwin.state.combine import keep_all
from sqlwin.state.contract import HORIZON
from sqlwin.state.slices import ENDLESS, slice_width

ROWS = "rows"
ID, OLD_OPEN = "__id", ("__was", "__was_part", "__was_seq")
DAY = 86_400 * SECOND
NO_WITHIN = "without WITHIN a match may stay open for ever"


@dataclass(frozen=True)
class PatternMatcher(Results):
    """carried: the input columns and their types. measures: with the types of their values."""

    stream: str
    carried: dict[str, pl.DataType]
    partition: tuple[str, ...]
    matching: Matching
    measures: Reading
    types: tuple[pl.DataType, ...]
    policy: Policy
    update_before: bool = False

    @property
    def keys(self) -> dict[str, pl.DataType]:
        return {name: self.carried[name] for name in self.partition}

    @property
    def identity(self) -> tuple[str, ...]:
        return (*self.partition, *POSITION)

    @property
    def output(self) -> dict[str, pl.DataType]:
        names = (term.name for term in self.measures.terms)
        return {**self.keys, **dict(zip(names, self.types, strict=True))}

    @cached_property
    def ledger(self) -> ResultLedger:
        kept = tuple(term.name for term in self.measures.terms)
        return ResultLedger(self, self.identity, TS, kept, recorded=True)

    @cached_property
    def progress(self) -> Progress:
        return Progress(self.keys)

    @cached_property
    def back(self) -> int:
        """How many rows before a match are read."""
        readings = (self.measures, *(each.reading for each in self.matching.conditions))
        return max(looks_back(reading.terms) for reading in readings)

    @property
    def corrects(self) -> bool:
        return self.policy.late is not Late.NEVER

    # Stores.

    @property
    def width(self) -> int:
        retain = self.policy.retain
        if retain is None:
            retain = ENDLESS if self.corrects else DAY
        return slice_width(retain + (self.matching.within or 0))

    def stores(self) -> list[StoreSpec]:
        row = {**self.carried, **PLACE}
        rows = layout_of(ROWS, row, self.partition, POSITION, self.width)
        words = "rows that matches may have"
        return [
            StoreSpec(rows, keep_all(rows), words, self._rows, pins=True),
            self.progress.spec(self.width),
            emitted(self.ledger, {**self.output, **PLACE}, self.width, self._rows),
        ]

    def _rows(self, load: Load) -> Records:
        within = self.matching.within
        if within is None:
            return NO_WITHIN
        retained = Retained(self.policy.retain, None, self.width, bool(self.partition))
        rows = retained.rows(load, within)
        more = self.back * load.keys_if(bool(self.partition))
        return rows if isinstance(rows, str) else rows + more

    # What comes.

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows[[*self.carried, *POSITION]]

    def horizons(self, stores: Stores) -> pl.DataFrame:
        """Nothing counts rows of a key."""
        none = {**self.keys, HORIZON: pl.Int64()}
        return pl.DataFrame(schema=none)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if batch.is_empty():
            return self.nothing()
        known = self.progress.of(self._partitions(batch), stores, stores.watermark)
        if not self.corrects:  # what was passed is as if it had not come
            batch = self._joined(batch, known).filter(~before(POSITION, OPEN))[batch.columns]
        stores[ROWS].put(batch)
        # behind an end of input rows may be before what is open, and not before the watermark
        changed = self._joined(batch, known).filter(
            (pl.col(TS) < stores.watermark) | before(POSITION, OPEN)
        )
        touched = self._partitions(changed)
        if touched.is_empty():
            return self.nothing()
        records = self.progress.of(touched, stores, stores.watermark)
        matches, moved = self._decided(records, BEGIN if self.corrects else OPEN, stores)
        if self.corrects:
            self._correct(matches, moved, stores, now)
        out = self._close(matches, moved, stores)
        self.progress.put(moved, stores)
        return out

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        closed = stores.watermark
        if watermark <= closed:
            return self.nothing()
        stores.watermark = watermark
        records = self._waiting(closed, watermark, stores)
        matches, moved = self._decided(records, OPEN, stores)
        out = self._close(matches, moved, stores)
        self.progress.put(moved, stores)
        self._evict(closed, stores)
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        """All rows are known, so all is decided; a row that comes yet is late."""
        late = self.ledger.on_end(stores)
        records = self._waiting(stores.watermark, END, stores)
        matches, moved = self._decided(records, OPEN, stores, ended=True)
        out = self._close(matches, moved, stores)
        self.progress.put(moved, stores)
        return pl.concat([late, out])

    # Which matches there are.

    def _waiting(self, closed: int, until: int, stores: Stores) -> pl.DataFrame:
        """Progress of partitions that are open before `until`, or have rows since `closed`."""
        fresh = self._partitions(stores[ROWS].scan(closed, until))
        records = everything(stores, PROGRESS)
        waiting = records.filter(pl.col(OPEN[1]) > NO_PART, pl.col(OPEN[0]) < until)
        if not self.partition:
            every = self.progress.of(pl.DataFrame({"__all": [True]}), stores, closed)
            return every.head(len(fresh) or len(waiting))
        keys = pl.concat([fresh, waiting.select(self.partition)]).unique(maintain_order=True)
        return self.progress.of(keys, stores, closed)

    def _decided(
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
        keys = records.select(self.partition) if self.partition else None
        found = stores[ROWS].scan(lowest, limit, keys)
        joined = self._joined(found, records.select(ID, *self.partition, *since))
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
        at = pl.Series([match.first for match in matches], dtype=pl.UInt32)
        identity = rows.frame.select(self.identity).select(pl.all().gather(at))
        if not self.measures.terms:
            return identity
        values = self.measures.values([(match.last, match.path) for match in matches], rows)
        typed = {name: self.output[name] for name in values.columns}
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

    # What goes out.

    def _close(self, matches: pl.DataFrame, moved: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Emit what begins where a partition was open and is not any more: `full`."""
        stand = self._standing(moved, stores)
        within = self._between(matches, moved, OLD_OPEN, OPEN)
        gone = self._between(stand, moved, OLD_OPEN, OPEN)
        known, left = self._differing(within, gone, stores)
        word = pl.lit("full").alias(WORD)
        new = known.with_columns(word, pl.lit(True).alias(EXISTS))
        old = left.with_columns(word, pl.lit(False).alias(EXISTS))
        return self.ledger.send(pl.concat([new, old], how="diagonal"), stores)

    def _correct(
        self, matches: pl.DataFrame, moved: pl.DataFrame, stores: Stores, now: int
    ) -> None:
        """Note what differs of what was and is decided; what is open again waits for that."""
        stand = self._standing(moved, stores)
        first = moved.with_columns(
            pl.when(before(OPEN, OLD_OPEN)).then(new).otherwise(old).alias(f"__first{n}")
            for n, (new, old) in enumerate(zip(OPEN, OLD_OPEN, strict=True))
        )
        until = tuple(f"__first{n}" for n in range(len(OPEN)))
        known, gone = self._differing(
            self._between(matches, first, BEGIN, until),
            self._between(stand, first, BEGIN, until),
            stores,
        )
        changed = pl.concat([known.select(gone.columns), gone])
        settled = (
            self._between(stand, first, BEGIN, until)
            .filter(pl.col(PENDING) > 0)
            .join(changed, on=list(self.identity), how="anti", nulls_equal=True)
        )
        reopened = self._between(stand, first, OPEN, OLD_OPEN)
        self.ledger.quiet(pl.concat([settled, reopened.filter(pl.col(PENDING) > 0)]), stores)
        flags = (pl.lit(1, pl.Int64).alias(ADDED), pl.lit(True).alias(FINAL))
        self.ledger.on_batch(changed.with_columns(flags), stores, now)

    def _standing(self, moved: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Records of matches of partitions that stand, or wait to."""
        keys = moved.select(self.partition) if self.partition else None
        found = stores[RECORDS].scan(START, END, keys)
        return found.filter(STANDS | (pl.col(PENDING) > 0))

    def _differing(
        self, there: pl.DataFrame, records: pl.DataFrame, stores: Stores
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Matches that are not as they stand, with their records, and records of those that stand
        and are none."""
        known = self.ledger.known(there, stores)
        moves = (pl.col(name).ne_missing(pl.col(OLD + name)) for name in self.ledger.kept)
        differs = known.filter(pl.any_horizontal(~pl.col(STANDS), *moves))
        gone = records.filter(STANDS).join(
            there, on=list(self.identity), how="anti", nulls_equal=True
        )
        return differs, gone

    def _between(
        self, rows: pl.DataFrame, records: pl.DataFrame, lo: tuple[str, ...], hi: tuple[str, ...]
    ) -> pl.DataFrame:
        """Those whose position is at `lo` of their partition or later, and before `hi`."""
        places = records.select(*self.partition, *dict.fromkeys((*lo, *hi)))
        joined = self._joined(rows, places)
        return joined.filter(~before(POSITION, lo), before(POSITION, hi)).select(rows.columns)

    # What the ledger asks for.

    def judged(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """What waits in the ledger was decided."""
        return ids.with_columns(pl.lit(True).alias(FINAL))

    def open_results(self, stores: Stores) -> pl.DataFrame:
        """None: those that are open are decided by `on_end` itself."""
        return stores[RECORDS].layout.empty().select(self.identity)

    def valued(self, ids: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        if ids.is_empty():
            return ids.with_columns(pl.lit(None, self.output[n]).alias(n) for n in self.ledger.kept)
        records = self.progress.of(self._partitions(ids), stores, stores.watermark)
        matches, _ = self._decided(records, BEGIN, stores)
        on = list(self.identity)
        return ids.join(matches, on=on, how="inner", nulls_equal=True, maintain_order="left")

    def presented(self, results: pl.DataFrame) -> pl.DataFrame:
        ordered = results.sort(POSITION)
        return ordered.with_columns(row_key_at(self.stream))

    # What is evicted.

    def _evict(self, closed: int, stores: Stores) -> None:
        """Move where attempts begin to what retention leaves open, and drop what is before: once
        in a slice of time. closed: the watermark before."""
        limit, last = self._horizon(stores.watermark), self._horizon(closed)
        slice_of = stores[ROWS].layout.slice_of
        if limit <= START or (last > START and slice_of(limit) == slice_of(last)):
            return
        rows = stores[ROWS].scan(START, END)
        records = self.progress.of(self._partitions(rows), stores, stores.watermark)
        begun = self._begun(records, limit, stores)
        kept = self._without_pending(records, begun, stores)
        self.progress.put(kept, stores)
        self._drop(kept, rows, limit, stores)

    def _horizon(self, watermark: int) -> int:
        """What is older is out of retention."""
        if not self.corrects:
            return watermark
        return max(by_time(watermark, self.policy.retain, self.policy.since), START)

    def _begun(self, records: pl.DataFrame, limit: int, stores: Stores) -> pl.DataFrame:
        """Records with where attempts begin from now on."""
        if not self.corrects:
            ended = pl.col(OPEN[0]) >= END  # of input, and more may come
            places = zip(BEGIN, OPEN, (limit, NO_PART, NO_SEQ), strict=True)
            return records.with_columns(
                pl.when(ended).then(pl.lit(value, PLACE[own])).otherwise(open_).alias(begin)
                for (begin, open_, value), own in zip(places, POSITION, strict=True)
            )
        _, moved = self._decided(records, BEGIN, stores, limit=limit)
        rest = [name for name in records.columns if name not in (*BEGIN, *OPEN)]
        renamed = [
            *(pl.col(open_).alias(begin) for begin, open_ in zip(BEGIN, OPEN, strict=True)),
            *(pl.col(was).alias(open_) for was, open_ in zip(OLD_OPEN, OPEN, strict=True)),
        ]
        return moved.select(*rest, *renamed)

    def _without_pending(
        self, records: pl.DataFrame, begun: pl.DataFrame, stores: Stores
    ) -> pl.DataFrame:
        """`begun`, but of partitions where a change that may not be lost waits to go out."""
        pending = self._joined(self.ledger.pending(stores), begun.select(*self.partition, *BEGIN))
        waiting = self._partitions(pending.filter(before(POSITION, BEGIN)))
        if not self.partition:
            return records if len(waiting) else begun
        on = list(self.partition)
        moved = begun.join(waiting, on=on, how="anti", nulls_equal=True)
        stay = records.join(waiting, on=on, how="semi", nulls_equal=True)
        return pl.concat([moved.select(records.columns), stay])

    def _drop(self, begun: pl.DataFrame, rows: pl.DataFrame, limit: int, stores: Stores) -> None:
        """Rows before where attempts begin, but for those that PREV reads, and their records."""
        begins = begun.select(*self.partition, pl.col(BEGIN[0]).alias(HORIZON))
        floors = self._row_floors(begun, rows) if self.back else begins
        for name, horizons in ((ROWS, floors), (RECORDS, begins), (PROGRESS, begins)):
            lowest = limit if horizons.is_empty() else horizons[HORIZON].min()
            if self.partition and len(horizons):
                stores[name].cut(horizons)
            stores[name].expire(int(lowest))  # type: ignore[arg-type]

    def _row_floors(self, begun: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
        joined = self._joined(rows, begun.select(*self.partition, *BEGIN))
        older = joined.filter(before(POSITION, BEGIN))
        own = pl.col(TS).sort().tail(self.back).first()
        kept = (
            older.group_by(self.partition).agg(own.alias(HORIZON))
            if self.partition
            else older.select(own.alias(HORIZON))
        )
        begins = begun.select(*self.partition, BEGIN[0])
        return self._joined(begins, kept).select(
            *self.partition, pl.min_horizontal(HORIZON, BEGIN[0]).alias(HORIZON)
        )

    # Partitions.

    def _partitions(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Each once; one line without columns where there is but one, none of no rows."""
        if self.partition:
            return rows.select(self.partition).unique(maintain_order=True)
        return pl.DataFrame({"__all": [True] * min(len(rows), 1)})

    def _joined(self, rows: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
        """Rows with what is known of their partitions."""
        if self.partition:
            on = list(self.partition)
            return rows.join(records, on=on, how="left", nulls_equal=True, maintain_order="left")
        return rows.join(records, how="cross", maintain_order="left")


def _begins(rows: Rows, since: tuple[str, ...]) -> dict[int, int]:
    """By the number of the first row of a partition that of the first row at `since` or later."""
    after = rows.frame.with_row_index("__n").filter(~before(POSITION, since))
    found = after.group_by(ID, maintain_order=True).agg(pl.col("__n").first())["__n"].to_list()
    return {int(rows.first[at]): at for at in found}
