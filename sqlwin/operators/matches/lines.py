"""ALL ROWS PER MATCH: the rows of matches, each with the measures as they are there.

A measure is *running*: of the match up to the row; or *final*: of all of it. Rows of an exclusion
take part in both, and are not given. An empty match is given as the row that it stands before, of
which nothing is mapped; so is a row of no match, whose measures are all NULL.

The mapped rows of all matches lie one behind the other, and each aggregate goes over frames of
them: from the first row of a match to the row itself, or to its last.

Worked example, a b b: three rows, numbers 0 to 2. COUNT(b.x) is running 0, 1, 2 and final 2, 2, 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Frames, Ints
from sqlwin.kernels.patterns.paths import Path
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.matches.conditions import Match
from sqlwin.operators.matches.reading import FoldTerm, Reading, Rows, flagging
from sqlwin.patterns import Navigation


@dataclass(frozen=True)
class Lines:
    """What is given of matches: a line for each row."""

    matches: Sequence[Match]

    @cached_property
    def _paths(self) -> list[list[tuple[str, bool]]]:
        return [_mapped(match.path) for match in self.matches]

    @cached_property
    def names(self) -> list[str]:
        """Of all mapped rows."""
        return [name for path in self._paths for name, _ in path]

    @cached_property
    def _begins(self) -> Ints:
        """Of each match the place of its first mapped row, and behind the last of all."""
        return np.cumsum([0, *map(len, self._paths)], dtype=np.int64)

    @cached_property
    def _of(self) -> Ints:
        """Of each mapped row the number of its match."""
        return np.repeat(np.arange(len(self._paths)), np.diff(self._begins))

    @cached_property
    def numbers(self) -> Ints:
        """Of each mapped row its number among the rows."""
        firsts = np.array([match.first for match in self.matches], dtype=np.int64)
        return np.arange(len(self.names)) + (firsts - self._begins[:-1])[self._of]

    @cached_property
    def _given(self) -> tuple[Ints, Ints]:
        """Of each line its match, and its place among the mapped rows; -1: it is not mapped."""
        of, places = [], []
        for number, path in enumerate(self._paths):
            begin = int(self._begins[number])
            shown = [begin + at for at, (_, hidden) in enumerate(path) if not hidden]
            places += shown if path else [-1]
            of += [number] * (len(shown) if path else 1)
        return np.array(of, dtype=np.int64), np.array(places, dtype=np.int64)

    @property
    def firsts(self) -> pl.Series:
        """Of each line the number of the first row of its match."""
        numbers = [self.matches[of].first for of in self._given[0]]
        return pl.Series(numbers, dtype=pl.UInt32)

    @property
    def rows(self) -> pl.Series:
        """Of each line the number of its row."""
        found = [
            self.matches[of].first if place < 0 else int(self.numbers[place])
            for of, place in zip(*self._given, strict=True)
        ]
        return pl.Series(found, dtype=pl.UInt32)

    # Measures.

    def values(self, measures: Reading, rows: Rows) -> pl.DataFrame:
        """A column for each term, a line for each line."""
        flagged = measures.flagged(self.numbers, pl.Series(self.names, dtype=pl.String), rows)
        columns = [
            self._picked(term, rows)
            if isinstance(term, Navigation)
            else self._folded(term, flagged).alias(term.name)
            for term in measures.terms
        ]
        unmatched = [self.matches[of].unmatched for of in self._given[0]]
        matched = ~pl.Series(unmatched, dtype=pl.Boolean)
        return pl.DataFrame(columns).select(pl.when(matched).then(pl.all()))

    def _folded(self, term: FoldTerm, flagged: pl.DataFrame) -> pl.Series:
        of, places = self._given
        mapped = places >= 0
        lo = self._begins[:-1][of]
        hi = np.where(mapped, self._begins[1:][of] if term.final else places + 1, lo)
        return flagging(term).slide(flagged, Frames(lo, hi))

    def _picked(self, term: Navigation, rows: Rows) -> pl.Series:
        picks = list(self._picks(term))
        of, places = self._given
        found = [
            None if place < 0 else picks[int(self._begins[number + 1]) - 1 if term.final else place]
            for number, place in zip(of, places, strict=True)
        ]
        if term.column is None:
            names = [None if pick is None else self.names[pick] for pick in found]
            return pl.Series(term.name, names, dtype=pl.String)
        at = [None if pick is None else self._before(pick, term.back, rows) for pick in found]
        return rows.frame[term.column].gather(pl.Series(at, dtype=pl.UInt32)).alias(term.name)

    def _before(self, place: int, back: int, rows: Rows) -> int | None:
        number = int(self.numbers[place])
        return number - back if number - back >= rows.first[number] else None

    def _picks(self, term: Navigation) -> Iterator[int | None]:
        """Of each mapped row the one that the term is of, as the match is there."""
        for begin, end in zip(self._begins[:-1], self._begins[1:], strict=True):
            own: list[int] = []
            for place in range(int(begin), int(end)):
                if term.takes(self.names[place]):
                    own.append(place)
                at = term.offset if term.first else len(own) - 1 - term.offset
                yield own[at] if 0 <= at < len(own) else None


def _mapped(path: Path) -> list[tuple[str, bool]]:
    """Of each row, from the first, its variable, and whether it is left out."""
    made = []
    while path is not None:
        made.append((path.name, path.hidden))
        path = path.before
    return made[::-1]
