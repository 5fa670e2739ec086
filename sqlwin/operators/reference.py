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
  when the next one comes, and it is told `full` once more when it is;
- a session that the rows of a batch make another one has *vanished*. What waited there
  waits on in what replaces it. If it is out, it is withdrawn directly before one of those
  is emitted, and late ones of those go out with it; if it was late it is also due by
  itself, as the late policy says;
- a session that is full when it begins is emitted `full` if it replaces an open one, of
  which a late row made it a part;
- an emission is as `definitions.told` says;
- a batch that withdraws rows is two: one without them, and then one of its new rows.
  A window without rows is there no more: one that is out waits, as the policy of a window
  that was touched says, and is withdrawn in its turn; so if it becomes full. A row comes
  again under its row_key: it was never gone. One that was late and is not full any more,
  for rows that followed are withdrawn, is `shown`;
- a session whose rows are withdrawn may leave others in its place, so there a batch is one:
  what its rows now make. One that has vanished waits as its own policy says, open or late.
  It is *deserted* if no open window replaces it: then it is withdrawn at the latest when it
  becomes full, or at once if it was open and is full by then, or when it leaves;
- EXPIRED EMIT: a row beyond retention makes the windows that it would make alone. They
  are told at once, as late ones, and nothing is kept of them.

Within one call of `on_tick` a TIMEOUT comes before what is due.

State is the operator's own and does not survive it: this is for tests.

Worked example, a tumbling minute, EARLY EVERY 20 s, LATE EVERY 10 s. A row at 0:10
comes at now = 0 s: at 20 s the window goes out early, `+I` 0. Watermark 1:00: full,
`+U` 1. A row at 0:20 comes at now = 30 s: at 40 s it goes out late, `+U` 2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from sqlwin.instants import START
from sqlwin.kernels.reference.rows import Row
from sqlwin.operators.changes import CHANGE_SCHEMA
from sqlwin.operators.contract import Stores
from sqlwin.operators.definitions.admitted import expired, fresh
from sqlwin.operators.definitions.families import Families
from sqlwin.operators.definitions.floors import floor_frame, floors
from sqlwin.operators.definitions.sessions import replaces
from sqlwin.operators.definitions.told import Told, alone
from sqlwin.operators.definitions.waiting import Waiting, together, wait_early, wait_late
from sqlwin.operators.definitions.window import (
    Definition,
    Position,
    Window,
    comparable,
    position,
)
from sqlwin.operators.definitions.withdrawn import changed
from sqlwin.policies import Expired, Late, Policy
from sqlwin.schema import PART, POSITION, SEQ, WEIGHT, empty


