"""Lives: how long each key's state is kept, and which of it may still be read.

All state of a key lives and goes at once. A *life* begins with the first write of a
key that has none; its number, `__life`, is never used again in its bucket and says
nothing of the key. `__touched` is when it was last renewed: processing time, or event
time (the greatest of its rows, no less than the watermark then). It has expired iff

    time >= __touched + ttl

and from then on it is as if it had never been: the next row begins another life. Time
is told (`begin`, `end`, `at`); nothing here asks a clock.

| cleanup       | what of the expired is `__cleaned`, and when                          |
|---------------|-----------------------------------------------------------------------|
| timers        | all, as soon as time is told; `deadline` is when that should be        |
| incremental   | of the next n lives, in a rotating order, for each key that rows access |
| full_snapshot | all, when state is restored                                           |
| compaction    | all, when compaction is due                                           |

*Compaction* erases what was cleaned, from memory and, by the next flush, from disk. It
is due once a quarter of all lives has expired and may be erased, or one of them for a
quarter of the TTL. What timers and a restore clean is erased at once.

Invariant: a key has at most one life that is not cleaned. Every record of the stores
is of a life in `lives`, and of a life there all its records are, or none.

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
from sqlwin.state.contract import Layout, Store

LIVES = "lives"
LIFE, TOUCHED, CLEANED = "__life", "__touched", "__cleaned"
LATEST = "__latest"
ALL = "__all"
WORTH = 4
"""Compaction is due when a quarter has expired, or has been expired for a quarter of the TTL."""


def lives_layout(keys: Mapping[str, pl.DataType]) -> Layout:
    rest = ((LIFE, pl.Int64()), (TOUCHED, pl.Int64()), (CLEANED, pl.Boolean()))
    return Layout(LIVES, (*keys.items(), *rest), (), (LIFE,), END)


class Lifetimes:
    """The lives of one operator's keys in one bucket.

    store: of `lives_layout`. known: `to_json` of the last commit, None before the first;
    run: which run of the query this is; another one's state was restored. erasures: how
    often something was erased, since this was made.
    """

    def __init__(
        self, ttl: Ttl, store: Store, known: Mapping[str, Any] | None = None, run: str | None = None
    ) -> None:
        self.ttl, self.store, self.run = ttl, store, run
        self.of: list[Store] = []
        self.erasures = 0
        self.time, self.writing = START, False
        self.next, self.looked, self._restored = 0, -1, False
        self._begun, self._written = False, pl.DataFrame()
        self._batch: pl.DataFrame | None = None
        self._scanned: pl.DataFrame | None = None
        if known is not None:
            self._restore(known)

    def _restore(self, known: Mapping[str, Any]) -> None:
        if known["time"] != self.ttl.time.value:
            raise StateError(
                f"the state counts its TTL in {known['time']} time, not {self.ttl.time.value} time"
            )
        self.next, self.looked = known["next"], known["looked"]
        self._restored = self.run is None or known["run"] != self.run

    def to_json(self) -> dict[str, Any]:
        time = self.ttl.time.value
        return {"time": time, "next": self.next, "looked": self.looked, "run": self.run}

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(n for n in self.store.layout.schema if n not in (LIFE, TOUCHED, CLEANED))

    # Time is told.

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
            self._erase_expired()
        self._restored = False
        self._compact()

    def end(self, now: int, watermark: int) -> None:
        """A batch ends, watermark: after it."""
        self._begun = False
        self.at(now, watermark)
        if self.ttl.cleanup.timers:
            self._erase_expired()

    @property
    def deadline(self) -> int | None:
        """Processing time at which a timer is to clean."""
        if not self.ttl.cleanup.timers or self.ttl.time is not TtlTime.PROCESSING:
            return None
        first = self._all().filter(~pl.col(CLEANED))[TOUCHED].min()
        return None if first is None else int(first) + self.ttl.length  # type: ignore[arg-type]

    # Rows come, results go.

    def accessed(self, batch: pl.DataFrame, rows: int = 0) -> None:
        """A batch is about to be worked on: the keys, and maybe `__latest`, an event time.

        rows: how many it has, where each counts for incremental cleanup.
        """
        latest = [pl.col(LATEST).max()] if LATEST in batch.columns else []
        batch = self._keyed(batch).group_by(self._on).agg(latest)
        each = rows if self.ttl.cleanup.each_record else 0
        self._look(self.ttl.cleanup.incremental * (len(batch) + each))
        self.writing, self._batch, self._written = True, batch, batch.clear().select(self._on)

    def taken(self) -> None:
        """They were: the keys that nothing was written of have been read."""
        assert self._batch is not None
        read = self._join(self._batch, self._written, "anti")
        self.writing = False
        self._touch_read(read)
        self._batch = None

    def read(self, keys: pl.DataFrame) -> None:
        """State was read: by an emission, or by who asked for it by key, after `at` and
        the scans. keys: a frame that has the keys among its columns.

        What had expired is removed by that; what had not is renewed, if reading does.
        """
        self._touch_read(self._keyed(keys).select(self._on).unique())

    def _touch_read(self, keys: pl.DataFrame) -> None:
        if keys.is_empty():
            return
        lives = self._join(self._visible(), keys, "semi")
        self._put(lives.filter(self._expired).with_columns(pl.lit(True).alias(CLEANED)))
        if self.ttl.update is Update.READ:
            self._put(self._stamped(lives.filter(~self._expired)))

    # Records.

    def assigned(self, records: pl.DataFrame) -> pl.DataFrame:
        """Records with the `__life` of their key; those of a key that has none are left out.

        While rows are worked on, a record renews its key's life or begins one.
        """
        if self.writing:
            self._write(self._keyed(records).select(self._on).unique().sort(self._on))
        return self._with_life(records)

    def floored(self, floors: pl.DataFrame) -> pl.DataFrame:
        """Floors by key as floors by life: a life to come is not cut, and no key is told."""
        return self._with_life(floors).drop(self.keys).select(pl.col(LIFE), pl.exclude(LIFE))

    def hidden(self) -> pl.DataFrame:
        """`__life` of those that may not be read."""
        return self._all().filter(~self._shown).select(LIFE)

    def _with_life(self, frame: pl.DataFrame) -> pl.DataFrame:
        lives = self._visible().select(*self._on, LIFE)
        return self._join(self._keyed(frame), lives, "inner").drop(ALL)

    def _write(self, keys: pl.DataFrame) -> None:
        self._written = pl.concat([self._written, keys]).unique()
        known = self._join(keys, self._visible(), "left")
        new = known.filter(pl.col(LIFE).is_null())
        before = self._join(self._all().filter(~pl.col(CLEANED)), new.select(self._on), "semi")
        self._put(before.with_columns(pl.lit(True).alias(CLEANED)))
        numbers = pl.int_range(pl.len(), dtype=pl.Int64) + self.next
        never = (pl.lit(START, pl.Int64).alias(TOUCHED), pl.lit(False).alias(CLEANED))
        begun = new.with_columns(numbers.alias(LIFE), *never)
        self.next += len(begun)
        goes_on = known.filter(pl.col(LIFE).is_not_null())
        self._put(self._stamped(pl.concat([goes_on, begun.select(goes_on.columns)])))

    def _stamped(self, lives: pl.DataFrame) -> pl.DataFrame:
        """Renewed, those that this changes."""
        stamp = pl.max_horizontal(TOUCHED, pl.lit(self.time, pl.Int64))
        if self._batch is not None and LATEST in self._batch.columns:
            lives = self._join(lives, self._batch, "left")
            stamp = pl.max_horizontal(stamp, LATEST)
        renewed = lives.with_columns(stamp.alias("__stamp")).filter(
            (pl.col("__stamp") != pl.col(TOUCHED)) | (pl.col(TOUCHED) == START)
        )
        return renewed.with_columns(pl.col("__stamp").alias(TOUCHED))

    # What is there.

    @property
    def _on(self) -> list[str]:
        """What lives are found by: the keys, and, for there may be none, a constant."""
        return [*self.keys, ALL]

    def _keyed(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.lit(0, pl.Int8).alias(ALL))

    def _join(self, left: pl.DataFrame, right: pl.DataFrame, how: Any) -> pl.DataFrame:
        return left.join(right, on=self._on, how=how, nulls_equal=True, maintain_order="left")

    def _all(self) -> pl.DataFrame:
        if self._scanned is None:
            self._scanned = self._keyed(self.store.scan(START, END))
        return self._scanned

    def _visible(self) -> pl.DataFrame:
        return self._all().filter(self._shown)

    @property
    def _shown(self) -> pl.Expr:
        alive = ~pl.col(CLEANED)
        return alive & ~self._expired if self.ttl.visibility is Visibility.NEVER else alive

    @property
    def _expired(self) -> pl.Expr:
        return pl.col(TOUCHED) + self.ttl.length <= self.time

    def _put(self, lives: pl.DataFrame) -> None:
        if len(lives):
            self.store.put(lives.select(self.store.layout.schema.names()))
            self._scanned = None

    # What goes.

    def _look(self, entries: int) -> None:
        lives = self._all().filter(~pl.col(CLEANED))
        if entries == 0 or lives.is_empty():
            return
        further = pl.col(LIFE) > self.looked
        some = pl.concat([lives.filter(further), lives.filter(~further)]).head(entries)
        self.looked = int(some[LIFE][-1])
        self._put(some.filter(self._expired).with_columns(pl.lit(True).alias(CLEANED)))

    def _compact(self) -> None:
        may = pl.col(CLEANED) | self._expired if self.ttl.cleanup.compaction else pl.col(CLEANED)
        lives = self._all()
        gone = lives.filter(may)
        if gone.is_empty():
            return
        since = int(gone[TOUCHED].min()) + self.ttl.length  # type: ignore[arg-type]
        if len(gone) * WORTH >= len(lives) or since + self.ttl.length // WORTH <= self.time:
            self._erase(gone)

    def _erase_expired(self) -> None:
        self._erase(self._all().filter(pl.col(CLEANED) | self._expired))

    def _erase(self, gone: pl.DataFrame) -> None:
        if gone.is_empty():
            return
        for store in (*self.of, self.store):
            store.erase(gone.select(LIFE))
        self.erasures += 1
        self._scanned = None

    def _check(self) -> None:
        lives = self.store.scan(START, END)
        assert lives[LIFE].max() is None or int(lives[LIFE].max()) < self.next  # type: ignore[arg-type]
        alive = self._keyed(lives).filter(~pl.col(CLEANED))
        assert not alive.select(self._on).is_duplicated().any(), lives
        for store in self.of:
            strays = store.scan(START, END).join(lives, on=LIFE, how="anti")
            assert strays.is_empty(), f"{store.layout.name}: {strays}"
