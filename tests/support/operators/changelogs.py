"""Changelogs of few rows: rows come, are replaced, are retracted, and come again.

A batch is a frame of rows with positions and `__weight`. What is retracted was taken, and
what is refused for its time is neither retracted nor replaced later. A row that is retracted
does not come again once it would be refused, under whatever keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from hypothesis import strategies as st

from sqlwin.instants import START
from sqlwin.operators.contract import Operator
from sqlwin.polars_frames import PLACE
from sqlwin.schema import TS, WEIGHT
from sqlwin.state.contract import HORIZON
from sqlwin.windows.frames import Reach
from tests.support.operators.driving import Defined, Driven, records

Values = tuple[Any, ...]


@dataclass(frozen=True)
class Act:
    """kind: "insert", "replace", "retract", "again". which: of the rows there, or gone.

    values: of the row; at: its instant. same: the instant stays (replace).
    """

    kind: str
    which: int
    values: Values
    at: int
    same: bool


@dataclass(frozen=True)
class Step:
    """watermark, clock: more than before."""

    acts: tuple[Act, ...]
    watermark: int
    clock: int
    end: bool


def steps(
    values: st.SearchStrategy[Values],
    at: st.SearchStrategy[int],
    moves: st.SearchStrategy[int],
    clock: st.SearchStrategy[int],
) -> st.SearchStrategy[list[Step]]:
    kinds = st.sampled_from(["insert", "insert", "replace", "replace", "retract", "again"])
    act = st.builds(Act, kinds, st.integers(0, 9), values, at, st.booleans())
    acts = st.lists(act, max_size=5).map(tuple)
    ends = st.sampled_from([False] * 9 + [True])
    return st.lists(st.builds(Step, acts, moves, clock, ends), min_size=1, max_size=10)


@dataclass
class Source:
    """there: rows by position, (values…, ts, part, seq); gone: retracted ones. admits: whether a
    row is within retention; answers: whether it has a result of its own. One that has none, be it
    retracted, is not replaced by one that has: its old result is beyond retention.

    Operators that know rows by position and not by what they are in need `same` instants when a
    row comes `again`.
    """

    columns: dict[str, pl.DataType]
    admits: Callable[[Values], bool]
    answers: Callable[[Values], bool] = lambda row: True
    there: dict[int, Values] = field(default_factory=dict)
    gone: dict[int, Values] = field(default_factory=dict)
    count: int = 0

    def batch(self, acts: tuple[Act, ...], since: int = 0) -> pl.DataFrame:
        """since: what instants are counted from."""
        out: list[Values] = []
        moved: set[int] = set()
        for act in acts:
            out += self._rows(act, since, moved)
        minus = [row for row in out if row[-1] < 0]
        plus = [row for row in out if row[-1] > 0]
        fresh = [row for row in plus if not any(row[-2] == other[-2] for other in minus)]
        rest = [row for row in plus if row not in fresh]
        schema = {**self.columns, **PLACE, WEIGHT: pl.Int8()}
        return pl.DataFrame([*fresh, *minus, *rest[::-1]], schema=schema, orient="row")

    def _rows(self, act: Act, since: int, moved: set[int]) -> list[Values]:
        if act.kind == "insert":
            self.count += 1
            return self._came(self.count, (*act.values, since + act.at, 0, self.count), moved)
        known = self.gone if act.kind == "again" else self.there
        free = [seq for seq in known if seq not in moved]
        if not free:
            return []
        seq = free[act.which % len(free)]
        old = known[seq]
        ts = old[-3] if act.same or act.kind == "again" else since + act.at
        new = (*act.values, ts, 0, seq)
        if self.answers(new) and not self.answers(old):
            return []
        if act.kind == "again":  # what was let go is forgotten, and another row if it came
            return self._came(seq, new, moved) if self.admits(old) else []
        if not self.admits(old):
            return []
        moved.add(seq)
        del self.there[seq]
        if act.kind == "retract" or not self.admits(new):
            self.gone[seq] = old
            return [(*old, -1)]
        return [(*old, -1), *self._came(seq, new, moved)]

    def _came(self, seq: int, row: Values, moved: set[int]) -> list[Values]:
        if not self.admits(row):
            return []
        moved.add(seq)
        self.gone.pop(seq, None)
        self.there[seq] = row
        return [(*row, 1)]


def rows_there(source: Source) -> pl.DataFrame:
    schema = {**source.columns, **PLACE}
    return pl.DataFrame(list(source.there.values()), schema=schema, orient="row").sort(TS)


def agree(
    operator: Operator,
    defined: Operator,
    columns: dict[str, pl.DataType],
    taken: Sequence[Step],
    restarts: bool,
    retain: int | None = None,
    ahead: bool = False,
    beside: Sequence[pl.Expr] = (),
    reach: Reach | None = None,
) -> None:
    """Each call of an operator emits what its definition emits, and has the same deadline.

    columns: of rows; beside: more, of what a row has. ahead, reach: as in `alike`.
    """

    def batches(_: int, batch: pl.DataFrame) -> pl.DataFrame:
        return batch.with_columns(*beside)

    fast, slow = Driven(operator, restarts), Defined(defined)
    for _ in alike(
        fast, slow, list(operator.output), columns, taken, retain, ahead, batches, reach
    ):
        assert fast.deadline == slow.deadline


def oldest(
    driven: Driven,
    row: Values,
    columns: dict[str, pl.DataType],
    watermark: int,
    retain: int | None,
) -> int:
    """Which rows of a row's key an operator still takes: by time, and by the floors it tells."""
    horizon = START if retain is None else watermark - retain
    horizons = driven.operator.horizons(driven.stores)
    own = [row[list(columns).index(key)] for key in horizons.columns if key != HORIZON]
    known = (floor for *key, floor in horizons.iter_rows() if key == own)
    return max(horizon, min(watermark, max(known, default=START)))


def alike(
    fast: Driven,
    slow: Defined,
    output: list[str],
    columns: dict[str, pl.DataType],
    taken: Sequence[Step],
    retain: int | None,
    ahead: bool,
    batches: Callable[[int, pl.DataFrame], pl.DataFrame],
    reach: Reach | None = None,
) -> Iterator[None]:
    """Both emit the same with each step.

    ahead: instants are counted from the watermark. batches: what an operator is given of a batch,
    by the number of its step. reach: of frames, which judge rows.
    """
    watermark, now = 0, 0

    def admits(row: Values) -> bool:
        least = {oldest(driven, row, columns, watermark, retain) for driven in (fast, slow)}
        assert len(least) == 1
        return bool(row[-3] >= least.pop() - (0 if reach is None else reach.size or 0))

    def answers(row: Values) -> bool:
        ended = START if retain is None else watermark - retain
        return reach is None or bool(row[-3] + reach.after >= ended)

    source = Source(columns, admits, answers)
    for number, step in enumerate(taken):
        batch = batches(number, source.batch(step.acts, watermark if ahead else 0))
        watermark, now = watermark + step.watermark, now + step.clock
        given = batch if len(batch) else None
        found, expected = (
            records(driven.step(given, now, watermark, step.end), output) for driven in (fast, slow)
        )
        assert found == expected
        yield
