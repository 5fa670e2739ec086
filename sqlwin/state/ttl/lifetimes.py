"""State TTL: how long the state of each key is kept, and which of it may still be read.

All state of a key has one TTL entry, also called a *life*, and is evicted together. An entry
is made by the first write of a key that has none; its number, `__life`, is never used again in
its bucket and does not reveal the key. `__touched` is when it was last renewed: processing
time, or event time (the greatest of its rows, no less than the watermark then). It has expired
iff

    time >= __touched + ttl

and from then on its state is never read: the next row of the key makes another entry. Time
is an argument (`begin`, `end`, `at`); nothing here reads a clock.

`cleanup` says when the entries that have expired are erased, with their records.

Invariant: a key has at most one entry that is not cleaned. Every record of the stores
belongs to an entry of the store `ttl_entries`; of an entry there are all records, or none.

Worked example, 7 days: ann logs in on the 1st and has life 0; bob on the 5th, life 1.
On the 8th life 0 expires: no scan shows its records. They are half of all, so the next
batch erases them. On the 9th ann comes back, as life 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from sqlwin.errors import StateError
from sqlwin.instants import END, START
from sqlwin.policies import Ttl, TtlTime, Update, Visibility
from sqlwin.state.contract import Store
from sqlwin.state.ttl.cleanup import Cleanup
from sqlwin.state.ttl.entries import ALL, CLEANED, LIFE, TOUCHED, TtlEntries

LATEST = "__latest"


class Lifetimes:
    """The TTL entries of one operator's keys in one bucket.

    store: of `ttl_layout`. known: `to_json` of the last commit, None before the first;
    run: which run of the query this is; another one's state was restored.
    """

    def __init__(
        self, ttl: Ttl, store: Store, known: Mapping[str, Any] | None = None, run: str | None = None
    ) -> None:
        self.ttl, self.entries, self.run = ttl, TtlEntries(store), run
        self.cleanup, self.time, self.next = Cleanup(ttl, self.entries), START, 0
        self._begun = self._writing = self._restored = False
        self._batch, self._written = pl.DataFrame(), pl.DataFrame()
        if known is not None:
            self._restore(known)

    def _restore(self, known: Mapping[str, Any]) -> None:
        if known["time"] != self.ttl.time.value:
            raise StateError(
                f"the state counts its TTL in {known['time']} time, not {self.ttl.time.value} time"
            )
        self.next, self.cleanup.looked = known["next"], known["looked"]
        self._restored = self.run is None or known["run"] != self.run

    def to_json(self) -> dict[str, Any]:
        time = self.ttl.time.value
        return {"time": time, "next": self.next, "looked": self.cleanup.looked, "run": self.run}

    @property
    def erasures(self) -> int:
        """How often something was erased by a batch, since this was made."""
        return self.cleanup.erasures

    @property
    def keys(self) -> tuple[str, ...]:
        return self.entries.keys

    # Time is given.

    def at(self, now: int, watermark: int) -> None:
        """What has expired by now is judged by these from here on."""
        self.time = now if self.ttl.time is TtlTime.PROCESSING else watermark

    def begin(self, now: int, watermark: int) -> None:
        """A batch begins, watermark: before it. Nothing where it has begun already."""
        if self._begun:
            return
        self._begun = True
        self.at(now, watermark)
        cleanup = self.ttl.cleanup
        if cleanup.timers or (cleanup.full_snapshot and self._restored):
            self.cleanup.erase_expired(self._expired)
        self._restored = False
        self.cleanup.compact(self._expired, self.time)

    def end(self, now: int, watermark: int) -> None:
        """A batch ends, watermark: after it."""
        self._begun = False
        self.at(now, watermark)
        if self.ttl.cleanup.timers:
            self.cleanup.erase_expired(self._expired)

    def snapshot(self) -> None:
        """State is about to be written as a checkpoint.

        What may still be read, though it has expired, is written too: the next batch may read it.
        """
        if self.ttl.cleanup.full_snapshot and self.ttl.visibility is Visibility.NEVER:
            self.cleanup.drop_expired(self._expired)

    @property
    def deadline(self) -> int | None:
        """Processing time at which a timer is to clean."""
        if not self.ttl.cleanup.timers or self.ttl.time is not TtlTime.PROCESSING:
            return None
        first = self.entries.uncleaned()[TOUCHED].min()
        return None if first is None else int(first) + self.ttl.length  # type: ignore[arg-type]

    # Rows come, results go.

    def accessed(self, batch: pl.DataFrame, rows: int = 0, others: int = 0) -> None:
        """A batch is about to be worked on: the keys, and maybe `__latest`, an event time.

        rows: how many it has, where each counts for incremental cleanup. others: rows of
        another input, for which keys of this one are looked up.
        """
        latest = [pl.col(LATEST).max()] if LATEST in batch.columns else []
        self._batch = self.entries.keyed(batch).group_by(self.entries.on).agg(latest)
        self._written, self._writing = self.entries.keys_of(batch.clear()), True
        each = rows if self.ttl.cleanup.each_record else 0
        count = self.ttl.cleanup.incremental * (len(self._batch) + others + each)
        self.cleanup.look(count, self._expired)

    def written(self, rows: pl.DataFrame) -> None:
        """These rows are about to change what is kept of their keys."""
        if len(rows):
            self._write(self.entries.keys_of(rows))

    def renewed(self, keys: pl.DataFrame) -> None:
        """Rows of these keys came again as they were: what there is of them is written anew."""
        again = self.entries.join(self.entries.keys_of(keys), self._written, "anti")
        if len(again):
            self._write(self.entries.join(again, self._visible(), "semi"))

    def taken(self) -> None:
        """They were: the keys that nothing was written of have been read."""
        self._writing = False
        self._read(self.entries.join(self._batch, self._written, "anti"))
        self._batch = pl.DataFrame()

    def read(self, keys: pl.DataFrame) -> None:
        """State was read: by an emission, or by who asked for it by key, after `at` and
        the scans. keys: a frame that has the keys among its columns.

        What had expired is removed by that; what had not is renewed, if reading does.
        """
        self._read(self.entries.keys_of(keys))

    def _read(self, keys: pl.DataFrame) -> None:
        if keys.is_empty():
            return
        visible = self._visible()
        if self.ttl.update is Update.WRITE:
            visible = visible.filter(self._expired)  # a read changes nothing of others
        found = self.entries.join(visible, keys, "semi")
        self.entries.clean(found.filter(self._expired))
        self.entries.put(self._stamped(found.filter(~self._expired)))

    # Records.

    def assigned(self, records: pl.DataFrame) -> pl.DataFrame:
        """Records with the `__life` of their key; those of a key that has none are left out.

        While rows are worked on, a record renews its key's life or begins one.
        """
        if self._writing:
            self._write(self.entries.keys_of(records))
        return self.with_life(records)

    def floored(self, horizons: pl.DataFrame) -> pl.DataFrame:
        """Floors by key as horizons by life: a life to come is not cut, and no key is named."""
        return self.with_life(horizons).drop(self.keys).select(pl.col(LIFE), pl.exclude(LIFE))

    def shown(self) -> pl.DataFrame:
        """Records of the table itself that may be read."""
        return self._visible().drop(ALL)

    def hidden(self) -> pl.DataFrame:
        """`__life` of those that may not be read."""
        return self.entries.all().select(pl.col(LIFE).filter(~self._shown))

    def with_life(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows whose key has a life that may be read, with its `__life`."""
        visible = self._visible().select(*self.entries.on, LIFE)
        return self.entries.join(self.entries.keyed(frame), visible, "inner").drop(ALL)

    def _write(self, keys: pl.DataFrame) -> None:
        self._written = pl.concat([self._written, keys]).unique()
        known = self.entries.join(keys, self._visible(), "left")
        goes_on, new = (known.filter(pl.col(LIFE).is_null() == is_new) for is_new in (False, True))
        expired = self.entries.uncleaned().filter(~self._shown)
        self.entries.clean(self.entries.join(expired, new.select(self.entries.on), "semi"))
        begun = new.with_columns(
            (pl.int_range(pl.len(), dtype=pl.Int64) + self.next).alias(LIFE),
            pl.lit(START, pl.Int64).alias(TOUCHED),
            pl.lit(False).alias(CLEANED),
        )
        self.next += len(begun)
        self.entries.put(self._stamped(pl.concat([goes_on, begun])))

    def _stamped(self, entries: pl.DataFrame) -> pl.DataFrame:
        """Renewed: those that this changes."""
        stamp = pl.max_horizontal(TOUCHED, pl.lit(self.time, pl.Int64))
        if LATEST in self._batch.columns:
            entries = self.entries.join(entries, self._batch, "left")
            stamp = pl.max_horizontal(stamp, LATEST)
        changed = (stamp != pl.col(TOUCHED)) | (pl.col(TOUCHED) == START)
        return entries.filter(changed).with_columns(stamp.alias(TOUCHED))

    # What may be read.

    def _visible(self) -> pl.DataFrame:
        return self.entries.all().filter(self._shown)

    @property
    def _shown(self) -> pl.Expr:
        alive = ~pl.col(CLEANED)
        return alive & ~self._expired if self.ttl.visibility is Visibility.NEVER else alive

    @property
    def _expired(self) -> pl.Expr:
        return pl.col(TOUCHED) + self.ttl.length <= self.time

    def _check(self, store: Store) -> None:
        """Of the entries, and of the records of one of their stores."""
        entries = self.entries.all()
        assert (entries[LIFE] < self.next).all(), (self.next, entries)
        assert not self.entries.uncleaned().select(self.entries.on).is_duplicated().any(), entries
        assert set(store.scan(START, END)[LIFE]) <= set(entries[LIFE]), (store.layout.name, entries)
