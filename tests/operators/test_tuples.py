from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from sqlwin.instants import MINUTE, SECOND
from sqlwin.kernels.folds import Fold, fold
from sqlwin.operators.emitter.schema import STORE
from sqlwin.operators.windows.messages import PANES
from sqlwin.operators.windows.tuples import TupleAggregator
from sqlwin.policies import Early, Policy, end_of_period
from sqlwin.windows import Unit
from sqlwin.windows.group import Hop
from tests.support.draws import seeds
from tests.support.operators.driving import Driven, emissions, records, rows_of

COLUMNS: dict[str, pl.DataType] = {
    "k": pl.String(),
    "j": pl.Int64(),
    "x": pl.Int64(),
    "ok": pl.Boolean(),
}
Row = tuple[Any, ...]
LARGEST = fold("m", "max", ("x",), (pa.int64(),), pa.int64(), None)
FOLDS: tuple[Fold, ...] = (
    fold("n", "count", (), (), pa.int64(), None),
    fold("s", "sum", ("x",), (pa.int64(),), pa.int64(), None),
    fold("f", "first", ("x",), (pa.int64(),), pa.int64(), None),
)


def tuples(
    size: int,
    advance: int,
    folds: tuple[Fold, ...] = (LARGEST,),
    partition: tuple[str, ...] = (),
    keys: tuple[str, ...] = (),
    where: str | None = None,
    update_before: bool = False,
    **policy: Any,
) -> TupleAggregator:
    hop = Hop(size, advance, unit=Unit.ROWS)
    kept = {key: COLUMNS[key] for key in keys}
    values = tuple(pl.Int64() for _ in folds)
    policy_ = Policy(None, **policy)
    made = TupleAggregator("s", hop, COLUMNS, kept, folds, values, policy_, update_before)
    return replace(made, partition=partition, where=where)


def message(seq: int, x: int | None, k: str | None = None, j: int = 0, ok: bool = True) -> Row:
    return (k, j, x, ok, 0, 0, seq)


def test_the_worked_example_of_samza_552() -> None:
    operator = tuples(3, 3, early=Early.EVERY, early_period=MINUTE)
    driven = Driven(operator, restarts=True)
    assert driven.step(rows_of(COLUMNS, message(1, 0)), now=0).is_empty()
    assert driven.step(rows_of(COLUMNS, message(2, 5)), now=59 * SECOND).is_empty()
    assert driven.deadline == MINUTE
    at_one = driven.step(now=MINUTE)
    assert emissions(at_one, "window_start", "window_end", "m") == [("+I", "early", 0, 1, 4, 5)]
    full = driven.step(rows_of(COLUMNS, message(3, 9)), now=2 * MINUTE + SECOND)
    assert emissions(full, "window_start", "window_end", "m") == [("+U", "full", 1, 1, 4, 9)]
    assert driven.deadline is None


def test_what_was_retracted_is_what_was_sent() -> None:
    driven = Driven(tuples(3, 3, update_before=True, early=Early.ON_UPDATE))
    assert emissions(driven.step(rows_of(COLUMNS, message(1, 7))), "m") == [("+I", "early", 0, 7)]
    assert emissions(driven.step(rows_of(COLUMNS, message(2, 9), message(3, 1))), "m") == [
        ("-U", "full", 0, 7),
        ("+U", "full", 1, 9),
    ]


def test_every_two_rows() -> None:
    driven = Driven(tuples(5, 5, early=Early.ROWS, early_rows=2))
    said = [emissions(driven.step(rows_of(COLUMNS, message(i, i))), "m") for i in range(1, 7)]
    assert said == [
        [],
        [("+I", "early", 0, 2)],
        [],
        [("+U", "early", 1, 4)],
        [("+U", "full", 2, 5)],
        [],
    ]


