"""Session windows: what a key does without a pause."""

from __future__ import annotations

from sqlwin.lazy_dataclass import dataclass
from sqlwin.windows import Unit


@dataclass(frozen=True)
class Session:
    """Windows of what a key does without a pause: each goes on until nothing comes for `gap`.

    unit RANGE: microseconds of event time; a row exactly one gap away still joins. A gap of 0
    is of a join's rows that are in no session: each instant is by itself, and nothing else.
    unit ROWS: a session goes on over at most `gap` messages of other keys. gap_by: a BIGINT
    input column with the gap that follows each row, where `gap` is None. most: no session
    is longer, microseconds. starts, ends: BOOLEAN input columns; a row where it is true
    begins a session, or is the last of one. Sources: KIP-94, SAMZA-552.
    """

    gap: int | None
    unit: Unit = Unit.RANGE
    most: int | None = None
    gap_by: str | None = None
    starts: str | None = None
    ends: str | None = None

    def __post_init__(self) -> None:
        if (self.gap is None) == (self.gap_by is None):
            raise ValueError("a session has a gap, or a column of gaps")
        if self.gap is not None and self.gap < 0:
            raise ValueError(f"need a gap of at least 0, got {self.gap}")
        if self.most is not None and self.most < 1:
            raise ValueError(f"need MAX of at least 1, got {self.most}")
        if (
            self.unit is Unit.ROWS
            and (self.most, self.gap_by, self.starts, self.ends) != (None,) * 4
        ):
            raise ValueError(f"a session over messages has a gap of messages only: {self}")

    @property
    def cut(self) -> bool:
        """Whether more than pauses end it, so that one more row may part a session in two."""
        return any(part is not None for part in (self.most, self.starts, self.ends))

    @property
    def instant(self) -> bool:
        """Whether it is no session, but one instant of a key."""
        return self.gap == 0 and self.unit is Unit.RANGE

    def opened(self, instant: int) -> int | None:
        """As of `Hop`."""
        return None
