"""The specification of session joins: find all sessions anew, pair all rows with all.

Of each side the rows that are kept are cut into the sessions of their session key, `[first,
last + gap)` (`tests/reference/kernels/sessions.py`). A pair matches iff the two sessions have an
instant in common, all keys are equal, and the residual is TRUE. What is emitted of matches and
of rows without one is as in other joins (`joins.py`), but that

- a row of a side without sessions (gap 0) is at its instant, and meets the sessions that hold it:
  to such a row the end of its session is its own time;
- a row is certain when the watermark is past the end of its session; where a row that is
  retracted makes its session end earlier, it is emitted at once, `full`, as by the watermark;
- it is kept, with all of its session, until the watermark is past that end and RETAIN, and
  past those of the other side's sessions of its session key that overlap its own.

Worked example, gaps of 10: left rows at 0 and 10 are one session, [0, 20). A right row at 19
matches both, one at 20 neither.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import polars as pl

from sqlwin.operators.contract import Stores
from sqlwin.schema import TS
from sqlwin.windows.session import Session
from tests.reference.definitions.sessions import placed
from tests.reference.joins.join_sides import POS, Ident, ident
from tests.reference.joins.joins import LEFT, RIGHT, Pairs, ReferenceJoin
from tests.reference.kernels.rows import Row
from tests.reference.kernels.sessions import Span

Spans = dict[Ident, Span]


@dataclass
class ReferenceSessionJoin(ReferenceJoin):
    """sessions: of left and right. session_keys: how many of the keys are the session key."""

    sessions: tuple[Session, Session] = field(kw_only=True)
    session_keys: int = field(kw_only=True)
    spans: tuple[Spans, Spans] = field(default_factory=lambda: ({}, {}))

    def _found(self, gone: tuple[dict[Ident, Row], dict[Ident, Row]]) -> Pairs:
        self.spans = self._spans(LEFT), self._spans(RIGHT)
        return super()._found(gone)

    @property
    def _moves(self) -> bool:
        return True

    def _spans(self, side: int) -> Spans:
        of, session = self._side(side), self.sessions[side]
        found = placed([*of.kept.values()], session, of.keys[: self.session_keys], TS)
        return {ident(row): span for row, (span,) in found}

    def _near(self, left: Row, right: Row) -> bool:
        return self._overlap(left, right) and self.left.equals(left, right, self.right)

    def _overlap(self, left: Row, right: Row) -> bool:
        """Of one session key, whatever further keys are."""
        one, other = self.spans[LEFT][ident(left)], self.spans[RIGHT][ident(right)]
        meet = _meet(one, other)
        return meet and self.left.equals(left, right, self.right, self.session_keys)

    def _ends(self, side: int, row: Row) -> int:
        return self.spans[side][ident(row)].end

    def _bounds(self) -> tuple[int, int]:
        return self.closed, self.closed

    def _retire(self, bounds: tuple[int, int]) -> None:
        if self.policy.retain is None:
            return
        floor = self.closed - self.policy.retain
        lefts, rights = ([*self._side(side).kept.values()] for side in (LEFT, RIGHT))
        pairs = [(a, b) for a in lefts for b in rights if self._overlap(a, b)]
        for side, rows in ((LEFT, lefts), (RIGHT, rights)):
            other = RIGHT if side == LEFT else LEFT
            held = {ident(pair[side]) for pair in pairs if self._ends(other, pair[other]) >= floor}
            self._side(side).kept = {
                ident(row): row
                for row in rows
                if self._ends(side, row) >= floor or ident(row) in held
            }


@dataclass
class ReferenceCountedSessions(ReferenceSessionJoin):
    """Sessions of messages: a message's number is its time, and one more than both streams have
    come to the watermark. sessions: of numbers, by which rows of a key may be apart."""

    def __post_init__(self) -> None:
        self.policy = replace(self.policy, retain=0)
        super().__post_init__()

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        return rows.with_columns(pl.col(POS).alias(TS))

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        out, watermark = super().on_batch(left, right, stores, now), stores.watermark
        reached = min(self.left.counted, self.right.counted) + 1
        risen = super().on_watermark(reached, stores, now)
        stores.watermark = watermark
        return pl.concat([out, risen])

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        stores.watermark = max(watermark, stores.watermark)
        return self.records(())


def _meet(one: Span, other: Span) -> bool:
    """Whether they have an instant in common; one of them may be a single instant."""
    if one.start == one.end:
        return other.start <= one.start < other.end
    if other.start == other.end:
        return one.start <= other.start < one.end
    return one.start < other.end and other.start < one.end
