"""State TTL of a join: each side has its own TTL, or none, and each row its own TTL entry.

Records about pairs of rows, see `pair_store`, expire with either of the two.

| a row of a side was | when                                                       |
|---------------------|------------------------------------------------------------|
| written             | it came, was replaced or retracted, or came again as it was |
| read                | a row of the other side matched it, or a result was emitted that it is in |

Reads are noted while the operator runs, and applied when it is done: so an expired row
is removed only after all rows that matched it in the same call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.policies import TtlTime
from sqlwin.schema import TS
from sqlwin.state.ttl.lifetimes import LATEST, Lifetimes


@dataclass
class JoinTtlEntries:
    """sides: by name, those that have a TTL. marks: of each, what pairs call its keys; there:
    a column of theirs that is NULL where they have no row of it.
    """

    sides: Mapping[str, Lifetimes]
    marks: Mapping[str, Mapping[str, str]]
    there: Mapping[str, str]
    noted: dict[str, list[pl.DataFrame]] = field(default_factory=dict)

    def at(self, now: int, watermark: int) -> None:
        self.noted = {}
        for lifetimes in self.sides.values():
            lifetimes.at(now, watermark)

    def begin(self, now: int, watermark: int) -> None:
        for lifetimes in self.sides.values():
            lifetimes.begin(now, watermark)

    def end(self, now: int, watermark: int) -> None:
        for lifetimes in self.sides.values():
            lifetimes.end(now, watermark)

    def snapshot(self) -> None:
        for lifetimes in self.sides.values():
            lifetimes.snapshot()

    @property
    def erasures(self) -> int:
        return sum(lifetimes.erasures for lifetimes in self.sides.values())

    @property
    def deadline(self) -> int | None:
        times = (lifetimes.deadline for lifetimes in self.sides.values())
        return min((time for time in times if time is not None), default=None)

    def to_json(self) -> dict[str, Any]:
        return {name: lifetimes.to_json() for name, lifetimes in self.sides.items()}

    # Rows come.

    def accessed(self, batch: Mapping[str, pl.DataFrame]) -> None:
        """A batch is about to be worked on; batch: prepared rows of both sides.

        For incremental cleanup each row accesses the rows of both.
        """
        rows = sum(map(len, batch.values()))
        for name, lifetimes in self.sides.items():
            timed = [pl.col(TS).alias(LATEST)] if lifetimes.ttl.time is TtlTime.EVENT else []
            own = batch[name].select(*lifetimes.keys, *timed)
            lifetimes.accessed(own, rows, others=rows - len(own))

    def taken(self, batch: Mapping[str, pl.DataFrame]) -> None:
        """They were. batch: rows that are there now."""
        for name, lifetimes in self.sides.items():
            lifetimes.renewed(batch[name])
            lifetimes.taken()

    # Rows are found.

    def note(self, pairs: pl.DataFrame) -> None:
        """These pairs, or results of single rows, were found; the other side's marks are NULL."""
        for name, lifetimes in self.sides.items():
            found, names = pairs.filter(pl.col(self.there[name]).is_not_null()), self.marks[name]
            if len(found):  # else they may not have its columns
                own = found.select(pl.col(names[key]).alias(key) for key in lifetimes.keys)
                self.note_rows(name, own)

    def note_rows(self, side: str, rows: pl.DataFrame) -> None:
        if side in self.sides and len(rows):
            keys = rows.select(self.sides[side].keys)
            self.noted.setdefault(side, []).append(keys)

    def read(self, keys: pl.DataFrame | None = None) -> None:
        """What was noted has been read; keys: what was asked for, if it was for that."""
        for name, frames in self.noted.items():
            self.sides[name].read(pl.concat(frames))
        self.noted = {}


def life_of(side: str) -> str:
    """The column of a pair's record with the `__life` of its row of a side."""
    return f"__{side}_life"


def sides_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Of which sides records of pairs have lifetimes."""
    return tuple(side for side in ("left", "right") if life_of(side) in columns)