def test_a_silent_stream_emits_its_open_window_until_its_next_row() -> None:
    driven = Driven(tuples(3, 3, timeout=60))
    driven.step(rows_of(COLUMNS, message(1, 4)), now=0)
    assert driven.deadline == 60
    assert emissions(driven.step(now=60), "window_end", "m") == [("+I", "full", 0, 4, 4)]
    assert driven.deadline is None and driven.step(now=500).is_empty()
    assert driven.step(end=True, now=500).is_empty()
    assert driven.step(rows_of(COLUMNS, message(2, 6)), now=501).is_empty()
    assert emissions(driven.step(now=561), "m") == [("+U", "full", 1, 6)]
    assert emissions(driven.step(rows_of(COLUMNS, message(3, 5)), now=562), "m") == [
        ("+U", "full", 2, 6)
    ]


def test_what_fills_a_forced_window_need_not_change_it() -> None:
    driven = Driven(tuples(3, 3, keys=("k",)))
    driven.step(rows_of(COLUMNS, message(1, 4, "a")), end=True)
    full = driven.step(rows_of(COLUMNS, message(2, 1, "b"), message(3, 2, "b")))
    assert emissions(full, "k", "m") == [("+U", "full", 1, "a", 4), ("+I", "full", 0, "b", 2)]


def test_full_state_is_kept_in_lists() -> None:
    exact = (
        fold("mid", "median", ("x",), (pa.int64(),), pa.float64(), None),
        fold("n", "count", ("x",), (pa.int64(),), pa.int64(), None, distinct=True),
        fold("all", "collect_list", ("x",), (pa.int64(),), pa.list_(pa.int64()), "ok"),
    )
    values = (pl.Float64(), pl.Int64(), pl.List(pl.Int64()))
    operator = replace(
        tuples(4, 2, exact, early=Early.ON_UPDATE, update_before=True), values=values
    )
    driven = Driven(operator, restarts=True)
    shown = ("window_start", "mid", "n", "all")
    one = driven.step(rows_of(COLUMNS, message(1, 4), message(2, None), message(3, 4)))
    assert emissions(one, *shown) == [
        ("+I", "early", 0, 1, 4.0, 1, [4, 4]),
        ("+I", "early", 0, 3, 4.0, 1, [4]),
    ]
    two = driven.step(rows_of(COLUMNS, message(4, 5, ok=False)))
    assert emissions(two, *shown) == [
        ("-U", "full", 0, 1, 4.0, 1, [4, 4]),
        ("+U", "full", 1, 1, 4.0, 2, [4, 4]),
        ("-U", "early", 0, 3, 4.0, 1, [4]),
        ("+U", "early", 1, 3, 4.5, 2, [4]),
    ]


def test_what_no_open_window_needs_is_evicted() -> None:
    driven = Driven(tuples(6, 4, early=Early.ON_UPDATE))
    for i in range(100):
        driven.step(rows_of(COLUMNS, message(i, i)))
    assert len(driven.stores[PANES]) == 2 and len(driven.stores[STORE]) == 1  # of [97, 103)


