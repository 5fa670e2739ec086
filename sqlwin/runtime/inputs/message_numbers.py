"""Message numbers of the inputs of a join in ROWS, from 1 since the query first started.

With a declared OFFSET the number is the offset, less the first one seen, plus 1; otherwise
messages are counted as they arrive. Messages that WHERE drops have numbers too: the input
pipeline passes a blank row for each, which is removed here.

>>> rows = pl.DataFrame({"v": [7, 8], SEQ: [1001, 1003], PART: [0, 0], PASSED_WHERE: [True, False]})
>>> numbers = Numbers()
>>> numbers.give(0, rows, by_offset=True).rows(), numbers.greatest(2)
([(7, 1001, 0, 1)], (3, 0))
>>> numbers.give(1, rows, by_offset=False).rows(), numbers.greatest(2)
([(7, 1001, 0, 1)], (3, 2))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.joins.schema import PASSED_WHERE, POS
from sqlwin.schema import PART, SEQ


@dataclass
class Numbers:
    """By number of the input; first: the offset of the first message. last: numbers given."""

    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)

    def give(self, at: int, rows: pl.DataFrame, by_offset: bool) -> pl.DataFrame:
        """The rows of an input that are no blanks, with `__pos`."""
        known, ordered = self.last.get(at, 0), rows.sort(PART, SEQ)
        if by_offset and len(rows):
            first = self.first.setdefault(at, int(ordered[SEQ][0]))
            number = pl.col(SEQ) - first + 1
        else:
            number = pl.int_range(pl.len(), dtype=pl.Int64) + known + 1
        numbered = ordered.with_columns(number.alias(POS))
        self.last[at] = max([known, *numbered[POS].tail(1).to_list()])
        return numbered.filter(PASSED_WHERE).drop(PASSED_WHERE)

    def greatest(self, inputs: int) -> tuple[int, ...]:
        """Of each input."""
        return tuple(self.last.get(at, 0) for at in range(inputs))

    def to_json(self) -> dict[str, dict[int, int]]:
        return {"first": self.first, "last": self.last}

    @staticmethod
    def load(saved: Mapping[str, Mapping[str, int]]) -> Numbers:
        first, last = ({int(at): n for at, n in saved[what].items()} for what in ("first", "last"))
        return Numbers(first, last)
