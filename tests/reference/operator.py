"""The specification of the window operators: keep every row, compute everything anew.

At each batch all windows of all rows ever taken are computed from scratch, and what
goes out follows from these definitions:

- a time window is *full* when the watermark is at its end or past it (a session: past
  it; an OVER row: as its frames say), a tuple window when its partition has counted so far;
- a window is *late* when it is full, or when a TIMEOUT or an end of input showed it
  as if it were (`shown`); else it is *open*;
- a window is *touched* by a batch after which its frames hold other rows than before.
  It then *waits*: an open one as the early policy says, a late one as the late
  policy says; `due` is when it goes out;
- a window that becomes full is emitted `full`, once, unless it was shown; whatever
  waited there is in it;
- a late window that leaves retention goes out before, if it waits;
- a tuple window is never late: shown before its messages were there, it is open again
  when the next one comes, and it is emitted `full` once more when it is;
- a session that the rows of a batch make another one has *vanished*. What waited there
  waits on in what replaces it. If it is out, it is retracted directly before one of those
  is emitted, and late ones of those go out with it; if it was late it is also due by
  itself, as the late policy says;
- a session that is full when it begins is emitted `full` if it replaces an open one, of
  which a late row made it a part;
- an emission is as `definitions/emitted.py` says;
- a batch that retracts rows is two: one without them, and then one of its new rows.
  A window without rows is there no more: one that is out waits, as the policy of a window
  that was touched says, and is retracted in its turn; so if it becomes full. A row comes
  again under its row_key: it was never gone. One that was late and is not full any more,
  for rows that followed are retracted, or a late row made its session longer, is `shown`; one that
  is full as its session lost rows becomes so when the batch is over;
- a session whose rows are retracted may leave others in its place, so there a batch is one:
  what its rows now make. One that has vanished waits as its own policy says, open or late.
  It is *deserted* if no open window replaces it: then it is retracted at the latest when it
  becomes full, or at once if it was open and is full by then, or when it leaves;
- windows of rows that are numbered by event time hold, after each batch, what the numbers then
  say. One is full when its last number is certain: so many rows of its bucket were before the
  watermark, once. It leaves when so many are out of retention;
- EXPIRED EMIT: a row beyond retention makes the windows that it would make alone. They
  are emitted at once, as late ones, and nothing is kept of them.

Within one call of `on_tick` a TIMEOUT comes before what is due.

State is the operator's own and does not survive it: this is for tests.

Worked example, a tumbling minute, EARLY EVERY 20 s, LATE EVERY 10 s. A row at 0:10
comes at now = 0 s: at 20 s the window goes out early, `+I` 0. Watermark 1:00: full,
`+U` 1. A row at 0:20 comes at now = 30 s: at 40 s it goes out late, `+U` 2.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from sqlwin.instants import START, format_instant
from sqlwin.operators.contract import DOUBT, Stores
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.policies import Expired, Late
from sqlwin.runtime.rows.error_stream import IN_PART
from sqlwin.schema import PART, POSITION, SEQ, TS, WEIGHT
from tests.reference.definitions.admitted import expired, fresh, misses
from tests.reference.definitions.emitted import alone
from tests.reference.definitions.horizons import floor_frame, horizons
from tests.reference.definitions.retracted import acting, changed, horizon
from tests.reference.definitions.sending import Sender
from tests.reference.definitions.sessions import replaces
from tests.reference.definitions.window import Position, Window, by_position, muted, position
from tests.reference.kernels.rows import Row
from tests.reference.kernels.sessions import Span


class ReferenceOperator(Sender):
    """Each call emits what follows from the definitions."""

    def stores(self) -> list[StoreSpec]:
        return []

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        weight = [WEIGHT] if self.definition.weighted else []
        if weight and WEIGHT not in rows.columns:
            rows = rows.with_columns(pl.lit(1, pl.Int8()).alias(WEIGHT))
        doubt = [name for name in DOUBT if name in rows.columns]
        return rows.select(*self.definition.carried, *POSITION, *weight, *doubt)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if self.definition.weighted:
            since, ident = horizon(self.policy, stores), self.definition.ident
            said = acting(batch.to_dicts(), self.taken, since, ident)
            return self._change(said, now)
        gone = batch.clear() if self.policy.expired is not Expired.EMIT else self.expired(batch)
        kept = batch.join(gone, on=list(POSITION), how="anti") if len(gone) else batch
        rows = fresh(kept.sort(PART, SEQ).to_dicts(), self.taken, self.definition)
        alone = self.each_alone(gone.sort(POSITION).to_dicts())
        return pl.concat([alone, self._take(rows, now)]) if rows else alone

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        were = {window.row_key for window in self.known() if self.full(window)}
        self.closed = stores.watermark = max(watermark, self.closed)
        self.filled = {key for key, window in self.windows.items() if window.full_at(self.closed)}
        if self.definition.ordered:
            self.certify()
        full, never = self._closing(were)
        gone = self.deserted()
        self.reached = horizons(self.taken, self.definition, self.reached)
        known = self.known() if self.empties else [*self._there(), *gone]
        leaving = [w for w in known if self.full(w) and self.leaves(w)]
        return pl.concat([full, self.emit(self.of_waiting([*never, *leaving]), "late")])

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        silent = self._silent(now, stores)
        due = [w for w in self.of_waiting(self.known()) if self.due(w, now)]
        early = [w for w in due if not self.late(w)]
        late = [w for w in due if self.late(w)]
        return pl.concat([silent, self.emit(early, "early", late), self.emit(late, "late")])

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        late = [w for w in self.of_waiting(self.known()) if self.late(w)]
        return pl.concat([self.emit(late, "late"), self._show_open()])

    def horizons(self, stores: Stores) -> pl.DataFrame:
        return floor_frame(self.reached, self.definition)

    def missing(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Of a batch those that count in some of their windows, and are too late for others."""
        missed = misses(rows, self.definition, self.closed)
        return missed.join(self.expired(rows), on=list(POSITION), how="anti")

    @property
    def in_part(self) -> str:
        ended = format_instant(self.closed - (self.policy.retain or 0))
        return f"{IN_PART}: of its windows those that ended by {ended}"

    def expired(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Of a batch's rows those beyond retention."""
        return expired(rows, self.taken, self.reached, self.definition, self.closed)

    def judge(self, rows: pl.DataFrame, stores: Stores, ended: int) -> pl.DataFrame:
        """Of rows of another query those beyond retention, which the task asks for."""
        return self.expired(rows).with_columns(pl.col(TS).alias("__from"))

    def repeated(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """None that the task has to know: what was taken is a no-op here."""
        return rows.clear()

    def oldest(self, stores: Stores, ended: int) -> int:
        return START

    def next_deadline(self, stores: Stores) -> int | None:
        deadlines = [w.due for w in self.waiting.values() if w.due is not None]
        if self.policy.timeout is not None and stores.last_input is not None:
            deadlines.append(stores.last_input + self.policy.timeout)
        return min(deadlines, default=None)

    # The definitions.

    def _take(
        self,
        rows: list[Row],
        now: int,
        left: Collection[str] = (),
        fewer: Sequence[Window] = (),
        new: Collection[Position] | None = None,
    ) -> pl.DataFrame:
        """left: row_keys that count as open until now. fewer: windows that rows made alone which
        are there no more. new: what counts as having come, if not `rows`."""
        before = self.windows
        new = {self.definition.ident(row) for row in rows} if new is None else set(new)
        self.taken += [muted(row) if self._mute(row) else row for row in rows]
        self.windows = {w.row_key: w for w in self.definition.windows(self.taken)}
        gone = [window for key, window in before.items() if key not in self.windows]
        back = {key: w for key, w in self.empty.items() if key in self.windows}
        opened = {key for key, w in back.items() if key in left or not self.full(w)}
        opened &= self.emitted.vanished.keys()
        were_out = back.keys() & self.emitted.vanished.keys()
        were_late = {key for key in were_out if key not in opened and self.late(back[key])}
        were_open = {*opened, *(before.keys() & left)}
        filled = [
            w
            for key, w in self.windows.items()
            if self.fills(_were(w, before, gone), w) or (key in were_open and self.full(w))
        ]
        self.vanish(gone, now)
        self._show_opened(were_late | (self.shown & back.keys()))
        self.empty = {key: w for key, w in self.empty.items() if key not in back}
        self._show_opened({key for key, w in before.items() if self.full(w) and key not in left})
        unshown = [w for w in filled if w.row_key not in self.shown]
        closing = filled if self.policy.late is Late.NEVER else unshown
        for window in self.windows.values():
            added = len(self._idents(window) & new) + any(_lies_in(w, window) for w in fewer)
            touched = self.touched(before.get(window.row_key), window) or added
            if self.missed(window):  # by a row that counts in later ones
                continue
            if touched and window not in closing:
                self.touch(window, max(1, added), now)
        overdue = self.overdue()
        emitted = self.emit(
            [*unshown, *(w for w in overdue if w.row_key not in self.shown)], "full"
        )
        rest = [*(w for w in closing if w not in unshown), *overdue]
        again = self.emit([w for w in rest if w.row_key in self.shown], "late")
        return pl.concat([emitted, again])

    def _mute(self, row: Row) -> bool:
        retain, mutes = self.policy.retain, self.definition.mutes
        return retain is not None and mutes is not None and mutes(row, self.closed - retain)

    def _there(self) -> list[Window]:
        return [*self.windows.values(), *self.emptied()]

    def _closing(self, were: Collection[str]) -> tuple[pl.DataFrame, list[Window]]:
        """What goes out of those that are full, and were not.

        LATE NEVER: of a window that was shown before its time, the close tells the rest.
        """
        closing = [w for w in self._there() if self.full(w) and w.row_key not in were]
        emitted = set() if self.definition.by_count else self.shown
        closing += [w for w in self.deserted() if self.full(w) and w.row_key not in were]
        full = self.emit([w for w in closing if w.row_key not in emitted], "full")
        return full, closing if self.policy.late is Late.NEVER else []

    def _change(self, batch: Sequence[Row], now: int) -> pl.DataFrame:
        gone, came = changed(batch, self.taken, self.definition.ident)
        if self.definition.sessions:
            return self._remake(gone, came, now)
        if self.definition.ordered:
            return self._renumber(gone, came, now)
        left = self._retract(gone, now)
        emitted = self._take(came, now, left)
        # open ones that are full now that no rows are waited for
        full = [self.emitted.vanished[key] for key in left if key in self.emitted.vanished]
        shown = [w for w in full if w.row_key in self.shown and self.policy.late is Late.NEVER]
        first = self.emit([w for w in full if w.row_key not in self.shown], "full")
        return pl.concat([emitted, first, self.emit(shown, "late")])

    def _remake(self, gone: set[Position], came: list[Row], now: int) -> pl.DataFrame:
        """Sessions of the rows now there."""
        if not gone and not came:
            return self.nothing()
        if self.definition.ordered:
            return self._remake_numbered(gone, came, now)
        ident = self.definition.ident
        lost = [row for row in self.taken if ident(row) in gone]
        self.taken = [row for row in self.taken if ident(row) not in gone]
        fewer = [w for row in lost for w in self.definition.windows([row])]
        return self._take(came, now, fewer=fewer)

    def _remake_numbered(self, gone: set[Position], came: list[Row], now: int) -> pl.DataFrame:
        """Sessions of the rows now there, by their numbers; one with another number came anew."""
        before = numbers(self.taken)
        kept = [row for row in self.taken if position(row) not in gone]
        after = numbers([*kept, *came])
        fresh = {position(row) for row in came}
        moved = {at for at, number in after.items() if before.get(at) != number} | fresh
        lost = [row for row in self.taken if after.get(position(row)) != before[position(row)]]
        lost += [row for row in self.taken if position(row) in gone & fresh]
        fewer = [
            replace(window, span=Span(before[position(row)], before[position(row)] + 1))
            for row in lost
            for window in self.definition.windows([row])
        ]
        self.taken = kept
        emitted = self._take(came, now, fewer=fewer, new=moved)
        were = {window.row_key for window in self.known() if self.full(window)}
        self.certify()
        full, never = self._closing(were)
        return pl.concat([emitted, full, self.emit(self.of_waiting(never), "late")])

    def _renumber(self, gone: set[Position], came: list[Row], now: int) -> pl.DataFrame:
        """Windows of the rows now there, by their numbers, and those that become full by them."""
        before, new = self.windows, {position(row) for row in came}
        certain = dict(self.certain)
        self.taken = [row for row in self.taken if position(row) not in gone] + came
        self.windows = {w.row_key: w for w in self.definition.windows(self.taken)}
        left = [window for key, window in before.items() if key not in self.windows]
        self.emitted.empty(left, self.windows)
        self.empty |= {window.row_key: alone(window) for window in left}
        for window in left:
            self.touch(self.empty[window.row_key], 1, now)
        for key, window in self.windows.items():
            self.empty.pop(key, None)
            added = len(window.held & new)
            if added or key not in before or before[key].frames != window.frames:
                self.touch(window, max(1, added), now)
        self.certify()
        there = [*self.windows.values(), *self.emptied()]
        filled = [w for w in there if self.full(w) and w.last > certain.get(w.bucket, 0)]
        full = self.emit([w for w in filled if w.row_key not in self.shown], "full")
        shown = [w for w in filled if w.row_key in self.shown]
        never = shown if self.policy.late is Late.NEVER else []
        return pl.concat([full, self.emit(self.of_waiting(never), "late")])

    def _retract(self, positions: set[Position], now: int) -> set[str]:
        """row_keys of those that were open and are full, as nothing of them is waited for, or as
        their session is shorter."""
        if not positions:
            return set()
        before = self.windows
        were_late = {key for key, window in before.items() if self.late(window)}
        were_full = {key for key, window in before.items() if self.full(window)}
        self.taken = [row for row in self.taken if self.definition.ident(row) not in positions]
        self.windows = {w.row_key: w for w in self.definition.windows(self.taken)}
        gone = [w for key, w in before.items() if key not in self.windows and not self.missed(w)]
        self.emitted.empty(gone, self.windows)
        self.empty |= {window.row_key: alone(window) for window in gone}
        self._show_opened(were_late)
        left = {w.row_key for w in gone if self.full(alone(w)) and w.row_key not in were_full}
        for key, window in before.items():
            there = self.windows.get(key)
            if self.missed(window):  # it stays as it was emitted
                continue
            if there is None:
                self.touch(window if key in left else self.empty[key], 1, now)
            elif self.full(there) and key not in were_full:
                self.touch(window, 1, now)
                left.add(key)
            elif window.frames != there.frames or self.full(there) != (key in were_full):
                self.touch(there, 1, now)
        return left

    def _idents(self, window: Window) -> set[Position]:
        """Of the rows it holds."""
        own = (window.bucket,) if self.definition.keyed else ()
        return {(*at, *own) for at in window.held}

    def _show_opened(self, were_late: set[str]) -> None:
        """What was late is late, if it is open again."""
        late = (w for w in self.windows.values() if w.row_key in were_late and not self.full(w))
        self.shown |= {window.row_key for window in late}

    def _silent(self, now: int, stores: Stores) -> pl.DataFrame:
        timeout, heard = self.policy.timeout, stores.last_input
        if timeout is None or heard is None or now < heard + timeout:
            return self.nothing()
        stores.last_input = None
        return self._show_open()

    def _show_open(self) -> pl.DataFrame:
        known = [*self.windows.values(), *self.emptied()]
        still_open = [w for w in known if not self.late(w)]
        alone = [w for w in self.deserted() if not self.late(w)]
        shown = self.emit([*still_open, *alone], "full")
        self.shown |= {w.row_key for w in still_open} & self.windows.keys()
        return shown


def numbers(rows: list[Row]) -> dict[Position, int]:
    """Of rows in the order of event time."""
    return {position(row): number for number, row in enumerate(by_position(rows), 1)}


def _lies_in(small: Window, window: Window) -> bool:
    """Whether it begins in the other, of the same keys."""
    if small.span is None or window.span is None or small.group != window.group:
        return False
    return window.span.start <= small.span.start < window.span.end


def _were(window: Window, before: dict[str, Window], gone: list[Window]) -> list[Window]:
    """What a window was before a batch: itself, or the vanished ones it replaces."""
    own = before.get(window.row_key)
    return [each for each in gone if replaces(window, each)] if own is None else [own]
