"""A TTL by definition: before each step, the rows of keys that have no life are forgotten.

The rules are those of `sqlwin.state.lifetimes`, over a plain list of lives; what they
forget is taken out of another specification, as if it had never come.

Worked example, TTL 1 hour, counts by key: a row of ann at 9:00, `+I` 1; one at 10:00.
Her life, touched at 9:00, has expired: her first row is forgotten, and `+I` says 1 again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from sqlwin.instants import START
from sqlwin.kernels.reference.rows import Row
from sqlwin.operators.contract import Stores
from sqlwin.operators.definitions.admitted import fresh
from sqlwin.operators.definitions.topn import ReferenceTopN
from sqlwin.operators.definitions.window import forgotten, key_text, takes_part
from sqlwin.operators.reference import ReferenceOperator
from sqlwin.policies import Early, Ttl, TtlTime, Update, Visibility
from sqlwin.schema import PART, ROW_KEY, SEQ, TS

WORTH = 4


@dataclass
class Life:
    key: str
    number: int
    touched: int
    cleaned: bool = False


@dataclass
class Forgetting:
    """inner: a specification, whose rows and emissions have the columns `keys`.

    forgotten: rows; a message that was taken stays a no-op, although it was forgotten.
    told: of each row_key the key; what was withdrawn is forgotten too.
    """

    inner: ReferenceOperator | ReferenceTopN
    ttl: Ttl
    keys: tuple[str, ...]
    lives: list[Life] = field(default_factory=list)
    forgotten: list[Row] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)
    next: int = 0
    looked: int = -1
    time: int = START
    begun: bool = False

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return self.inner.prepare(rows)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        self.begin(now, stores)
        rows = self._fresh(list(batch.to_dicts()))
        fresh = pl.DataFrame(rows, schema=batch.schema, orient="row")
        each = len(rows) if self.ttl.cleanup.each_record else 0
        keys = self._keys(fresh)
        self._look(self.ttl.cleanup.incremental * (len(keys) + each))
        self._forget()
        out = self.inner.on_batch(fresh, stores, now)
        written = self._written(rows)
        for key in keys:
            stamp = max(row[TS] for row in rows if key_text(row, self.keys) == key)
            (self._write if key in written else self._read)(key, self._stamp(stamp))
        return self._told(out)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        self.begin(now, stores)
        return self._told(self.inner.on_watermark(watermark, stores, now))

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        out = self._told(self.inner.on_tick(now, stores))
        self._at(now, stores)
        self._timers()
        self.begun = False
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self._told(self.inner.on_end(stores, now))

    def floors(self, stores: Stores) -> pl.DataFrame:
        return self.inner.floors(stores)

    def next_deadline(self, stores: Stores) -> int | None:
        return self.inner.next_deadline(stores)

    # Lives.

    def begin(self, now: int, stores: Stores) -> None:
        if not self.begun:
            self.begun = True
            self._at(now, stores)
            self._timers()
            self._compact()
            self._forget()

    def _at(self, now: int, stores: Stores) -> None:
        self.time = now if self.ttl.time is TtlTime.PROCESSING else stores.closed
        self._forget()

    def _expired(self, life: Life) -> bool:
        return life.touched + self.ttl.length <= self.time

    def _visible(self) -> dict[str, Life]:
        never = self.ttl.visibility is Visibility.NEVER
        return {
            life.key: life
            for life in self.lives
            if not life.cleaned and not (never and self._expired(life))
        }

    def _stamp(self, latest: int) -> int:
        return max(self.time, latest) if self.ttl.time is TtlTime.EVENT else self.time

    def _write(self, key: str, stamp: int) -> None:
        life = self._visible().get(key)
        if life is None:
            for before in self.lives:
                before.cleaned |= before.key == key
            life = Life(key, self.next, stamp)
            self.lives.append(life)
            self.next += 1
        life.touched = max(life.touched, stamp)

    def _read(self, key: str, stamp: int) -> None:
        life = self._visible().get(key)
        if life is not None and self._expired(life):
            life.cleaned = True
        elif life is not None and self.ttl.update is Update.READ:
            life.touched = max(life.touched, stamp)

    def _timers(self) -> None:
        if self.ttl.cleanup.timers:
            self.lives = [x for x in self.lives if not (x.cleaned or self._expired(x))]

    def _look(self, entries: int) -> None:
        lives = [life for life in self.lives if not life.cleaned]
        further = [life for life in lives if life.number > self.looked]
        for life in [*further, *(x for x in lives if x.number <= self.looked)][:entries]:
            self.looked, life.cleaned = life.number, self._expired(life)

    def _compact(self) -> None:
        all_ = self.ttl.cleanup.compaction
        gone = [life for life in self.lives if life.cleaned or (all_ and self._expired(life))]
        if not gone:
            return
        since = min(life.touched for life in gone) + self.ttl.length
        late = since + self.ttl.length // WORTH <= self.time
        if late or len(gone) * WORTH >= len(self.lives):
            self.lives = [life for life in self.lives if life not in gone]

    # Rows.

    def _fresh(self, rows: list[Row]) -> list[Row]:
        """Rows of messages that were not taken before, those forgotten among them."""
        if isinstance(self.inner, ReferenceTopN):
            known = {_at(row) for row in [*self.inner.taken, *self.forgotten]}
            once = {_at(row): row for row in rows}
            return [row for place, row in once.items() if place not in known]
        in_order = sorted(rows, key=lambda row: (row[PART], row[SEQ]))
        return fresh(in_order, [*self.inner.taken, *self.forgotten], self.inner.definition)

    def _written(self, rows: list[Row]) -> set[str]:
        """Keys of which something is kept that was not before."""
        if not isinstance(self.inner, ReferenceTopN):
            return self._keys_of(row for row in rows if self.inner.definition.part(row))
        if self.inner.top.policy.early is Early.ROWS:
            return self._keys_of(rows)
        inside = {key: self.inner._inside(key) for key in self._keys_of(rows)}
        return {key for row in rows if _at(row) in inside[key := key_text(row, self.keys)]}

    def _keys(self, frame: pl.DataFrame) -> list[str]:
        """Each once, in the order of their values."""
        if not self.keys:
            return ["[]"] * (len(frame) > 0)
        keys = frame.select(self.keys).unique().sort(self.keys)
        return [key_text(row, self.keys) for row in keys.to_dicts()]

    def _keys_of(self, rows: Iterable[Row]) -> set[str]:
        return {key_text(row, self.keys) for row in rows}

    def _told(self, emitted: pl.DataFrame) -> pl.DataFrame:
        for row in emitted.to_dicts():
            self.told[row[ROW_KEY]] = key_text(row, self.keys)
        for key in self._keys(emitted):
            self._read(key, self.time)
        self._forget()
        return emitted

    def _forget(self) -> None:
        living, inner = self._visible(), self.inner
        known = [row for row in inner.taken if takes_part(row, None)]
        gone = [row for row in known if key_text(row, self.keys) not in living]
        if not gone:
            return
        self.forgotten += gone
        if not isinstance(inner, ReferenceTopN) and inner.definition.counted:
            inner.taken = [forgotten(row) if row in gone else row for row in inner.taken]
        else:
            inner.taken = [row for row in inner.taken if key_text(row, self.keys) in living]
        if isinstance(inner, ReferenceTopN):
            for row in gone:
                key = key_text(row, self.keys)
                inner.revisions.pop((key, _at(row)), None)
                inner.shown.pop(key, None)
                inner.waiting.pop(key, None)
            return
        was, inner.windows = (
            inner.windows,
            {window.row_key: window for window in inner.definition.windows(inner.taken)},
        )
        told = {row_key for row_key, key in self.told.items() if key not in living}
        for row_key in told | (was.keys() - inner.windows.keys()):
            inner.told.last.pop(row_key, None)
            inner.told.vanished.pop(row_key, None)
            inner.waiting.pop(row_key, None)
            inner.shown.discard(row_key)
            inner.filled.discard(row_key)


def _at(row: Row) -> tuple[int, int]:
    """By which a first n knows its rows."""
    return row[PART], row[SEQ]
