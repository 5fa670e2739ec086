"""Aggregates of conditions, carried along the paths of attempts.

A path that grows by a row has the accumulators of the path before it, merged with those of the row.
So a condition over n rows that are mapped one by one lifts n rows, and not 1 + 2 + … + n. Where no
accumulators are known of some rows before, as these were mapped without the condition, all of
these get theirs at once, as frames from the first of them on.

Worked example, `a b+`, SUM(b.x) < 9, the rows b of x 4, 3, 2: lifted are 4, then 3 and merged to 7,
then 2 and merged to 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np
import polars as pl

from sqlwin.kernels.frames import Frames
from sqlwin.kernels.patterns.paths import Path
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.matches.reading import GROUP, Mapping, Reading, Rows, flagging

MOST = 200_000
"""Paths that are known at once; then all are forgotten, and are computed anew where they go on."""
Line = tuple[int, int]
"""The number of a frame, and a line of it."""


@dataclass
class Accumulated:
    """The aggregates of one condition. known: of paths, by their identity, the path itself, so that
    it stays, and where its accumulators are."""

    reading: Reading
    rows: Rows
    known: dict[int, tuple[Path, Line]] = field(default_factory=dict)
    frames: list[pl.DataFrame] = field(default_factory=list)

    def values(self, mappings: Sequence[Mapping]) -> list[pl.Series]:
        """Of each fold a value for each mapping."""
        if len(self.known) > MOST:
            self.known.clear()
            self.frames.clear()
        gaps = [self._gap(path) for _, path in mappings]
        if any(gap for gap, _ in gaps):
            self._extend(mappings, gaps)
        found = self._gathered([self.known[id(path)][1] for _, path in mappings])
        return [term.fold.finish(found) for term in self.reading.folds]

    def _gap(self, path: Path) -> tuple[list[Path], Line | None]:
        """The paths that are not known, the shortest first, and what is known before them."""
        gap: list[Path] = []
        while path is not None and id(path) not in self.known:
            gap.append(path)
            path = path.before
        return gap[::-1], None if path is None else self.known[id(path)][1]

    def _extend(
        self, mappings: Sequence[Mapping], gaps: list[tuple[list[Path], Line | None]]
    ) -> None:
        paths = [path for gap, _ in gaps for path in gap]
        lengths = np.array([len(gap) for gap, _ in gaps])
        begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = np.arange(len(paths))
        last = np.repeat([row for row, _ in mappings], lengths)
        numbers = last - np.repeat(lengths, lengths) + 1 + at - begins
        names = pl.Series([path.name for path in paths if path is not None], dtype=pl.String)
        flagged = self.reading.flagged(numbers, names, self.rows)
        parts = [
            flagging(term).over(flagged, Frames(begins, at + 1)) for term in self.reading.folds
        ]
        own = pl.concat(parts, how="horizontal").with_columns(pl.Series(GROUP, at))
        before = [line for gap, line in gaps for _ in gap]
        self._keep(paths, self._merged(own, before))

    def _merged(self, own: pl.DataFrame, before: list[Line | None]) -> pl.DataFrame:
        """Accumulators of rows with those of what was mapped before them."""
        behind = [(at, line) for at, line in enumerate(before) if line is not None]
        if not behind:
            return own.drop(GROUP)
        older = self._gathered([line for _, line in behind])
        older = older.with_columns(pl.Series(GROUP, [at for at, _ in behind], dtype=pl.Int64))
        merges = [expr for term in self.reading.folds for expr in term.fold.merge()]
        both = pl.concat([older.select(own.columns), own])
        return both.group_by(GROUP).agg(merges).sort(GROUP).drop(GROUP)

    def _keep(self, paths: list[Path], frame: pl.DataFrame) -> None:
        number = len(self.frames)
        self.frames.append(frame)
        for line, path in enumerate(paths):
            self.known[id(path)] = (path, (number, line))

    def _gathered(self, lines: list[Line]) -> pl.DataFrame:
        """In their order, which has few frames."""
        wanted = np.array(lines, dtype=np.int64).reshape(-1, 2)
        order = np.argsort(wanted[:, 0], kind="stable")
        sorted_ = wanted[order]
        numbers, starts = np.unique(sorted_[:, 0], return_index=True)
        parts = [
            self.frames[number].select(pl.all().gather(pl.Series(own[:, 1])))
            for number, own in zip(numbers, np.split(sorted_, starts[1:]), strict=True)
        ]
        back = np.empty(len(lines), dtype=np.int64)
        back[order] = np.arange(len(lines))
        found: pl.DataFrame = pl.concat(parts).select(pl.all().gather(pl.Series(back)))
        return found
