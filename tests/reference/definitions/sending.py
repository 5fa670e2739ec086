"""What goes out by the specification of the window operators: what is emitted together.

The words are those of `tests.reference.operator`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.polars_frames import empty
from sqlwin.schema import PART, SEQ
from tests.reference.definitions.book import Book
from tests.reference.definitions.emitted import Emitted
from tests.reference.definitions.families import Families
from tests.reference.definitions.sessions import replaces
from tests.reference.definitions.window import Window, comparable, position
from tests.reference.kernels.rows import Row


class Sender(Book):
    """An emission, of windows or of rows alone, is recorded as emitted when it is made."""

    @property
    def output(self) -> dict[str, pl.DataType]:
        return self.definition.output

    def nothing(self) -> pl.DataFrame:
        return empty({**self.output, **CHANGE_SCHEMA})

    def emit(
        self, windows: Iterable[Window], emit: str, apart: Sequence[Window] = ()
    ) -> pl.DataFrame:
        """apart: late ones whose own turn comes next. What goes out late with them is `late`, and
        what makes room for them."""
        keys = {w.row_key: w for w in windows}
        if self.policy.discards:
            return self._records(list(self._deltas(keys.keys(), emit)))
        late = [w for w in self.windows.values() if self.late(w) and w not in apart]
        chosen = {w.row_key: w for w in self.emitted.with_rivals(list(keys.values()), late)}
        for key in chosen.keys() & self.empty.keys():
            if self.emitted.values(key) is None:  # it was never emitted, and is dropped silently
                self.waiting.pop(key, None)
                del chosen[key]
        among = Families(self.windows, self.emptied(), self.emitted, self.waiting.keys())
        going = among.joined(list(chosen.values()), late)
        others = [each for each in apart if each.row_key in self.windows]
        records: list[dict[str, Any]] = []
        for window, values, word in self._changed(keys.keys(), going, among, emit):
            if window.row_key in self.windows:
                for each in self.emitted.replaced_by(window):
                    for_late = any(replaces(other, each) for other in others)
                    records.append(self._retracted(each, "late" if for_late else word))
            records += self.emitted.change(window, values, word, self.definition.update_before)
        gone = [w for w in going if w.row_key in self.emitted.vanished]
        words = [emit if w.row_key in chosen else self._word(w) for w in gone]
        alone = [self._retracted(w, word) for w, word in zip(gone, words, strict=True)]
        return self._records([*alone, *records])

    def _deltas(self, keys: Collection[str], emit: str) -> Iterator[dict[str, Any]]:
        """DISCARDING: of each window the rows that were in no emission of it, if there are any."""
        for window in [w for key, w in self.windows.items() if key in keys]:
            self.waiting.pop(window.row_key, None)
            new = window.held - self.emitted.told.get(window.row_key, frozenset())
            rows = [row for row in self.taken if position(row) in new]
            for delta in self.definition.windows(rows):
                if delta.row_key == window.row_key:
                    yield self.emitted.delta(window, delta.values(), emit)

    def _word(self, window: Window) -> str:
        return "late" if self.late(window) else "early"

    def each_alone(self, rows: Sequence[Row]) -> pl.DataFrame:
        """Rows beyond retention, which EXPIRED EMIT emits and forgets; their windows are known
        by their positions, for others may have the same bounds."""
        windows = [
            replace(window, row_key=f"{window.row_key[:-1]},{row[PART]},{row[SEQ]}]")
            for row in rows
            for window in self.definition.windows([row])
        ]
        emitted = [each for w in windows for each in Emitted().change(w, w.values(), "late")]
        return self._records(emitted)

    def _records(self, records: list[dict[str, Any]]) -> pl.DataFrame:
        none = self.nothing()
        return pl.DataFrame(records, schema=none.schema, orient="row") if records else none

    def _retracted(self, window: Window, emit: str) -> dict[str, Any]:
        """Should the same window be there again, it is a new one, which was not shown."""
        self.waiting.pop(window.row_key, None)
        self.shown.discard(window.row_key)
        self.empty.pop(window.row_key, None)
        return self.emitted.gone(window, emit)

    def _changed(
        self, keys: Collection[str], going: list[Window], among: Families, emit: str
    ) -> Iterable[tuple[Window, dict[str, Any], str]]:
        """What was asked for, its values, its word; and who has changed with it."""
        families, known = among.of(going), {w.row_key for w in going}
        stay = among.staying(going)
        placed = among.placed(families, stay)
        for key, window in self.windows.items():
            out = self.emitted.values(key)
            if not (key in known or (window.family in families and out is not None)):
                continue
            self.waiting.pop(key, None)
            values = placed[key] if key in placed else window.values()
            if key in keys and emit == "full" and (out is None or self.definition.varies):
                yield window, values, emit
            elif out is None or comparable(values) != comparable(out):
                own = window.family is not None or key not in keys
                yield window, values, self._word(window) if own else emit
        for key in stay.keys() & placed.keys():
            if comparable(placed[key]) != comparable(self.emitted.values(key) or {}):
                yield stay[key], placed[key], "late"
