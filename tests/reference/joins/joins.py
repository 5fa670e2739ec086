"""The specification of joins: keep every row, pair all with all, compare with what was emitted.

Position of a row is its event time, under ROWS its number. A pair of rows is a *match* iff
their keys are equal (NULL equals nothing), `low <= right - left <= high`, and the residual
is TRUE of it. Where windows in ROWS advance by steps, there is a number at which both rows are in
the window of their stream, instead of `low` and `high`. Where left rows are results of such joins,
they have spans of numbers, and there is a number at which both are there. What is true of the rows
that came, by `kind`:

| kind              | results                                                      |
|-------------------|--------------------------------------------------------------|
| inner             | each match                                                   |
| left, right, full | and each row of that side without one, padded with NULL      |
| semi              | each left row with a match                                   |
| anti              | each left row without one                                    |

*Certain*: no row may come that matches. A row is when the watermark is past its time and its
reach, the furthest that a partner may be later; without a bound, when it leaves by RETAIN;
under ROWS, when so many messages of the other side have come. The end of input tells all
rows as if they were, and so does TIMEOUT; should a match come after all, it corrects.

What goes out when, and under which word:

- a match is `late` if the watermark had passed both rows, else `full`; under ROWS none is
  late, unless rows are numbered by event time. Those that are late go by the late policy,
  others by the early one;
- what follows from matches (a padded row retracted, a semi row) goes with the first of them,
  and is `late` if they all are;
- a row without a match is emitted when it becomes certain, `full`. One that is so when it comes,
  or is so again, goes by the late policy if it is late. Under an early policy it is emitted
  before, `early`;
- a row that is retracted takes with it what was emitted of it: a late one by the late policy.

Kept is a row until the watermark is past its time, reach and RETAIN; under ROWS until it is
certain. With RETAIN n ROWS it is kept until the watermark is past its time and reach, and n
rows of its side and keys are at later instants; where it has no reach it is certain then.
What was found of it before then stands.

Numbered by event time are, where one says so, the rows of a side: its rows that are there, and
blanks, in the order of (time, position), from 1. So a row that comes between others, or goes,
changes what they match. A side whose messages come with a number may stand beside it; then a
message has the time at which the watermark stood when it came. A row is certain there when the
watermark is past it, and past so many rows of the other side as its window holds; of messages so
many have come. Where numbers make it so in a batch, it is emitted `full` if it waited for it;
one that comes, or loses its match, is as said above. Kept it is until the watermark is past them
by RETAIN.

Weights: a row of weight -1 retracts the row of its position. Of several in a batch the
last counts, so -1 and then 1 replaces it.

State is the operator's own and does not survive it: this is for tests.

Worked example, LEFT, high 5, RETAIN 10: a left row at 10. The watermark comes to 16: `+I
full`, padded. A right row at 12: `-D late`, revision 1, then the match, `+I late`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import polars as pl

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores
from sqlwin.schema import TS
from sqlwin.windows.joins import SpannedWindow, SteppedWindow, Steps
from tests.reference.joins.changing import Due
from tests.reference.joins.join_sides import (
    HELD,
    Ident,
    Logged,
    Side,
    ident,
    order,
    pair_key,
    place_key,
)
from tests.reference.kernels.rows import Row

LEFT, RIGHT = 0, 1
ALONE = {
    "inner": (),
    "left": (LEFT,),
    "right": (RIGHT,),
    "full": (LEFT, RIGHT),
    "semi": (LEFT,),
    "anti": (LEFT,),
}
"""Whose rows make results by themselves."""
Pairs = dict[tuple[Ident, Ident], tuple[Row, Row]]
Residual = Callable[[pl.DataFrame], pl.Series]


@dataclass
class ReferenceJoin(Logged):
    """pairs: every match found and not retracted, with its two rows.

    residual: from a frame of pairs, left columns and then right ones, to which are true.
    """

    residual: Residual | None = None
    pairs: Pairs = field(default_factory=dict)

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        were, due, before = self._bounds(), self.log.due(now), self.pairs
        known = [self._positions(side) for side in (LEFT, RIGHT)]
        gone = (self.left.take(self._dated(left)), self.right.take(self._dated(right)))
        for of, counted in zip((self.left, self.right), stores.counted, strict=False):
            of.counted = max(of.counted, counted)
        self.pairs = self._found(gone)
        if self.kind not in ("semi", "anti"):
            for pair in {**before, **self.pairs}:
                self._tell_pair(before.get(pair), self.pairs.get(pair), due)
        bounds = self._bounds() if self._by_time else were
        for side in ALONE[self.kind]:
            waits = self._waits(side, known[side], before, gone[side])
            for at in {**gone[side], **self._side(side).kept}:
                if at not in waits:
                    self._tell_row(side, gone[side].get(at), at, before, bounds[side], due, now)
            waited = [at for at in waits if known[side][at] >= were[side]]
            self._rise(side, waited, bounds[side], now)
        emitted = self.records(self.log.go(now, self.closed))
        return pl.concat([emitted, self._become_certain(bounds, now)])

    def reached(self, stores: Stores) -> int:
        """No result comes any more with a message of every side up to this number, nor one of a
        row by itself."""
        certain = [self._bounds()[side] - 1 for side in ALONE[self.kind]]
        return min(self.left.counted, self.right.counted, *certain)

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        bounds = self._bounds()
        self.closed = stores.watermark = max(watermark, self.closed)
        return self._become_certain(bounds, now)

    # Numbers.

    @property
    def _moves(self) -> bool:
        """Whether rows that come or go may make others certain."""
        return self._by_time

    @property
    def _by_time(self) -> bool:
        return self.left.by_time or self.right.by_time

    def _dated(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Messages, with the time of the watermark."""
        comes = self._by_time and HELD not in batch.columns
        return batch.with_columns(pl.lit(self.closed).alias(TS)) if comes else batch

    def _positions(self, side: int) -> dict[Ident, int]:
        return {at: self._ends(side, row) for at, row in self._side(side).kept.items()}

    def _waits(
        self, side: int, known: dict[Ident, int], before: Pairs, gone: dict[Ident, Row]
    ) -> list[Ident]:
        """The rows to which a batch gave nothing but a number, or other ends of their session:
        neither new nor replaced, and in the matches that they were in."""
        if not self._moves:
            return []
        moved = [*_differ(before, self.pairs), *_differ(self.pairs, before)]
        touched = {*gone, *(pair[side] for pair in moved)}
        return [at for at in self._side(side).kept if at in known and at not in touched]

    def _rise(self, side: int, waited: list[Ident], bound: int, now: int) -> None:
        """Tell those that are certain by where rows lie now."""
        kept = self._side(side).kept
        for at in waited:
            if self._ends(side, kept[at]) < bound:
                self._show_row(side, at, kept[at], now)

    def _settled(self, until: int) -> tuple[int, int]:
        """Of each side the number below which no number changes, nor that of a partner."""
        left, right = self.left.numbered(until), self.right.numbered(until)
        return self.left.settled_below(left, right), self.right.settled_below(right, left)

    # Matches.

    def _side(self, side: int) -> Side:
        return (self.left, self.right)[side]

    def _found(self, gone: tuple[dict[Ident, Row], dict[Ident, Row]]) -> Pairs:
        """Of the rows kept, and those found before of which one is retired."""
        stand = {
            pair: rows
            for pair, rows in self.pairs.items()
            if any(self._retired(side, rows[side], gone[side]) for side in (LEFT, RIGHT))
        }
        lefts, rights = self.left.kept.items(), self.right.kept.items()
        near = {(a, b): (x, y) for a, x in lefts for b, y in rights if self._near(x, y)}
        return stand | self._judged(near)

    def _retired(self, side: int, row: Row, gone: dict[Ident, Row]) -> bool:
        """Neither kept nor just retracted; another may have its place, under other keys."""
        there = self._side(side).kept.get(ident(row)), gone.get(ident(row))
        return not any(row is each for each in there)

    def _near(self, left: Row, right: Row) -> bool:
        window, apart = self.left.window, self.right.position(right) - self.left.position(left)
        low = window.low is None or window.low <= apart
        high = window.high is None or apart <= window.high
        if isinstance(window, SpannedWindow):
            last = None if window.last is None else left[window.last]
            low = high = window.together(left[window.first], last, self.right.position(right))
        if isinstance(window, SteppedWindow):
            low = high = _together(window, self.left.position(left), self.right.position(right))
        return low and high and self.left.equals(left, right, self.right)

    def _judged(self, near: Pairs) -> Pairs:
        if self.residual is None or not near:
            return near
        rows = [self.left.values(a) | self.right.values(b) for a, b in near.values()]
        schema = {**self.left.columns, **self.right.columns}
        judged = self.residual(pl.DataFrame(rows, schema=schema, orient="row")).to_list()
        return {pair: rows for (pair, rows), true in zip(near.items(), judged, strict=True) if true}

    def _late(self, left: Row | None, right: Row | None) -> bool:
        """Whether the watermark has passed what has an event time among them."""
        placed = ((self.left, left), (self.right, right))
        times = [row[TS] for side, row in placed if side.timed and row is not None]
        return (self.left.at == TS or self._by_time) and max(times, default=END) < self.closed

    # What changes.

    def _tell_pair(
        self, old: tuple[Row, Row] | None, new: tuple[Row, Row] | None, due: Due
    ) -> None:
        if same(old, new):
            return
        rows = new or old
        assert rows is not None
        word, when = self._with_pairs([rows], due)
        values = None if new is None else self.joined(*new)
        self.log.change(pair_key(*rows), values, word, when, order(*rows))

    def _tell_row(
        self,
        side: int,
        old: Row | None,
        at: Ident,
        before: Pairs,
        certain: int,
        due: Due,
        now: int,
    ) -> None:
        """Its result by itself. old: the row that was retracted, or replaced."""
        row = self._side(side).kept.get(at)
        out = self._key(side, old or row) in self.log.true
        wanted = row is not None and self._wanted(side, row, at, certain, out)
        if (out == wanted and old is None) or not (out or wanted):
            return
        came, gone = _changed(self.pairs, before, side, at), _changed(before, self.pairs, side, at)
        causes = []
        if out:
            emitted = gone if self.kind == "semi" else came
            own = self._retracting(side, old, due) if old else self._with_pairs(emitted, due)
            causes.append(own)
        if wanted and self.kind == "semi":
            causes.append(self._with_pairs(came, due))
        elif wanted:
            assert row is not None
            causes.append(self._unmatched(side, row, self._ends(side, row) < certain, due, now))
        when = [time for _, time in causes if time is not None]
        values = self._alone(side, row) if wanted else None
        known = row or old
        self.log.change(
            self._key(side, known),
            values,
            causes[-1][0],
            min(when, default=None),
            order(*self._placed(side, known)),
        )

    def _wanted(self, side: int, row: Row, at: Ident, certain: int, out: bool) -> bool:
        matched = any(pair[side] == at for pair in self.pairs)
        if self.kind == "semi":
            return matched
        sure = self._ends(side, row) < certain
        return not matched and (sure or out or self.policy.early is not None)

    def _with_pairs(self, pairs: Iterable[tuple[Row, Row]], due: Due) -> tuple[str, int | None]:
        """Of what follows from matches: the word, and when it goes out."""
        late = [self._late(*rows) for rows in pairs]
        times = [due.late if each else due.early for each in late]
        when = min((time for time in times if time is not None), default=None)
        return "late" if all(late) else "full", when

    def _retracting(self, side: int, row: Row, due: Due) -> tuple[str, int | None]:
        late = self._late(*self._placed(side, row))
        return ("late", due.late) if late else ("full", due.early)

    def _unmatched(
        self, side: int, row: Row, certain: bool, due: Due, now: int
    ) -> tuple[str, int | None]:
        if not certain:
            return "early", due.early
        return ("late", due.late) if self._late(*self._placed(side, row)) else ("full", now)

    # Certainty.

    def _ends(self, side: int, row: Row) -> int:
        """A row is certain where it is below the side's bound."""
        return self._side(side).position(row)

    def _bounds(self) -> tuple[int, int]:
        """Of each side the position below which rows are certain."""
        if self._by_time:
            return self._settled(self.closed)
        counts = self.right.counted, self.left.counted
        left, right = (
            side.certain_below(self.closed, counted, self.policy)
            for side, counted in zip((self.left, self.right), counts, strict=True)
        )
        return left, right

    def _become_certain(self, were: tuple[int, int], now: int) -> pl.DataFrame:
        """Tell those that are certain now and were not, then let go what leaves."""
        bounds = self._bounds()
        for side in (LEFT, RIGHT):
            self._side(side).note(self.policy)
        for side in ALONE[self.kind]:
            self._show(side, were[side], bounds[side], now)
            self._show_outnumbered(side, now)
        self._retire(bounds)
        return self.records(self.log.go(now, self.closed))

    def _retire(self, bounds: tuple[int, int]) -> None:
        if self._by_time:
            retain = self.policy.retain
            bounds = self._settled(START if retain is None else self.closed - retain)
        for side in (LEFT, RIGHT):
            self._side(side).retire(bounds[side], self.policy, self.closed)

    def show_all(self, now: int) -> None:
        for side in ALONE[self.kind]:
            self._show(side, None, None, now)

    def _show(self, side: int, lo: int | None, hi: int | None, now: int) -> None:
        """Tell rows of these positions that have no match."""
        for at, row in self._side(side).kept.items():
            ends = self._ends(side, row)
            if (lo is None or lo <= ends) and (hi is None or ends < hi):
                self._show_row(side, at, row, now)

    def _show_outnumbered(self, side: int, now: int) -> None:
        """Those that had no reach by which to be certain are so when RETAIN n ROWS lets them go."""
        of = self._side(side)
        if of.window.high is None and of.at == TS:
            for at in of.outnumbered(self.closed):
                self._show_row(side, at, of.kept[at], now)

    def _show_row(self, side: int, at: Ident, row: Row, now: int) -> None:
        """Tell a row if it has no match."""
        matched = any(pair[side] == at for pair in self.pairs)
        key = self._key(side, row)
        if not matched and self.kind != "semi" and key not in self.log.true:
            where = order(*self._placed(side, row))
            self.log.change(key, self._alone(side, row), "full", now, where)

    # Results of single rows.

    def _placed(self, side: int, row: Row | None) -> tuple[Row | None, Row | None]:
        return (row, None) if side == LEFT else (None, row)

    def _alone(self, side: int, row: Row | None) -> dict[str, object]:
        return self.joined(*self._placed(side, row))

    def _key(self, side: int, row: Row | None) -> str:
        assert row is not None
        return (
            place_key(row) if self.kind in ("semi", "anti") else pair_key(*self._placed(side, row))
        )


def _differ(one: Pairs, other: Pairs) -> list[tuple[Ident, Ident]]:
    return [pair for pair, rows in one.items() if not same(rows, other.get(pair))]


def _changed(one: Pairs, other: Pairs, side: int, at: Ident) -> list[tuple[Row, Row]]:
    """The matches of a row that are in `one` and not the same in `other`."""
    own = {pair: rows for pair, rows in one.items() if pair[side] == at}
    return [own[pair] for pair in _differ(own, other)]


def same(one: tuple[Row, Row] | None, other: tuple[Row, Row] | None) -> bool:
    if one is None or other is None:
        return one is other
    return one[LEFT] is other[LEFT] and one[RIGHT] is other[RIGHT]


def _together(window: SteppedWindow, left: int, right: int) -> bool:
    """Each window is what it was at the last multiple of its step. Some number at which both rows
    may have come, and a step later at most, shows them both if any does."""
    later = max(left, right)
    steps = max(window.left.advance, window.right.advance)
    return any(
        _shown(window.left, left, at) and _shown(window.right, right, at)
        for at in range(later, later + steps)
    )


def _shown(window: Steps, row: int, at: int) -> bool:
    moved = at - at % window.advance
    return row <= moved and (window.size is None or moved < row + window.size)
