"""How two tables differ, row by row: what is missing, what is extra, what has other values.

Rows have no order. Those that are alike are paired first, each once; of what is left those are
paired that have most cells in common, at least half of them, and their other cells stand as
`expected -> found`.

>>> from sqlwin.testing.cells import read
>>> expected = read(["k | n | t", "a | 1 | x", "b | 2 | x", "c | 3 | y"])
>>> found = read(["k | n | t", "b | 7 | x", "a | 1 | x", "d | 9 | z"])
>>> print(difference(expected, found))
  k | n      | t
  a | 1      | x
! b | 2 -> 7 | x
- c | 3      | y
+ d | 9      | z
(-: missing, +: not expected, !: expected -> found)
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from sqlwin.lazy_dataclass import dataclass
from sqlwin.testing.cells import Table, write

RELATIVE = 1e-9
WORDS = frozenset({"NULL", "NaN", "[", ""})
TINY = 1e-12
"""What a float may be off where the answer is 0, as a variance that rounding left."""
ALIKE = 20
"""So many rows that are as expected are shown; of more it is said how many there are."""
PAIRED = 500
"""Of more rows than this none are paired by what they have in common: that is quadratic."""
LEGEND = "(-: missing, +: not expected, !: expected -> found)"

Row = tuple[str, ...]


def difference(expected: Table, found: Table, within: Mapping[str, float] | None = None) -> str:
    """What differs, a line a row; empty where nothing does. Order is none.

    within: columns that may be off, and by how much of themselves, as a sketch is.
    """
    if not expected.rows and not found.rows:
        return ""
    columns = found.columns if found.rows else expected.columns
    if expected.rows and expected.columns != columns:
        shown = [write(table) for table in (expected, found)]
        return "\n".join(["other columns, expected:", *shown[0], "found:", *shown[1]])
    loose = {**dict.fromkeys(found.floats, RELATIVE), **(within or {})}
    rows = _Rows(columns, tuple(loose.get(column) for column in columns))
    aligned = rows.align(expected.rows, found.rows)
    return aligned.text(columns) if aligned.differ else ""


def once(texts: Sequence[str]) -> list[str]:
    """The same with the legend below the last of those that have it.

    >>> once(["of rows\\n" + LEGEND, "of rows\\n" + LEGEND, "of columns"])[:2] == [
    ...     "of rows", "of rows\\n" + LEGEND]
    True
    """
    last = max((at for at, text in enumerate(texts) if text.endswith(LEGEND)), default=-1)
    return [
        text if at == last else text.removesuffix(f"\n{LEGEND}") for at, text in enumerate(texts)
    ]


@dataclass(frozen=True)
class _Aligned:
    """alike: rows that are as expected. changed: pairs of what was expected and what was found."""

    alike: list[Row]
    changed: list[tuple[Row, Row]]
    missing: list[Row]
    extra: list[Row]
    same: Callable[[int, str, str], bool]

    @property
    def differ(self) -> bool:
        return bool(self.changed or self.missing or self.extra)

    def text(self, columns: Row) -> str:
        alike = sorted(self.alike) if len(self.alike) <= ALIKE else []
        marked = [
            *((" ", row) for row in alike),
            *(("!", self._both(*pair)) for pair in sorted(self.changed)),
            *(("-", row) for row in sorted(self.missing)),
            *(("+", row) for row in sorted(self.extra)),
        ]
        header, *lines = write(Table(columns, tuple(row for _, row in marked)))
        shown = [f"{mark} {line}" for (mark, _), line in zip(marked, lines, strict=True)]
        more = [f"  … {len(self.alike)} rows are as expected"] if self.alike and not alike else []
        return "\n".join([f"  {header}", *more, *shown, LEGEND])

    def _both(self, expected: Row, found: Row) -> Row:
        cells = enumerate(zip(expected, found, strict=True))
        return tuple(b if self.same(at, a, b) else f"{a} -> {b}" for at, (a, b) in cells)


@dataclass(frozen=True)
class _Rows:
    """loose: of each column the part of itself that it may be off; None: not at all."""

    columns: Row
    loose: tuple[float | None, ...]

    def align(self, expected: Sequence[Row], found: Sequence[Row]) -> _Aligned:
        alike, missing, extra = self._alike(expected, found)
        changed = []
        if len(missing) + len(extra) <= PAIRED:
            changed = self._changed(missing, extra)
            before, after = Counter(a for a, _ in changed), Counter(b for _, b in changed)
            missing = list((Counter(missing) - before).elements())
            extra = list((Counter(extra) - after).elements())
        return _Aligned(alike, changed, missing, extra, self.same)

    def _alike(
        self, expected: Sequence[Row], found: Sequence[Row]
    ) -> tuple[list[Row], list[Row], list[Row]]:
        """Rows found as expected, those missing, those extra."""
        left: dict[Row, list[Row]] = defaultdict(list)
        for row in sorted(found, key=self._rounded):
            left[self._exact(row)].append(row)
        alike, missing = [], []
        for row in sorted(expected, key=self._rounded):
            candidates = left[self._exact(row)]
            at = next((i for i, other in enumerate(candidates) if self._row(row, other)), None)
            if at is None:
                missing.append(row)
            else:
                alike.append(candidates.pop(at))
        return alike, missing, [row for rows in left.values() for row in rows]

    def _changed(self, missing: Sequence[Row], extra: Sequence[Row]) -> list[tuple[Row, Row]]:
        """Pairs with the most cells in common first, each row once."""
        scored = sorted(
            (-sum(self.same(i, x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))), at, to)
            for at, a in enumerate(missing)
            for to, b in enumerate(extra)
        )
        pairs, taken, given = [], set[int](), set[int]()
        for score, at, to in scored:
            if -2 * score >= len(self.columns) and at not in taken and to not in given:
                pairs.append((missing[at], extra[to]))
                taken.add(at)
                given.add(to)
        return pairs

    def _exact(self, row: Row) -> Row:
        return tuple(c for c, off in zip(row, self.loose, strict=True) if off is None)

    def _rounded(self, row: Row) -> Row:
        """Floats by their first digits, so that close ones meet."""
        return tuple(
            c if off is None else _rounded(c) for c, off in zip(row, self.loose, strict=True)
        )

    def _row(self, row: Row, other: Row) -> bool:
        return all(self.same(i, a, b) for i, (a, b) in enumerate(zip(row, other, strict=True)))

    def same(self, at: int, a: str, b: str) -> bool:
        """Of the column `at`."""
        off = self.loose[at]
        return a == b if off is None else _close(a, b, off)


def _close(a: str, b: str, relative: float) -> bool:
    ours, theirs = _numbers(a), _numbers(b)
    return len(ours) == len(theirs) and all(
        x == y
        or (
            not {x, y} & WORDS
            and _is_number(x)
            and _is_number(y)
            and _near(float(x), float(y), relative)
        )
        for x, y in zip(ours, theirs, strict=True)
    )


def _near(x: float, y: float, relative: float) -> bool:
    return math.isclose(x, y, rel_tol=relative, abs_tol=TINY)


def _numbers(cell: str) -> list[str]:
    """The numbers of a list, its bracket first; or the one that the cell is."""
    return ["[", *cell[1:-1].split(", ")] if cell.startswith("[") else [cell]


def _rounded(cell: str) -> str:
    if cell == "NULL" or not _is_number(cell):
        return cell
    return f"{float(cell) + 0.0:.6g}"


def _is_number(cell: str) -> bool:
    """A golden may be wrong: what it has in a column of floats may be any text."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
