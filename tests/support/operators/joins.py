"""Join operators to test, fast and by definition, over few rows at instants of microseconds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import count
from typing import Any

import polars as pl
from hypothesis import strategies as st

from sqlwin.instants import START
from sqlwin.operators.contract import Stores
from sqlwin.operators.joins.asof.operator import AsOfJoin
from sqlwin.operators.joins.operator import WindowJoin
from sqlwin.operators.joins.schema import POS
from sqlwin.operators.joins.sessions.operator import SessionJoin
from sqlwin.operators.joins.sides import Side
from sqlwin.operators.joins.static import StaticJoin
from sqlwin.policies import Early, Late, Policy
from sqlwin.runtime.lowering.derived import net
from sqlwin.schema import PART, SEQ, TS, WEIGHT
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.contract import Store
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.stores.memory import MemoryStore
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinWindow, SteppedWindow, Steps
from tests.reference.joins import join_sides as defined
from tests.reference.joins.asof import ReferenceAsOf
from tests.reference.joins.joins import ReferenceJoin
from tests.reference.joins.session_joins import ReferenceSessionJoin
from tests.reference.joins.statics import ReferenceStatic

INT = pl.Int64()
LEFT: dict[str, pl.DataType] = {"k": pl.String(), "j": INT, "v": INT}
RIGHT: dict[str, pl.DataType] = {"rk": pl.String(), "rj": INT, "w": INT}
KINDS = ("inner", "left", "right", "full", "semi", "anti")
Fast = WindowJoin | AsOfJoin
Slow = ReferenceJoin | ReferenceAsOf
Static = StaticJoin | ReferenceStatic


def residual(pairs: pl.DataFrame) -> pl.Series:
    """NULL where either is."""
    return pairs.select(pl.col("v") <= pl.col("w")).to_series()


def window(low: int | None, high: int | None, unit: Unit = Unit.RANGE) -> JoinWindow:
    return JoinWindow(unit, low, high)


@st.composite
def stepped(draw: st.DrawFn) -> SteppedWindow:
    """Windows in ROWS that advance by steps, or one that does and none."""
    advances = draw(st.integers(1, 4)), draw(st.integers(2, 4))
    left, right = (Steps(each + draw(st.integers(0, 3)), each) for each in advances)
    sides = draw(st.sampled_from([(left, right), (right, left), (Steps(None), right)]))
    return SteppedWindow.of(*sides)


def join(
    match: JoinWindow | AsOf,
    kind: str = "inner",
    keys: int = 1,
    filtered: bool = False,
    large: bool = False,
    weighted: bool = False,
    slice_width: int = 4,
    update_before: bool = False,
    **policy: Any,
) -> Fast:
    """keys: how many of the first two columns are equal keys."""
    kept = Policy(**{"retain": 5, "late": Late.ON_UPDATE, **policy})
    more = {"slice_width": slice_width, "large": large, "weighted": weighted}
    if isinstance(match, AsOf):
        return AsOfJoin.of(
            match, (LEFT, ("k", "j")[:keys]), (RIGHT, ("rk", "rj")[:keys]), kind, kept,
            update_before=update_before, **more
        )  # fmt: skip
    left = Side("left", LEFT, ("k", "j")[:keys], match, **more)
    right = Side("right", RIGHT, ("rk", "rj")[:keys], match.mirrored, **more)
    return WindowJoin(left, right, kind, kept, residual if filtered else None, update_before)


def specified(fast: Fast) -> Slow:
    sides = [defined.Side(s.columns, s.keys, s.window) for s in (fast.left, fast.right)]
    if isinstance(fast, AsOfJoin):
        return ReferenceAsOf(*sides, fast.kind, fast.policy, fast.update_before, match=fast.match)
    rest = (fast.kind, fast.policy, fast.update_before)
    if isinstance(fast, SessionJoin):
        both = {"sessions": (fast.left.session, fast.right.session)}
        own = len(fast.left.partition)
        return ReferenceSessionJoin(*sides, *rest, residual=fast.residual, session_keys=own, **both)
    return ReferenceJoin(*sides, *rest, residual=fast.residual)


class Joined:
    """A join driven as a task drives it. restarts: stores are made anew after each step."""

    def __init__(self, operator: Fast | Slow | Static, restarts: bool = False) -> None:
        self.operator, self.restarts = operator, restarts
        self.blobs, self.steps, self.indexes = DictBlobs(), 0, dict[str, Any]()
        self.stores = Stores(self._named())

    def step(
        self,
        left: pl.DataFrame | None = None,
        right: pl.DataFrame | None = None,
        now: int = 0,
        watermark: int | None = None,
        end: bool = False,
    ) -> pl.DataFrame:
        operator, out = self.operator, []
        if left is not None or right is not None:
            self.stores.last_input = now
            left = rows_of(LEFT) if left is None else left
            right = rows_of(RIGHT) if right is None else right
            out.append(operator.on_batch(left, right, self.stores, now))
        mark = self.stores.watermark if watermark is None else watermark
        out.append(operator.on_watermark(mark, self.stores, now))
        out.append(operator.on_tick(now, self.stores))
        if end:
            out.append(operator.on_end(self.stores, now))
        self.stores._check()
        if self.restarts:
            self._restart()
        return pl.concat(out)

    @property
    def bare_join(self) -> Any:
        """Without the stage around it."""
        return getattr(self.operator, "inner", self.operator)

    def horizons(self) -> list[dict[tuple[Any, ...], int]]:
        """RETAIN n ROWS, of left and right: the instant of the n-th row of each key."""
        found = [self.operator.horizons(self.stores, side) for side in (0, 1)]
        named = [{tuple(key): floor for *key, floor in each.iter_rows()} for each in found]
        retain = self.bare_join.policy.retain
        behind = START if retain is None else max(START, self.stores.watermark - retain)
        return [{key: at for key, at in each.items() if at > behind} for each in named]

    def unexpired(self, batch: tuple[pl.DataFrame, pl.DataFrame]) -> tuple[pl.DataFrame, ...]:
        """Rows but those that RETAIN n ROWS has left behind."""
        kept = []
        for rows, side, horizons in zip(
            batch, (self.bare_join.left, self.bare_join.right), self.horizons(), strict=True
        ):
            least = [horizons.get(key, START) for key in rows.select(side.keys).iter_rows()]
            if not side.keys:
                least = [horizons.get((), START)] * len(rows)
            late = pl.col(TS) < self.stores.watermark
            kept.append(rows.filter(~(late & (pl.col(TS) < pl.Series(least, dtype=INT)))))
        return tuple(kept)

    def _named(self) -> dict[str, Store]:
        if not isinstance(self.operator, WindowJoin | AsOfJoin | StaticJoin):
            return {}
        return {
            spec.name: self._store(spec.layout, spec.combine) for spec in self.operator.stores()
        }

    def _store(self, layout: Any, combine: Any) -> Store:
        if not self.restarts:
            return MemoryStore(layout, combine)
        index = self.indexes.get(layout.name)
        more = {"max_segments_per_slice": 2, "segment_rows": 4}
        return SegmentStore(layout, combine, self.blobs, index=index, **more)

    def _restart(self) -> None:
        self.steps += 1
        for name, store in self.stores.named.items():
            assert isinstance(store, SegmentStore)
            self.indexes[name] = json.loads(json.dumps(store.flush(f"s{self.steps}")))
        self.stores.named = self._named()


def rows_of(columns: dict[str, pl.DataType], *rows: tuple[Any, ...]) -> pl.DataFrame:
    """Rows with their values and then (ts, seq, number, weight)."""
    schema = {**columns, TS: INT, SEQ: INT, POS: INT, WEIGHT: pl.Int8()}
    frame = pl.DataFrame(list(rows), schema=schema, orient="row")
    return frame.with_columns(pl.lit(0, pl.Int32()).alias(PART))


# What to draw.


@dataclass(frozen=True)
class Step:
    """left, right: (key, key, value, instant) of new rows. back: side and number from the end
    of rows to retract, and whether to put them again with another value. watermark, clock:
    more than before.
    """

    left: tuple[tuple[Any, ...], ...]
    right: tuple[tuple[Any, ...], ...]
    back: tuple[tuple[int, int, bool], ...]
    watermark: int
    clock: int
    end: bool


def steps(lateness: int = 8) -> st.SearchStrategy[list[Step]]:
    row = st.tuples(
        st.sampled_from(["a", "a", "b", None]),
        st.sampled_from([1, 1, None]),
        st.sampled_from([None, 1, 2, 3]),
        st.integers(-lateness, lateness),
    )
    rows = st.lists(row, max_size=3).map(tuple)
    back = st.tuples(st.integers(0, 1), st.integers(0, 9), st.booleans())
    ends = st.sampled_from([False] * 9 + [True])
    moves = st.sampled_from([0, 0, 1, 2, 3, 5, 9])
    backs = st.lists(back, max_size=2).map(tuple)
    one = st.builds(Step, rows, rows, backs, moves, st.integers(0, 4), ends)
    return st.lists(one, min_size=1, max_size=9)


EARLY: list[dict[str, Any]] = [
    {},
    {},
    {"early": Early.EVERY, "early_period": 4},
    {"early": Early.EVERY, "early_period": 4, "early_rows": 3},
    {"early": Early.ROWS, "early_rows": 2},
    {"early": Early.ROWS, "early_rows": 3},
    {"early": Early.ON_UPDATE},
]


def policies() -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda one, other: {**one, **other}, st.sampled_from(EARLY), _others())


def _others() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "late": st.sampled_from([Late.EVERY, Late.ON_UPDATE, Late.ON_UPDATE, Late.NEVER]),
            "late_period": st.just(3),
            "timeout": st.sampled_from([None, None, 6]),
            "retain": st.sampled_from([None, 0, 2, 5, 20]),
            "slice_width": st.sampled_from([1, 4, 16]),
            "update_before": st.booleans(),
            "weighted": st.booleans(),
            "large": st.booleans(),
            "keys": st.sampled_from([0, 1, 1, 2]),
        }
    )


BOUNDS = st.sampled_from([None, -6, -3, -1, 0, 0, 1, 3, 6])


@st.composite
def windows(draw: st.DrawFn) -> JoinWindow:
    low, high = draw(BOUNDS), draw(BOUNDS)
    if low is not None and high is not None and low > high:
        low, high = high, low
    return window(low, high, draw(st.sampled_from([Unit.RANGE, Unit.RANGE, Unit.ROWS])))


@st.composite
def joins(draw: st.DrawFn) -> Fast:
    kind, filtered = draw(st.sampled_from(KINDS)), draw(st.booleans())
    match, policy = draw(st.one_of(windows(), windows(), stepped())), draw(policies())
    if match.unit is Unit.RANGE:
        policy["retain_rows"] = draw(st.sampled_from([None, None, 1, 2, 4]))
    return join(match, kind, filtered=filtered, **policy)


@st.composite
def asofs(draw: st.DrawFn) -> Fast:
    op, kind = draw(st.sampled_from([">=", ">", "<=", "<"])), draw(st.sampled_from(KINDS[:2]))
    policy = draw(policies())
    if not policy["weighted"]:
        policy["retain_rows"] = draw(st.sampled_from([None, None, 1, 2, 4]))
    return join(AsOf(op), kind, **policy)


def rekeyed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row with another value and, every other time, another key."""
    value = (row[2] or 0) + 1
    key = {"a": "b", "b": "a"}.get(row[0], row[0]) if value % 2 else row[0]
    return (key, row[1], value, *row[3:])


