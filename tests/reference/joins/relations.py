"""A join of relations, by definition: at each instant, who is there, who pairs, who has no match.

Every row ever taken is kept. An instant is looked at when the watermark is more than RETAIN past
it; between two that follow one another, what is new enters and what is gone leaves.

| `stay`                   | there at t                                                  |
|--------------------------|-------------------------------------------------------------|
| length                   | rows of t - length up to t                                  |
| length, slide            | rows of [m - length, m), m the last multiple up to t        |
| rows, partition          | of each partition the last ones up to t                     |
| rows, slide, partition   | the last ones up to the last whose number slide divides     |
| there                    | of each row the last change up to t, if it says so          |
| none of these            | rows up to t                                                |
| not timed                | all rows                                                    |

Worked example, LEFT, length 20 on the left and 5 on the right, rows of 10 and 12: `+` the padded
row at 10; at 12 `-` of it, and `+` the pair; at 17 and a microsecond the reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import polars as pl

from sqlwin.instants import END, format_instant
from sqlwin.operators.contract import Stores
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.polars_frames import empty
from sqlwin.schema import EMIT, OP, PART, POSITION, REVISION, ROW_KEY, SEQ, TS, WEIGHT
from sqlwin.windows.stays import JoinStays, Stay
from tests.reference.definitions.window import key_text
from tests.reference.kernels.rows import Row

Residual = Callable[[pl.DataFrame], pl.Series]
AT: pl.DataType = pl.Datetime("us", "UTC")


@dataclass
class Standing:
    """Rows that stay. taken: by position."""

    columns: dict[str, pl.DataType]
    keys: tuple[str, ...]
    stay: Stay
    taken: dict[tuple[int, int], Row] = field(default_factory=dict)

    def take(self, rows: pl.DataFrame) -> None:
        for row in rows.to_dicts():
            self.taken.pop((row[PART], row[SEQ]), None)
            if row.get(WEIGHT, 1) > 0:
                self.taken[row[PART], row[SEQ]] = row

    def known_by(self, row: Row) -> str:
        if self.stay.there is not None:
            return str(row[self.stay.partition[0]])
        return f"[{row[PART]},{row[SEQ]}]"

    def instants(self) -> set[int]:
        """Those at which some row may enter or leave."""
        if not self.stay.timed:
            return set()
        found = {row[TS] for row in self.taken.values()}
        length, slide = self.stay.length, self.stay.slide
        if length is None:
            return found
        if slide is None:
            return found | {at + length + 1 for at in found}
        steps = (length // slide + 2) * slide
        return {m for at in found for m in range(at // slide * slide, at + steps + 1, slide)}

    def there(self, instant: int) -> list[Row]:
        if not self.stay.timed:
            return list(self.taken.values())
        come = sorted((r for r in self.taken.values() if r[TS] <= instant), key=_order)
        length, slide = self.stay.length, self.stay.slide
        if self.stay.rows is not None:
            return list(self._last(come, self.stay.rows))
        if length is None:
            return come
        if slide is None:
            return [row for row in come if instant <= row[TS] + length]
        step = instant // slide * slide
        return [row for row in come if step - length <= row[TS] < step]

    def _last(self, come: list[Row], size: int) -> Iterator[Row]:
        own: dict[str, list[Row]] = {}
        for row in come:
            own.setdefault(key_text(row, self.stay.partition), []).append(row)
        step = self.stay.slide or 1
        for rows in own.values():
            counted = len(rows) // step * step
            for row in rows[max(0, counted - size) : counted]:
                if self.stay.there is None or row[self.stay.there]:
                    yield row


@dataclass
class ReferenceRelationJoin:
    """present: what was there at the last instant, by what it is known by."""

    left: Standing
    right: Standing
    kind: str
    retain: int
    match: JoinStays
    residual: Residual | None = None
    present: dict[str, Row] = field(default_factory=dict)

    @property
    def output(self) -> dict[str, pl.DataType]:
        right = {} if self.kind in ("semi", "anti") else self.right.columns
        change = {self.match.instant: AT, self.match.there: pl.Boolean()}
        return {**self.left.columns, **right, **change, self.match.identity: pl.String()}

    def stores(self) -> list[StoreSpec]:
        return []

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        weight = [WEIGHT] if WEIGHT in rows.columns else []
        own = (self.left, self.right)[side]
        return rows.select(*own.columns, *POSITION, *weight)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        self.left.take(left)
        self.right.take(right)
        return self._frame([])

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        before, stores.watermark = stores.watermark, max(watermark, stores.watermark)
        return self._passed(before - self.retain, stores.watermark - self.retain)

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self._frame([])

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        out = self._passed(stores.watermark - self.retain, END)
        for side in (self.left, self.right):
            if side.stay.timed:
                side.taken.clear()
        self.present = {}
        return out

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        return pl.DataFrame()

    def next_deadline(self, stores: Stores) -> int | None:
        return None

    def _passed(self, lo: int, hi: int) -> pl.DataFrame:
        out = []
        for instant in sorted(self.left.instants() | self.right.instants()):
            if lo <= instant < hi:
                now = dict(self._relation(instant))
                gone = [(k, row, False) for k, row in self.present.items() if k not in now]
                come = [(k, row, True) for k, row in now.items() if k not in self.present]
                out += [self._change(*each, instant) for each in (*sorted(gone), *sorted(come))]
                self.present = now
        return self._frame(out)

    def _relation(self, instant: int) -> Iterator[tuple[str, Row]]:
        lefts, rights = self.left.there(instant), self.right.there(instant)
        pairs = self._pairs(lefts, rights)
        alone = [
            [row for row in rows if not any(pair[at] is row for pair in pairs)]
            for at, rows in enumerate((lefts, rights))
        ]
        if self.kind in ("semi", "anti"):
            matched = [row for row in lefts if not any(row is other for other in alone[0])]
            for row in matched if self.kind == "semi" else alone[0]:
                yield self.left.known_by(row), row
            return
        for left, right in pairs:
            known = f"[{self.left.known_by(left)},{self.right.known_by(right)}]"
            yield known, {**right, **left}
        for row in alone[0] if self.kind in ("left", "full") else ():
            yield f"[{self.left.known_by(row)},null]", row
        for row in alone[1] if self.kind in ("right", "full") else ():
            yield f"[null,{self.right.known_by(row)}]", row

    def _pairs(self, lefts: list[Row], rights: list[Row]) -> list[tuple[Row, Row]]:
        keys = list(zip(self.left.keys, self.right.keys, strict=True))
        equal = [
            (left, right)
            for left in lefts
            for right in rights
            if all(left[one] is not None and left[one] == right[other] for one, other in keys)
        ]
        if self.residual is None or not equal:
            return equal
        columns = {**self.left.columns, **self.right.columns}
        rows = [{**right, **left} for left, right in equal]
        frame = pl.DataFrame([[r[n] for n in columns] for r in rows], columns, orient="row")
        return [pair for pair, true in zip(equal, self.residual(frame), strict=True) if true]

    def _change(self, known: str, row: Row, enters: bool, instant: int) -> Row:
        at = datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=instant)
        values = {name: row.get(name) for name in self.output}
        change = {self.match.instant: at, self.match.there: enters, self.match.identity: known}
        word = "true" if enters else "false"
        row_key = f'[{known},"{format_instant(instant)}",{word}]'
        return {**values, **change, OP: "+I", EMIT: "full", REVISION: 0, ROW_KEY: row_key}

    def _frame(self, records: list[Row]) -> pl.DataFrame:
        schema = empty({**self.output, **CHANGE_SCHEMA}).schema
        return pl.DataFrame(records, schema=schema, orient="row")


@dataclass
class ReferencePresent:
    """All that is there at each instant of change. standing: changes, each with its instant."""

    standing: Standing
    instant: str | None

    @property
    def output(self) -> dict[str, pl.DataType]:
        named = {} if self.instant is None else {self.instant: AT}
        return {**self.standing.columns, **named}

    def stores(self) -> list[StoreSpec]:
        return []

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select(*self.standing.columns, *POSITION)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        self.standing.take(batch)
        return self._passed(0, 0)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        before, stores.watermark = stores.watermark, max(watermark, stores.watermark)
        return self._passed(before, stores.watermark)

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        return self._passed(0, 0)

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        out = self._passed(stores.watermark, END)
        self.standing.taken.clear()
        return out

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return pl.DataFrame()

    def next_deadline(self, stores: Stores) -> int | None:
        return None

    def _passed(self, lo: int, hi: int) -> pl.DataFrame:
        out = []
        for instant in sorted(at for at in self.standing.instants() if lo <= at < hi):
            for row in sorted(self.standing.there(instant), key=_order):
                out.append(self._there(row, instant))
        schema = empty({**self.output, **CHANGE_SCHEMA}).schema
        return pl.DataFrame(out, schema=schema, orient="row")

    def _there(self, row: Row, instant: int) -> Row:
        at = datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=instant)
        named = {} if self.instant is None else {self.instant: at}
        values = {**{name: row[name] for name in self.standing.columns}, **named}
        row_key = f'[{self.standing.known_by(row)},"{format_instant(instant)}"]'
        return {**values, OP: "+I", EMIT: "full", REVISION: 0, ROW_KEY: row_key}


def _order(row: Row) -> tuple[int, int, int]:
    return row[TS], row[PART], row[SEQ]