@dataclass
class ReferenceOperator:
    """Every row taken, the last emission of every window, and what waits.

    filled: tuple windows that were full when the last watermark was told. told: what is
    out, and what of that is no more. empty: windows whose rows were withdrawn, whether out or not.
    """

    definition: Definition
    taken: list[Row] = field(default_factory=list)
    windows: dict[str, Window] = field(default_factory=dict)
    closed: int = START
    filled: set[str] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    told: Told = field(default_factory=Told)
    empty: dict[str, Window] = field(default_factory=dict)

    @property
    def output(self) -> dict[str, pl.DataType]:
        return self.definition.output

    @property
    def policy(self) -> Policy:
        return self.definition.policy

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        weight = [WEIGHT] if self.definition.weighted else []
        return rows.select(*self.definition.carried, *POSITION, *weight)

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        if self.definition.weighted:
            return self._change(batch.to_dicts(), now)
        gone = batch.clear() if self.policy.expired is not Expired.EMIT else self.expired(batch)
        kept = batch.join(gone, on=list(POSITION), how="anti") if len(gone) else batch
        rows = fresh(kept.sort(PART, SEQ).to_dicts(), self.taken, self.definition)
        alone = self._each_alone(gone.sort(POSITION).to_dicts())
        return pl.concat([alone, self._take(rows, now)]) if rows else alone

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        were = {window.row_key for window in self._known() if self._full(window)}
        self.closed = stores.closed = max(watermark, self.closed)
        self.filled = {key for key, window in self.windows.items() if window.full_at(self.closed)}
        there = [*self.windows.values(), *self._emptied()]
        closing = [w for w in there if self._full(w) and w.row_key not in were]
        told = set() if self.definition.by_count else self.shown
        gone = self._deserted()
        closing += [w for w in gone if self._full(w) and w.row_key not in were]
        full = self._emit([w for w in closing if w.row_key not in told], "full")
        # LATE NEVER: of a window that was shown before its time, the close tells the rest
        never = closing if self.policy.late is Late.NEVER else []
        found = floors(self.taken, self.definition)
        known = self._known() if self._empties else [*there, *gone]
        leaving = [w for w in known if self._full(w) and self._leaves(w, found)]
        return pl.concat([full, self._emit(self._of_waiting([*never, *leaving]), "late")])

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        silent = self._silent(now, stores)
        due = [w for w in self._of_waiting(self._known()) if self._due(w, now)]
        early = [w for w in due if not self._late(w)]
        late = [w for w in due if self._late(w)]
        return pl.concat([silent, self._emit(early, "early", late), self._emit(late, "late")])

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        late = [w for w in self._of_waiting(self._known()) if self._late(w)]
        return pl.concat([self._emit(late, "late"), self._show_open()])

    def floors(self, stores: Stores) -> pl.DataFrame:
        return floor_frame(self.taken, self.definition)

    def expired(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Of a batch's rows those beyond retention."""
        return expired(rows, self.taken, self.definition, self.closed)

    def next_deadline(self, stores: Stores) -> int | None:
        deadlines = [w.due for w in self.waiting.values() if w.due is not None]
        if self.policy.timeout is not None and stores.heard is not None:
            deadlines.append(stores.heard + self.policy.timeout)
        return min(deadlines, default=None)

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    # The definitions.

    def _take(
        self, rows: list[Row], now: int, left: Collection[str] = (), lost: Sequence[Row] = ()
    ) -> pl.DataFrame:
        """left: row_keys that count as open until now. lost: rows that are there no more."""
        before, new = self.windows, {position(row) for row in rows}
        self.taken += rows
        self.windows = {w.row_key: w for w in self.definition.windows(self.taken)}
        gone = [window for key, window in before.items() if key not in self.windows]
        back = {key: w for key, w in self.empty.items() if key in self.windows}
        opened = {key for key, w in back.items() if key in left or not self._full(w)}
        opened &= self.told.vanished.keys()
        were_out = back.keys() & self.told.vanished.keys()
        were_late = {key for key in were_out if key not in opened and self._late(back[key])}
        filled = [
            w
            for key, w in self.windows.items()
            if self._filled(_were(w, before, gone), w) or (key in opened and self._full(w))
        ]
        self._vanish(gone, now)
        self._show_opened(were_late | (self.shown & back.keys()))
        self.empty = {key: w for key, w in self.empty.items() if key not in back}
        unshown = [w for w in filled if w.row_key not in self.shown]
        closing = filled if self.policy.late is Late.NEVER else unshown
        fewer = [w for row in lost for w in self.definition.windows([row])]
        for window in self.windows.values():
            added = len(window.held & new) + any(_lies_in(w, window) for w in fewer)
            touched = self._touched(before.get(window.row_key), window) or added
            if touched and window not in closing:
                self._touch(window, max(1, added), now)
        overdue = self._overdue()
        told = self._emit([*unshown, *(w for w in overdue if w.row_key not in self.shown)], "full")
        rest = [*(w for w in closing if w not in unshown), *overdue]
        again = self._emit([w for w in rest if w.row_key in self.shown], "late")
        return pl.concat([told, again])

    def _change(self, batch: Sequence[Row], now: int) -> pl.DataFrame:
        gone, came = changed(batch, self.taken)
        if self.definition.sessions:
            return self._remake(gone, came, now)
        left = self._withdraw(gone, now)
        told = self._take(came, now, left) if came else self.nothing()
        # open ones that are full now that no rows are waited for
        full = [self.told.vanished[key] for key in left if key in self.told.vanished]
        shown = [w for w in full if w.row_key in self.shown and self.policy.late is Late.NEVER]
        first = self._emit([w for w in full if w.row_key not in self.shown], "full")
        return pl.concat([told, first, self._emit(shown, "late")])

    def _remake(self, gone: set[Position], came: list[Row], now: int) -> pl.DataFrame:
        """Sessions of the rows now there."""
        if not gone and not came:
            return self.nothing()
        lost = [row for row in self.taken if position(row) in gone]
        self.taken = [row for row in self.taken if position(row) not in gone]
        return self._take(came, now, lost=lost)

    def _withdraw(self, positions: set[Position], now: int) -> set[str]:
        """row_keys of those that were open and, as nothing of them is waited for, are full."""
        if not positions:
            return set()
        before = self.windows
        were_late = {key for key, window in before.items() if self._late(window)}
        were_full = {key for key, window in before.items() if self._full(window)}
        self.taken = [row for row in self.taken if position(row) not in positions]
        self.windows = {w.row_key: w for w in self.definition.windows(self.taken)}
        gone = [window for key, window in before.items() if key not in self.windows]
        self.told.empty(gone, self.windows)
        self.empty |= {window.row_key: alone(window) for window in gone}
        self._show_opened(were_late)
        left = {w.row_key for w in gone if self._full(alone(w)) and w.row_key not in were_full}
        for key, window in before.items():
            there = self.windows.get(key)
            if there is None:
                self._touch(window if key in left else self.empty[key], 1, now)
            elif window.frames != there.frames or self._full(there) != (key in were_full):
                self._touch(there, 1, now)
        return left

    def _show_opened(self, were_late: set[str]) -> None:
        """What was late is late, if it is open again."""
        late = (w for w in self.windows.values() if w.row_key in were_late and not self._full(w))
        self.shown |= {window.row_key for window in late}

    def _known(self) -> list[Window]:
        known = {**self.empty, **self.told.vanished, **self.windows}
        return list(known.values())

    @property
    def _empties(self) -> bool:
        """Whether a window may be without rows, and no other in its place."""
        return self.definition.weighted and not self.definition.sessions

    def _emptied(self) -> list[Window]:
        """Those out whose rows were withdrawn; of a session what replaces it goes first."""
        return list(self.told.vanished.values()) if self._empties else []

    # Sessions whose rows are withdrawn.

    def _deserted(self) -> list[Window]:
        """Those that have vanished, and that no open window replaces."""
        if not (self.definition.weighted and self.definition.sessions):
            return []
        still_open = [w for w in self.windows.values() if not self._late(w)]
        gone = self.told.vanished.values()
        return [w for w in gone if not any(replaces(each, w) for each in still_open)]

    def _overdue(self) -> list[Window]:
        """Those of them that were open, are full by now, and have no time of their own."""
        waits = [w for w in self._of_waiting(self._deserted()) if self._full(w)]
        return [w for w in waits if self.waiting[w.row_key].due is None]

    def _full(self, window: Window) -> bool:
        """By the rows now known; a tuple window is full from when that was told."""
        if self.definition.by_count:
            return window.row_key in self.filled
        return window.full_at(self.closed)

    def _late(self, window: Window) -> bool:
        return window.row_key in self.shown or self._full(window)

    def _leaves(self, window: Window, found: dict[str, int]) -> bool:
        """Whether retention is over: no row that may still come is held by it."""
        retain = self.policy.retain
        by_time = retain is not None and window.full_at(self.closed - retain)
        return by_time or window.full_at(found.get(window.bucket, START))

    # What waits.

    def _touched(self, before: Window | None, window: Window) -> bool:
        """A row that became full as its followers came has changed, excluded though they are."""
        if before is None or before.frames != window.frames:
            return True
        return self._full(window) and not self._full(before)

    def _filled(self, before: list[Window], window: Window) -> bool:
        """Whether it was open and is full with a late row: one that follows, or that cuts it."""
        was_open = any(not self._full(each) for each in before)
        return was_open and self._full(window) and not self.definition.by_count

    def _vanish(self, gone: list[Window], now: int) -> None:
        """What waits there is handed on; one that is out and late waits as a correction too."""
        keys = [window.row_key for window in gone]
        handed = {key: self.waiting.pop(key) for key in keys if key in self.waiting}
        for key, window in self.windows.items():
            known = [handed[w.row_key] for w in gone if w.row_key in handed and replaces(window, w)]
            if known:
                self.waiting[key] = together([self.waiting.get(key, Waiting()), *known])
        for window in self.told.vanish(gone, self.windows):
            after = self._wait_gone(window, handed.get(window.row_key, Waiting()), now)
            if after is not None:
                self.waiting[window.row_key] = after

    def _wait_gone(self, window: Window, own: Waiting, now: int) -> Waiting | None:
        """An open one goes with what replaces it; where nothing need do so, by itself too."""
        weighted = self.definition.weighted
        if not self._late(window):
            return wait_early(self.policy, own, 1, now) if weighted else None
        if self.definition.by_count:
            return None
        return wait_late(self.policy, self._full(window) or not weighted, own, 1, now)

    def _touch(self, window: Window, rows: int, now: int) -> None:
        known = self.waiting.pop(window.row_key, Waiting())
        if self.definition.by_count:
            self.shown.discard(window.row_key)
        if self._late(window):
            after = wait_late(self.policy, self._full(window), known, rows, now)
        else:
            after = wait_early(self.policy, known, rows, now)
        if after is not None:
            self.waiting[window.row_key] = after

    def _of_waiting(self, windows: Iterable[Window]) -> list[Window]:
        return list({w.row_key: w for w in windows if w.row_key in self.waiting}.values())

    def _due(self, window: Window, now: int) -> bool:
        due = self.waiting[window.row_key].due
        return due is not None and due <= now

    # What goes out.

    def _silent(self, now: int, stores: Stores) -> pl.DataFrame:
        timeout, heard = self.policy.timeout, stores.heard
        if timeout is None or heard is None or now < heard + timeout:
            return self.nothing()
        stores.heard = None
        return self._show_open()

    def _show_open(self) -> pl.DataFrame:
        known = [*self.windows.values(), *self._emptied()]
        still_open = [w for w in known if not self._late(w)]
        alone = [w for w in self._deserted() if not self._late(w)]
        shown = self._emit([*still_open, *alone], "full")
        self.shown |= {w.row_key for w in still_open} & self.windows.keys()
        return shown

    def _emit(
        self, windows: Iterable[Window], emit: str, apart: Sequence[Window] = ()
    ) -> pl.DataFrame:
        """apart: late ones whose own turn comes next."""
        late = [w for w in self.windows.values() if self._late(w) and w not in apart]
        chosen = {w.row_key: w for w in self.told.with_rivals(list(windows), late)}
        for key in chosen.keys() & self.empty.keys():
            if self.told.values(key) is None:  # it was never told, and goes without a word
                self.waiting.pop(key, None)
                del chosen[key]
        among = Families(self.windows, self._emptied(), self.told, self.waiting.keys())
        going = among.joined(list(chosen.values()), late)
        records: list[dict[str, Any]] = []
        for window, values, word in self._changed(chosen.keys(), going, among, emit):
            if window.row_key in self.windows:
                records += [self._withdrawn(each, word) for each in self.told.replaced_by(window)]
            records += self.told.change(window, values, word, self.definition.withdraw)
        gone = [w for w in going if w.row_key in self.told.vanished]
        words = [emit if w.row_key in chosen else self._word(w) for w in gone]
        alone = [self._withdrawn(w, word) for w, word in zip(gone, words, strict=True)]
        return self._records([*alone, *records])

    def _word(self, window: Window) -> str:
        return "late" if self._late(window) else "early"

    def _each_alone(self, rows: Sequence[Row]) -> pl.DataFrame:
        """Rows beyond retention, which EXPIRED EMIT tells and forgets; their windows are known
        by their positions, for others may have the same bounds."""
        windows = [
            replace(window, row_key=f"{window.row_key[:-1]},{row[PART]},{row[SEQ]}]")
            for row in rows
            for window in self.definition.windows([row])
        ]
        told = [each for w in windows for each in Told().change(w, w.values(), "late")]
        return self._records(told)

    def _records(self, records: list[dict[str, Any]]) -> pl.DataFrame:
        none = self.nothing()
        return pl.DataFrame(records, schema=none.schema, orient="row") if records else none

    def _withdrawn(self, window: Window, emit: str) -> dict[str, Any]:
        """Should the same window be there again, it is a new one, which was not shown."""
        self.waiting.pop(window.row_key, None)
        self.shown.discard(window.row_key)
        self.empty.pop(window.row_key, None)
        return self.told.gone(window, emit)

    def _changed(
        self, chosen: Collection[str], going: list[Window], among: Families, emit: str
    ) -> Iterable[tuple[Window, dict[str, Any], str]]:
        """What was chosen, its values, its word; and who of its family has changed with it."""
        families, known = among.of(going), {w.row_key for w in going}
        stay = among.staying(going)
        placed = among.placed(families, stay)
        for key, window in self.windows.items():
            out = self.told.values(key)
            if not (key in known or (window.family in families and out is not None)):
                continue
            self.waiting.pop(key, None)
            values = placed[key] if key in placed else window.values()
            if key in chosen and (emit == "full" or window.family is None):
                yield window, values, emit
            elif comparable(values) != comparable(out or {}):
                yield window, values, self._word(window)
        for key in stay.keys() & placed.keys():
            if comparable(placed[key]) != comparable(self.told.values(key) or {}):
                yield stay[key], placed[key], "late"


def _lies_in(small: Window, window: Window) -> bool:
    """Whether it begins in the other, of the same keys."""
    if small.span is None or window.span is None or small.group != window.group:
        return False
    return window.span.start <= small.span.start < window.span.end


def _were(window: Window, before: dict[str, Window], gone: list[Window]) -> list[Window]:
    """What a window was before a batch: itself, or the vanished ones it replaces."""
    own = before.get(window.row_key)
    return [each for each in gone if replaces(window, each)] if own is None else [own]
