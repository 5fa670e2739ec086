"""Families: windows whose values depend on each other, as ranks do, and what goes out with them.

A family is emitted whole or not at all, so that it always agrees with itself. With a window
goes out who waits in its family, and in the family of what it makes room for. A window
that has vanished has its place until it is retracted.

Worked example, ranks by size: ann's session 3 is 1, bob's with 2 is 2. Hers grows, and is
another window: until the old one is retracted bob is 2; in the emission that does it, 1.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from tests.reference.definitions.emitted import Emitted, Values
from tests.reference.definitions.sessions import replaces
from tests.reference.definitions.window import Window


@dataclass(frozen=True)
class Families:
    """windows: by row_key, all that there are. emptied: those out whose rows were retracted.
    waiting: row_keys."""

    windows: dict[str, Window]
    emptied: Sequence[Window]
    emitted: Emitted
    waiting: Set[str]

    def joined(self, going: list[Window], late: list[Window]) -> list[Window]:
        """And who waits of families that any of `going` is in, or leaves."""
        families, known = self.of(going), {w.row_key for w in going}
        both = (*self.windows.values(), *self.emptied)
        waiting = (w for w in both if w.row_key in self.waiting)
        more = [*going, *(w for w in waiting if w.family in families and w.row_key not in known)]
        more = self.emitted.with_rivals(more, late)
        return going if len(more) == len(going) else self.joined(more, late)

    def of(self, going: list[Window]) -> set[str]:
        leaving = self._leaving(going)
        return {w.family for w in (*going, *leaving.values()) if w.family is not None}

    def staying(self, going: list[Window]) -> dict[str, Window]:
        """Vanished windows that are out still when these have gone out."""
        leaving = self._leaving(going)
        return {key: w for key, w in self.emitted.vanished.items() if key not in leaving}

    def placed(self, families: set[str], stay: dict[str, Window]) -> dict[str, Values]:
        """Values of whole families, by row_key."""
        found: dict[str, Values] = {}
        for family in families:
            own = {key: w for key, w in self.windows.items() if w.family == family}
            left = {key: w for key, w in stay.items() if w.family == family}
            place = next((w.placed for w in (*own.values(), *left.values())), None)
            if place is not None:
                emitted = {key: self.emitted.values(key) or {} for key in left}
                values = place({**{key: w.values() for key, w in own.items()}, **emitted})
                found |= {key: dict(each) for key, each in values.items()}
        return found

    def _leaving(self, going: list[Window]) -> dict[str, Window]:
        """Vanished windows that are retracted as these go out."""
        there = [window for window in going if window.row_key in self.windows]
        alone = {window.row_key for window in going} - self.windows.keys()
        return {
            key: gone
            for key, gone in self.emitted.vanished.items()
            if key in alone or any(replaces(window, gone) for window in there)
        }
