"""A TTL by definition: before each step, the rows of keys that have no life are forgotten.

The rules are those of `lifetimes`; what they forget is taken out of another specification,
as if it had never come.

Where rows may be retracted, one that was forgotten cannot be: to retract a row that is
not known is to read its key, all else writes it. A row that comes under another key takes along
what was emitted under its position; that writes the key it leaves, too.

Worked example, TTL 1 hour, counts by key: a row of ann at 9:00, `+I` 1; one at 10:00.
Her life, touched at 9:00, has expired: her first row is forgotten, and `+I` says 1 again.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Early, Ttl
from sqlwin.schema import PART, ROW_KEY, SEQ, TS, WEIGHT
from tests.reference.definitions.admitted import fresh
from tests.reference.definitions.lifetimes import Lifetimes
from tests.reference.definitions.matches import ReferenceMatches
from tests.reference.definitions.overs import Overs
from tests.reference.definitions.retracted import acting, effective, horizon
from tests.reference.definitions.topn import ReferenceTopN
from tests.reference.definitions.values import json_array
from tests.reference.definitions.window import forgotten, key_text, position, takes_part
from tests.reference.kernels.rows import Row
from tests.reference.operator import ReferenceOperator


@dataclass
class Forgetting:
    """inner: a specification, whose rows and emissions have the columns `keys`.

    forgotten: rows; a message that was taken stays a no-op, although it was forgotten.
    key_of: of each row_key the key; what was retracted is forgotten too. reads: of keys by a batch,
    which are done when it has emitted what its rows make full, in ROWS by their numbers alone.
    """

    inner: ReferenceOperator | ReferenceTopN | ReferenceMatches
    ttl: Ttl
    keys: tuple[str, ...]
    forgotten: list[Row] = field(default_factory=list)
    key_of: dict[str, str] = field(default_factory=dict)
    begun: bool = False
    reads: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = Lifetimes(self.ttl)

    def stores(self) -> list[StoreSpec]:
        return []

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        return self.inner.prepare(rows)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        self.begin(now, stores)
        said: list[Row] = list(batch.to_dicts())
        rows = effective(said) if self.weighted else self._fresh(said)
        each = len(rows) if self.ttl.cleanup.each_record else 0
        keys = self._keys(_frame(rows, batch))
        self.known.look(self.ttl.cleanup.incremental * (len(keys) + each))
        self._forget()
        taken = self._acting(rows, stores) if self.weighted else rows
        left = self._move(taken) if self.weighted else set()
        out = self.inner.on_batch(_frame(taken, batch), stores, now)
        written = self._keys_of(taken) if self.weighted else self._written(rows)
        for key in keys:
            stamp = max(row[TS] for row in rows if key_text(row, self.keys) == key)
            if key in written:
                self.known.write(key, self.known.stamp(stamp))
            else:
                self.reads.append((key, self.known.stamp(stamp)))
        for key in (left | written) - set(keys):
            self.known.write(key, self.known.time)
        if self.weighted:
            self._note_windows()
        if not self.by_count:
            self._read()
        return self._emitted(out)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        self.begin(now, stores)
        out = self.inner.on_watermark(watermark, stores, now)
        self._read()
        return self._emitted(out)

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        out = self._emitted(self.inner.on_tick(now, stores))
        self.known.at(now, stores.watermark)
        self.known.clean_by_timers()
        self._forget()
        self.begun = False
        return out

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        return self._emitted(self.inner.on_end(stores, now))

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return self.inner.horizons(stores)

    def next_deadline(self, stores: Stores) -> int | None:
        return self.inner.next_deadline(stores)

    # Lifetimes.

    def begin(self, now: int, stores: Stores) -> None:
        if not self.begun:
            self.begun = True
            self.known.at(now, stores.watermark)
            self.known.clean_by_timers()
            self.known.compact()
            self._forget()

    def _read(self) -> None:
        for key, stamp in self.reads:
            self.known.read(key, stamp)
        self.reads.clear()

    @property
    def by_count(self) -> bool:
        return isinstance(self.inner, ReferenceOperator) and self.inner.definition.by_count

    # Rows that may be retracted.

    @property
    def weighted(self) -> bool:
        inner = self.inner
        if isinstance(inner, ReferenceMatches):
            return inner.weighted
        return inner.top.weighted if isinstance(inner, ReferenceTopN) else inner.definition.weighted

    def _acting(self, rows: list[Row], stores: Stores) -> list[Row]:
        inner = self.inner
        if isinstance(inner, ReferenceMatches):
            policy = inner.node.policy
        else:
            policy = inner.top.policy if isinstance(inner, ReferenceTopN) else inner.policy
        return acting(rows, inner.taken, horizon(policy, stores))

    def _move(self, rows: list[Row]) -> set[str]:
        """Keys that rows which were emitted leave, for they come under others."""
        if not isinstance(self.inner, ReferenceOperator) or not isinstance(
            self.inner.definition.windows, Overs
        ):
            return set()
        windows, book = self.inner.definition.windows, self.inner
        came = [row for row in rows if row[WEIGHT] > 0]
        by_key = {json_array([windows.stream, row[PART], row[SEQ]]): row for row in came}
        left = set()
        for row_key, row in by_key.items():
            if row_key in self.key_of and (row_key in book.emitted.last or row_key in book.waiting):
                key, was = key_text(row, self.keys), self.key_of[row_key]
                left |= {was} - {key}
                self.key_of[row_key] = key
        return left

    def _note_windows(self) -> None:
        if not isinstance(self.inner, ReferenceOperator):
            return
        rows = {position(row): row for row in self.inner.taken}
        for row_key, window in self.inner.windows.items():
            held = next(iter(window.held), None)
            own = window.bucket if held is None else key_text(rows[held], self.keys)
            self.key_of[row_key] = own

    # Rows.

    def _fresh(self, rows: list[Row]) -> list[Row]:
        """Rows of messages that were not taken before, those forgotten among them."""
        if not isinstance(self.inner, ReferenceOperator):
            known = {_at(row) for row in [*self.inner.taken, *self.forgotten]}
            once = {_at(row): row for row in rows}
            return [row for place, row in once.items() if place not in known]
        in_order = sorted(rows, key=lambda row: (row[PART], row[SEQ]))
        return fresh(in_order, [*self.inner.taken, *self.forgotten], self.inner.definition)

    def _written(self, rows: list[Row]) -> set[str]:
        """Keys of which something is kept that was not before."""
        if isinstance(self.inner, ReferenceMatches):
            taken = {_at(row) for row in self.inner.taken}
            return self._keys_of(row for row in rows if _at(row) in taken)
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

    def _emitted(self, emitted: pl.DataFrame) -> pl.DataFrame:
        if not self.weighted:  # else it may be emitted with a key that it has left
            for row in emitted.to_dicts():
                self.key_of[row[ROW_KEY]] = key_text(row, self.keys)
        for key in self._keys(emitted):
            self.known.read(key, self.known.time)
        self._forget()
        return emitted

    def _forget(self) -> None:
        living, inner = self.known.visible(), self.inner
        if isinstance(inner, ReferenceMatches):
            self.forgotten += inner.forget(living)
            return
        known = [row for row in inner.taken if takes_part(row, None)]
        gone = [row for row in known if key_text(row, self.keys) not in living]
        if self.weighted:
            self._forget_retracted(living)
        if not isinstance(inner, ReferenceTopN):
            alive = {row: key_text(known, self.keys) for row, (_, known) in inner.reached.items()}
            inner.reached = {k: at for k, at in inner.reached.items() if alive[k] in living}
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
        dead = {row_key for row_key, key in self.key_of.items() if key not in living}
        self._drop(dead | (was.keys() - inner.windows.keys()), inner)

    def _forget_retracted(self, living: Collection[Hashable]) -> None:
        """What is known of keys that have no row, too."""
        inner = self.inner
        assert not isinstance(inner, ReferenceMatches)
        if isinstance(inner, ReferenceTopN):
            for key in {*inner.shown, *inner.waiting} - set(living):
                inner.shown.pop(key, None)
                inner.waiting.pop(key, None)
            inner.revisions = {at: n for at, n in inner.revisions.items() if at[0] in living}
            return
        dead = {row_key for row_key, key in self.key_of.items() if key not in living}
        self.key_of = {row_key: key for row_key, key in self.key_of.items() if row_key not in dead}
        self._drop(dead, inner)

    def _drop(self, row_keys: Iterable[str], book: ReferenceOperator) -> None:
        for row_key in row_keys:
            book.emitted.last.pop(row_key, None)
            book.emitted.vanished.pop(row_key, None)
            book.empty.pop(row_key, None)
            book.waiting.pop(row_key, None)
            book.shown.discard(row_key)
            book.filled.discard(row_key)


def _frame(rows: list[Row], batch: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=batch.schema, orient="row")


def _at(row: Row) -> tuple[int, int]:
    """By which a first n knows its rows."""
    return row[PART], row[SEQ]