class Source:
    """Rows of both sides with positions and numbers; knows which may be retracted."""

    def __init__(self, operator: Fast | StaticJoin) -> None:
        self.weighted, self.numbered = operator.left.weighted, operator.left.at == POS
        self.rekeys = isinstance(operator, WindowJoin)
        self.gone: list[tuple[Any, ...]] = []
        self.next = (count(), count())
        self.numbers = (count(1), count(1))
        self.known: tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]] = ([], [])

    def batch(self, step: Step, watermark: int, horizon: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Rows of a step that are not expired."""
        frames = []
        for side, columns in ((0, LEFT), (1, RIGHT)):
            taken: list[tuple[Any, ...]] = []
            for *values, at in (step.left, step.right)[side]:
                if watermark + at >= horizon:
                    number = next(self.numbers[side])
                    row = (*values, watermark + at, next(self.next[side]), number)
                    self.known[side].append(row)
                    taken.append((*row, 1))
            taken += self._back(step, side, horizon)
            rows = rows_of(columns, *taken)
            frames.append(rows if self.numbered else net(rows))  # as the front gives them
        return frames[0], frames[1]

    def _back(self, step: Step, side: int, horizon: int) -> list[tuple[Any, ...]]:
        """Retractions; a row replaced has another value, and one retracted may come again."""
        out: list[tuple[Any, ...]] = []
        for of, which, again in step.back if self.weighted else ():
            known = self.known[side]
            if of != side or which >= len(known) or known[-1 - which][3] < horizon:
                continue
            row = known[-1 - which]
            changed = rekeyed(row) if self.rekeys else (*row[:2], (row[2] or 0) + 1, *row[3:])
            if row in self.gone:
                out += [(*changed, 1)] if again and not self.numbered else []
            else:
                out += [(*row, -1), *([(*changed, 1)] if again else [])]
                self.gone += [] if again else [row]
            known[-1 - which] = changed if again else row
        return out
