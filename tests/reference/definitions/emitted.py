"""What was emitted of each window, and which of these windows are no more.

An emission is `+I` where nothing is out under its row_key, revision 0 if nothing ever
was, else `+U`; each is one revision more. A window is *out* when it was emitted and not
retracted since.

A window has *vanished* when a batch leaves it out of the windows that all rows make, as
a session that grew. One that is out is then retracted, `-D` with the values last emitted:
no later than directly before a window that replaces it is emitted; of these, late ones
go out together. Until then it is in `vanished`.

Worked example: a session [0, 30) is emitted, `+I` 0; a row makes it [0, 40). When that is
emitted: `-D` 1 of the first, then `+I` 0 of the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlwin.schema import EMIT, OP, REVISION, ROW_KEY
from tests.reference.definitions.sessions import replaces
from tests.reference.definitions.window import Position, Window

Values = dict[str, Any]


@dataclass
class Emitted:
    """last: of each row_key the revision, and the values unless they were retracted. told: the rows
    that were in the window then."""

    last: dict[str, tuple[int, Values | None]] = field(default_factory=dict)
    vanished: dict[str, Window] = field(default_factory=dict)
    told: dict[str, frozenset[Position]] = field(default_factory=dict)

    def values(self, row_key: str) -> Values | None:
        """What is out under it."""
        return self.last.get(row_key, (-1, None))[1]

    def change(
        self, window: Window, values: Values, emit: str, update_before: bool = False
    ) -> list[Values]:
        """The emission of a window that is there. update_before: a `+U` stands below its `-U`."""
        revision, old = self.last.get(window.row_key, (-1, None))
        self.last[window.row_key] = (revision + 1, values)
        change = {EMIT: emit, ROW_KEY: window.row_key}
        if old is None:
            return [{**values, OP: "+I", REVISION: revision + 1, **change}]
        update = {**values, OP: "+U", REVISION: revision + 1, **change}
        retraction = {**old, OP: "-U", REVISION: revision, **change}
        return [retraction, update] if update_before else [update]

    def delta(self, window: Window, values: Values, emit: str) -> Values:
        """DISCARDING: the emission of what came into a window since its last; each is a row of its
        own, under a row_key that ends with its number."""
        self.told[window.row_key] = window.held
        (record,) = self.change(window, values, emit)
        number = record[REVISION]
        self.last[window.row_key] = (number, None)
        return {**record, ROW_KEY: f"{window.row_key[:-1]},{number}]"}

    def vanish(self, gone: Iterable[Window], there: Iterable[str]) -> list[Window]:
        """Those of `gone` that are out, and so are to be retracted.

        there: row_keys of all windows. One that had vanished may be among them again: a row
        more, and MAX or an END cuts where it did before.
        """
        out = [window for window in gone if self.values(window.row_key) is not None]
        known = {**self.vanished, **{window.row_key: window for window in out}}
        again = set(there)
        self.vanished = {key: window for key, window in known.items() if key not in again}
        return out

    def empty(self, gone: Iterable[Window], there: Iterable[str]) -> None:
        """The same of windows whose rows were retracted: no other takes their place."""
        self.vanish((alone(window) for window in gone), there)

    def replaced_by(self, window: Window) -> list[Window]:
        """The vanished ones that `window` replaces, in the order of windows."""
        return sorted(
            (other for other in self.vanished.values() if replaces(window, other)), key=_by_end
        )

    def with_rivals(self, chosen: list[Window], late: list[Window]) -> list[Window]:
        """And the late ones not out that share what `chosen` replaces.

        Under LATE NEVER they would not be emitted by themselves, and their rows be lost with it.
        """
        known = {window.row_key for window in chosen}
        gone = [each for each in self.vanished.values() if any(replaces(w, each) for w in chosen)]
        untold = (w for w in late if w.row_key not in known and self.values(w.row_key) is None)
        rivals = [w for w in untold if any(replaces(w, each) for each in gone)]
        return self.with_rivals([*chosen, *rivals], late) if rivals else chosen

    def gone(self, window: Window, emit: str) -> Values:
        """The retraction of a vanished one."""
        del self.vanished[window.row_key]
        revision, old = self.last[window.row_key]
        self.last[window.row_key] = (revision + 1, None)
        assert old is not None
        return {**old, OP: "-D", EMIT: emit, REVISION: revision + 1, ROW_KEY: window.row_key}


def alone(window: Window) -> Window:
    """A window whose rows were retracted."""
    return replace(window, span=None, full_at=window.without or window.full_at)


def _by_end(window: Window) -> tuple[int, int, str]:
    assert window.span is not None
    return window.span.end, window.span.start, window.group