@dataclass
class Brute:
    """Every message kept, every window computed anew."""

    operator: TupleAggregator
    rows: list[Row] = field(default_factory=list)
    sent: dict[Any, tuple[int, Row]] = field(default_factory=dict)
    waiting: dict[Any, int] = field(default_factory=lambda: defaultdict(int))
    due: dict[Any, int] = field(default_factory=dict)
    shown: set[Any] = field(default_factory=set)
    full: set[Any] = field(default_factory=set)
    last_input: int | None = None

    def of(self, names: tuple[str, ...], row: Row) -> Row:
        return tuple(row[list(COLUMNS).index(name)] for name in names)

    def windows(self) -> tuple[dict[Any, list[Row]], set[Any]]:
        """(keys, start) to rows; which of them are full."""
        op, counts, held = self.operator, defaultdict(int), defaultdict(list)
        for row in sorted(self.rows, key=lambda row: row[-1]):
            counts[self.of(op.partition, row)] += 1
            number = counts[self.of(op.partition, row)]
            for start in range(1, number + 1, op.hop.advance):
                if start <= number < start + op.hop.size and (op.where is None or row[3]):
                    held[self.of(tuple(op.keys), row), start].append(row)
        last = {at: counts[self.of(op.partition, rows[0])] for at, rows in held.items()}
        return dict(held), {at for at in held if at[1] + op.hop.size - 1 <= last[at]}

    def step(self, rows: list[Row], now: int, end: bool) -> list[Row]:
        policy, (before, _) = self.operator.policy, self.windows()
        self.rows += rows
        held, full = self.windows()
        out = [e for at in full - self.full for e in self.emit(at, held, "full")]
        self.full = full
        self.last_input = now if rows else self.last_input
        for at in held.keys() - full:
            added = len(held[at]) - len(before.get(at, []))
            if added:
                self.shown.discard(at)
                if policy.early is not None:
                    self.waiting[at] += added
                    if policy.early is not Early.ROWS:
                        self.due.setdefault(at, end_of_period(now, policy.early_period))
                    elif self.waiting[at] >= policy.early_rows:
                        self.due.setdefault(at, now)
        ready = [at for at, due in self.due.items() if due <= now]
        silent = policy.timeout is not None and self.last_input is not None
        if silent and self.last_input + policy.timeout <= now:
            self.last_input = None
            out += self.show(held)
        out += [e for at in ready if at in self.due for e in self.emit(at, held, "early")]
        return sorted(out + (self.show(held) if end else []), key=repr)

    def show(self, held: dict[Any, list[Row]]) -> list[Row]:
        chosen = [at for at in held if at not in self.full | self.shown]
        out = [e for at in chosen for e in self.emit(at, held, "full")]
        self.shown |= set(chosen)
        return out

    def emit(self, at: Any, held: dict[Any, list[Row]], emit: str) -> list[Row]:
        keys, start = at
        self.due.pop(at, None)
        self.waiting.pop(at, None)
        revision, old = self.sent.get(at, (-1, ()))
        edges = (start, start + self.operator.hop.size)
        numbers = [row[2] for row in held[at] if row[2] is not None]
        now = (*keys, *edges, len(held[at]), sum(numbers) if numbers else None, held[at][0][2])
        self.sent[at] = (revision + 1, now)
        name = json.dumps([*keys, *edges], separators=(",", ":"))
        update = (name, "+U" if old else "+I", emit, revision + 1, *now)
        retracted = (name, "-U", emit, revision, *old)
        return [retracted, update] if old and self.operator.update_before else [update]


POLICIES: list[dict[str, Any]] = [
    {},
    {"timeout": 6},
    {"early": Early.ON_UPDATE, "update_before": True, "timeout": 4},
    {"early": Early.EVERY, "early_period": 5},
    {"early": Early.ROWS, "early_rows": 3, "timeout": 3},
]


@pytest.mark.drawn
@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("policy", range(len(POLICIES)))
def test_as_computed_anew_each_time(policy: int, restarts: bool) -> None:
    for seed in seeds(4 if restarts else 12):
        dice = random.Random(f"{policy} {seed}")
        size = dice.randint(1, 6)
        advance = dice.randint(1, size)
        partition: tuple[str, ...] = ("k",) if dice.random() < 0.7 else ()
        keys = (*partition, "j") if dice.random() < 0.5 else partition
        operator = tuples(
            size,
            advance,
            FOLDS,
            partition,
            keys,
            "ok" if dice.random() < 0.5 else None,
            **POLICIES[policy],
        )
        driven, brute, now = Driven(operator, restarts), Brute(operator), 0
        for step in range(15):
            now += dice.randint(0, 4)
            rows = [
                message(
                    10 * step + i,
                    dice.choice([None, 1, 2, 3]),
                    dice.choice([None, "a", "b"]),
                    dice.randint(0, 1),
                    dice.random() < 0.7,
                )
                for i in range(dice.choice([0, 0, 1, 3, 8]))
            ]
            end = step == 14 or dice.random() < 0.1
            emitted = driven.step(rows_of(COLUMNS, *rows) if rows else None, now, end=end)
            columns = [*keys, "window_start", "window_end", "n", "s", "f"]
            assert records(emitted, columns) == brute.step(rows, now, end)
