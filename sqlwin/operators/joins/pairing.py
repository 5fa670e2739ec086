"""Pairs of a join: what a batch adds to them, and what it takes away.

A pair is a row of both sides' columns, the marks of each side's row under
`__left.` and `__right.`, and `__at`, the later time of the two. Each pair is found once:
new left rows look for partners among all right rows, new ones too, and new right rows
only among left rows that were there before.

>>> from sqlwin.windows import Unit
>>> from sqlwin.windows.joins import JoinWindow
>>> window = JoinWindow(Unit.RANGE, -5, 5)
>>> left = Side("left", {"a": pl.Int64()}, (), window, 60)
>>> right = Side("right", {"b": pl.Int64()}, (), window.mirrored, 60)
>>> place = {"__part": [0, 0], "__seq": [0, 1]}
>>> rows = Pairing(left, right).of(
...     pl.DataFrame({"a": [1, 2], "__ts": [10, 20], **place}),
...     pl.DataFrame({"b": [3, 4], "__ts": [15, 26], **place}),
... )
>>> rows.select("a", "b", AT).rows()
[(1, 3, 15), (2, 3, 20)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field

import polars as pl

from sqlwin.kernels.frames import Ints
from sqlwin.kernels.joins import coded, near
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.arrivals import Arrivals
from sqlwin.operators.joins.schema import POS
from sqlwin.operators.joins.sides import Columns, Side
from sqlwin.polars_frames import empty
from sqlwin.schema import TS
from sqlwin.windows.joins import SpannedWindow, SteppedWindow

AT = "__at"
Residual = Callable[[pl.DataFrame], pl.Series]


def marked(side: Side) -> dict[str, str]:
    """From the marks of a side's row to their names beside the other side's."""
    return {name: f"__{side.name}.{name}" for name in side.marks}


def marks_of(left: Side, right: Side) -> Columns:
    """The marks of both rows of a pair."""
    return {name: side.marks[old] for side in (left, right) for old, name in marked(side).items()}


def of_pairs(side: Side, pairs: pl.DataFrame) -> pl.DataFrame:
    """What the side's rows in pairs are known by."""
    named = marked(side)
    return pairs.select(pl.col(named[name]).alias(name) for name in side.identity)


@dataclass(frozen=True)
class Changes:
    """Pairs that a batch retracts, `removed`, and pairs that it makes, `added`.

    completed: by the name of a side, rows that are complete by what the batch did to others.
    """

    removed: pl.DataFrame
    added: pl.DataFrame
    completed: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def untouched(self, side: Side) -> pl.DataFrame:
        """Rows that a batch completes, and to which it does nothing else."""
        rows = self.completed.get(side.name, empty(side.row))
        for pairs in (self.removed, self.added) if len(rows) else ():
            rows = side.less(rows, of_pairs(side, pairs))
        return rows


@dataclass(frozen=True)
class Pairing:
    """residual: which pairs are true, from a frame of the left columns and then the right."""

    left: Side
    right: Side
    residual: Residual | None = None

    @property
    def columns(self) -> Columns:
        """Of a pair."""
        values = {**self.left.columns, **self.right.columns}
        return {**values, AT: pl.Int64(), **marks_of(self.left, self.right)}

    def changes(self, left: Arrivals, right: Arrivals, stores: Stores) -> Changes:
        """What a batch does, before its rows are put."""
        lefts = self.left.near(pl.concat([right.new, right.were]), self.right, stores)
        rights = self.right.near(pl.concat([left.new, left.were]), self.left, stores)
        stay = self.left.less(lefts, left.were)
        removed = pl.concat([self.of(left.were, rights), self.of(stay, right.were)])
        there = pl.concat([self.right.less(rights, right.were), right.new])
        added = pl.concat([self.of(left.new, there), self.of(stay, right.new)])
        return Changes(removed, added)

    def of(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        """The pairs of two frames of rows."""
        return self.joined(left, right, self._near(left, right))

    def joined(
        self, left: pl.DataFrame, right: pl.DataFrame, numbers: Iterable[tuple[Ints, Ints]]
    ) -> pl.DataFrame:
        """Of the rows with these numbers, those that are true."""
        first, second = left.rename(marked(self.left)), right.rename(marked(self.right))
        found = [self._true(pl.concat([first[a], second[b]], how="horizontal")) for a, b in numbers]
        if not found:
            return empty(self.columns)
        return pl.concat(found).with_columns(self._at).select(*self.columns)

    @property
    def _at(self) -> pl.Expr:
        return pl.max_horizontal(marked(self.left)[TS], marked(self.right)[TS]).alias(AT)

    def _near(self, left: pl.DataFrame, right: pl.DataFrame) -> Iterator[tuple[Ints, Ints]]:
        """Row numbers of candidates; the longer side stands in line, where search is cheap."""
        if left.is_empty() or right.is_empty():
            return
        at, window, own, other = self.left.at, self.left.window, self.left.keys, self.right.keys
        if len(left) <= len(right):
            yield from near(*coded(left, right, own, other, at), window.low, window.high)
            return
        ends, seen = coded(right, left, other, own, at), window.mirrored
        yield from ((a, b) for b, a in near(*ends, seen.low, seen.high))

    def _true(self, pairs: pl.DataFrame) -> pl.DataFrame:
        window = self.left.window
        if isinstance(window, SteppedWindow):
            numbers = (pl.col(marked(side)[POS]) for side in (self.left, self.right))
            pairs = pairs.filter(window.together(*numbers))
        if isinstance(window, SpannedWindow) and window.last is not None:
            there = pl.col(marked(self.right)[POS]) <= pl.col(window.last)
            pairs = pairs.filter(there.fill_null(True))
        if self.residual is None:
            return pairs
        return pairs.filter(self.residual(pairs.select(*self.left.columns, *self.right.columns)))
