"""What rows are grouped by: keys, or several sets of them at once.

Under GROUPING SETS every row is counted once for each set, its left-out keys NULL.
That NULL is no NULL of the data, so a set has a number: a bit for each key, the
first key's the highest, set where the key is left out. The number, `__grouping`,
is one more key of all that is kept and emitted.

>>> by = Grouping({"a": pl.String(), "b": pl.Int64()}, (("a", "b"), ("a",), ()))
>>> by.spread(pl.DataFrame({"a": ["x"], "b": [7], "v": [1]})).rows()
[('x', 7, 1, 0), ('x', None, 1, 1), (None, None, 1, 3)]
>>> by.names, by.common
(('a', 'b', '__grouping'), ())
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

NUMBER_OF_SET = "__grouping"


@dataclass(frozen=True)
class Grouping:
    """keys: all of them, with dtypes. sets: which keys each set has; none: no GROUPING SETS."""

    keys: dict[str, pl.DataType]
    sets: tuple[tuple[str, ...], ...] = ()

    @property
    def types(self) -> dict[str, pl.DataType]:
        """The keys that a group is known by, with dtypes."""
        return {**self.keys, NUMBER_OF_SET: pl.Int64()} if self.sets else self.keys

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.types)

    @property
    def common(self) -> tuple[str, ...]:
        """Keys that every set has: rows that differ in them meet in no group."""
        return tuple(k for k in self.keys if all(k in chosen for chosen in self.sets))

    def spread(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Each row once for every set, with `__grouping`; as it is where there are none."""
        if not self.sets:
            return rows
        return pl.concat([rows.with_columns(self._left_out(s)) for s in dict.fromkeys(self.sets)])

    def one(self, spread: pl.DataFrame) -> pl.DataFrame:
        """Of rows that were spread, those of one set: every row once."""
        if not self.sets:
            return spread
        return spread.filter(pl.col(NUMBER_OF_SET) == self._number(self.sets[0]))

    def each(self, spread: pl.DataFrame) -> list[tuple[tuple[str, ...], pl.DataFrame]]:
        """Rows that were spread by their sets, with the keys that each set has."""
        if not self.sets:
            return [(self.names, spread)]
        number = pl.col(NUMBER_OF_SET)
        sets = dict.fromkeys(self.sets)
        return [(chosen, spread.filter(number == self._number(chosen))) for chosen in sets]

    def _number(self, chosen: tuple[str, ...]) -> int:
        absent = [key not in chosen for key in self.keys]
        return sum(out << place for place, out in enumerate(reversed(absent)))

    def _left_out(self, chosen: tuple[str, ...]) -> list[pl.Expr]:
        absent = [key for key in self.keys if key not in chosen]
        nulls = [pl.lit(None, self.keys[key]).alias(key) for key in absent]
        return [*nulls, pl.lit(self._number(chosen), pl.Int64).alias(NUMBER_OF_SET)]
