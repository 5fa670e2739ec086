from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest

from sqlwin.kernels.standings import Standing
from sqlwin.operators.top_n.held import RANKINGS, TOP
from sqlwin.operators.top_n.operator import TopRows
from sqlwin.policies import Early, Policy, end_of_period
from sqlwin.schema import Order
from tests.support.draws import seeds
from tests.support.operators.driving import Driven, emissions, records, rows_of
from tests.support.operators.topn import COLUMNS, top

Row = tuple[Any, ...]


def test_a_better_row_pushes_the_last_out() -> None:
    driven = Driven(top())
    assert emissions(driven.step(rows_of(COLUMNS, ("a", 5.0, 10, 0, 1))), "x", "place") == [
        ("+I", "early", 0, 5.0, 1)
    ]
    assert emissions(driven.step(rows_of(COLUMNS, ("a", 7.0, 11, 0, 2))), "x", "place") == [
        ("-D", "early", 1, 5.0, 1),
        ("+I", "early", 0, 7.0, 1),
    ]
    assert driven.step(rows_of(COLUMNS, ("a", 1.0, 12, 0, 3))).is_empty()
    assert driven.deadline is None


def test_a_row_that_moves_is_updated_and_retracted_where_asked() -> None:
    driven = Driven(top(limit=2, update_before=True))
    driven.step(rows_of(COLUMNS, ("a", 5.0, 10, 0, 1)))
    emitted = driven.step(rows_of(COLUMNS, ("a", 7.0, 11, 0, 2)))
    assert emissions(emitted, "x", "place") == [
        ("+I", "early", 0, 7.0, 1),
        ("-U", "early", 0, 5.0, 1),
        ("+U", "early", 1, 5.0, 2),
    ]


def test_the_last_row_of_a_key_is_kept() -> None:
    columns: dict[str, pl.DataType] = {"k": pl.String(), "at": pl.Int64()}
    newest = Standing("row_number", ("k",), (Order("at", descending=True, nulls_last=True),))
    driven = Driven(TopRows("s", columns, "place", newest, 1, Policy(None, early=Early.ON_UPDATE)))
    driven.step(rows_of(columns, ("a", 20, 20, 0, 1), ("b", 5, 5, 0, 2)))
    assert driven.step(rows_of(columns, ("a", 10, 10, 0, 3))).is_empty()
    emitted = driven.step(rows_of(columns, ("a", 30, 30, 0, 4)))
    assert emitted.select("__op", "at", "__row_key").rows() == [
        ("-D", 20, '["s",0,1]'),
        ("+I", 30, '["s",0,4]'),
    ]


def test_ties_at_the_limit_are_kept_by_rank_and_go_together() -> None:
    driven = Driven(top(limit=2, function="rank"))
    driven.step(rows_of(COLUMNS, *(("a", 3.0, 10, 0, seq) for seq in range(4))))
    assert len(driven.stores[TOP]) == 4
    emitted = driven.step(rows_of(COLUMNS, ("a", 4.0, 11, 0, 9), ("a", 5.0, 11, 0, 10)))
    assert emissions(emitted, "x", "place") == [
        *(("-D", "early", 1, 3.0, 1) for _ in range(4)),
        ("+I", "early", 0, 5.0, 1),
        ("+I", "early", 0, 4.0, 2),
    ]
    assert driven.stores[RANKINGS].scan(0, 1)["__held"].to_list() == [2]


def test_what_waits_goes_out_after_the_period_or_at_the_end() -> None:
    driven = Driven(top(early=Early.EVERY, early_period=60))
    assert driven.step(rows_of(COLUMNS, ("a", 1.0, 1, 0, 1)), now=0).is_empty()
    assert driven.step(rows_of(COLUMNS, ("a", 2.0, 1, 0, 2)), now=30).is_empty()
    assert driven.deadline == 60
    assert emissions(driven.step(now=60), "x") == [("+I", "early", 0, 2.0)]
    assert driven.deadline is None
    assert driven.step(rows_of(COLUMNS, ("a", 3.0, 1, 0, 3)), now=70).is_empty()
    assert emissions(driven.step(now=71, end=True), "x") == [
        ("-D", "early", 1, 2.0),
        ("+I", "early", 0, 3.0),
    ]
    assert driven.step(now=200, end=True).is_empty()


@pytest.mark.parametrize("restarts", [False, True])
def test_what_waits_goes_out_when_the_stream_is_silent(restarts: bool) -> None:
    driven = Driven(top(early=None, timeout=60), restarts)
    assert driven.step(rows_of(COLUMNS, ("a", 1.0, 1, 0, 1), ("b", 1.0, 1, 0, 2))).is_empty()
    assert driven.step(rows_of(COLUMNS, ("a", 2.0, 1, 0, 3)), now=30).is_empty()
    assert driven.deadline == 90
    assert driven.step(now=89).is_empty()
    assert emissions(driven.step(now=90), "k", "x") == [
        ("+I", "early", 0, "a", 2.0),
        ("+I", "early", 0, "b", 1.0),
    ]
    assert driven.deadline is None
    assert driven.step(rows_of(COLUMNS, ("a", 3.0, 1, 0, 4)), now=100).is_empty()
    assert emissions(driven.step(now=160), "x") == [
        ("-D", "early", 1, 2.0),
        ("+I", "early", 0, 3.0),
    ]
    assert driven.step(now=300, end=True).is_empty()


def test_silence_comes_before_a_longer_period() -> None:
    driven = Driven(top(early=Early.EVERY, early_period=90, timeout=60))
    assert driven.step(rows_of(COLUMNS, ("a", 1.0, 1, 0, 1))).is_empty()
    assert driven.deadline == 60
    assert emissions(driven.step(now=60), "x") == [("+I", "early", 0, 1.0)]
    assert driven.deadline is None


def test_nothing_goes_out_before_the_end_where_nothing_is_early() -> None:
    driven = Driven(top(early=None))
    rows = rows_of(COLUMNS, ("a", 1.0, 1, 0, 1), ("a", 2.0, 1, 0, 2))
    assert driven.step(rows).is_empty() and driven.deadline is None
    assert emissions(driven.step(end=True), "x") == [("+I", "early", 0, 2.0)]


def test_every_n_rows_counts_all_rows_of_the_partition() -> None:
    driven = Driven(top(early=Early.ROWS, early_rows=3))
    assert driven.step(rows_of(COLUMNS, ("a", 5.0, 1, 0, 1), ("b", 1.0, 1, 0, 2))).is_empty()
    assert driven.step(rows_of(COLUMNS, ("a", 1.0, 1, 0, 3))).is_empty()
    assert emissions(driven.step(rows_of(COLUMNS, ("a", 2.0, 1, 0, 4))), "k", "x") == [
        ("+I", "early", 0, "a", 5.0)
    ]
    assert emissions(driven.step(end=True), "k", "x") == [("+I", "early", 0, "b", 1.0)]


@dataclass
class Brute:
    """Every row kept, every ranking computed anew."""

    operator: TopRows
    rows: list[Row] = field(default_factory=list)
    sent: dict[tuple[Any, ...], tuple[int, Row]] = field(default_factory=dict)
    due: dict[Any, int] = field(default_factory=dict)
    count: dict[Any, int] = field(default_factory=dict)

    def key(self, row: Row) -> Any:
        return row[0] if self.operator.partition else ()

    def ranking(self, key: Any) -> dict[Row, int]:
        """Rows within the limit, by position, with their places."""
        by = self.operator.standing.order[0]
        mine = [row for row in self.rows if self.key(row) == key]

        def better(x: Any) -> tuple[bool, float]:
            null = x is None
            value = 0.0 if null else (-x if by.descending else x)
            return (null if by.nulls_last else not null, value)

        mine.sort(key=lambda row: (better(row[1]), row[2:]))
        values = [better(row[1]) for row in mine]
        place = {
            "row_number": lambda i: i + 1,
            "rank": lambda i: values.index(values[i]) + 1,
            "dense_rank": lambda i: len(set(values[: i + 1])),
        }[self.operator.standing.function]
        places = {row: place(i) for i, row in enumerate(mine)}
        return {row: at for row, at in places.items() if at <= self.operator.limit}

    def step(self, rows: list[Row], now: int, end: bool) -> list[Row]:
        self.rows += rows
        policy = self.operator.policy
        for key in {self.key(row) for row in rows}:
            mine = [row for row in rows if self.key(row) == key]
            self.count[key] = self.count.get(key, 0) + len(mine)
            if policy.early is Early.ROWS:
                if self.count[key] >= policy.early_rows:
                    self.due.setdefault(key, now)
            elif policy.early is not None and set(mine) & self.ranking(key).keys():
                period = policy.early_period if policy.early is Early.EVERY else 0
                self.due.setdefault(key, end_of_period(now, period))
        ready = [
            k for k in {self.key(r) for r in self.rows} if end or self.due.get(k, now + 1) <= now
        ]
        return sorted((e for key in ready for e in self.emit(key)), key=repr)

    def emit(self, key: Any) -> list[Row]:
        self.due.pop(key, None)
        self.count[key] = 0
        ranking, out = self.ranking(key), []
        for row, place in ranking.items():
            revision, old = self.sent.get(row, (-1, ()))
            now = (*row[:2], place)
            if now == old:
                continue
            if old and self.operator.update_before:
                out.append((name(row), "-U", "early", revision, *old))
            out.append((name(row), "+U" if old else "+I", "early", revision + 1, *now))
            self.sent[row] = (revision + 1, now)
        for row in [r for r in self.sent if self.key(r) == key and r not in ranking]:
            revision, old = self.sent.pop(row)
            out.append((name(row), "-D", "early", revision + 1, *old))
        return out


def name(row: Row) -> str:
    return json.dumps(["s", row[3], row[4]], separators=(",", ":"))


POLICIES: list[dict[str, Any]] = [
    {},
    {"early": None},
    {"update_before": True},
    {"early": Early.EVERY, "early_period": 5},
    {"early": Early.ROWS, "early_rows": 4},
]


@pytest.mark.drawn
@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("function", ["row_number", "rank", "dense_rank"])
@pytest.mark.parametrize("policy", range(len(POLICIES)))
def test_as_ranked_anew_each_time(function: str, policy: int, restarts: bool) -> None:
    for seed in seeds(2 if restarts else 8):
        dice = random.Random(f"{function} {policy} {seed}")
        order = (Order("x", dice.random() < 0.5, dice.random() < 0.5),)
        partition = ("k",) if dice.random() < 0.8 else ()
        operator = top(dice.randint(1, 4), function, order, partition, **POLICIES[policy])
        driven, brute, now = Driven(operator, restarts), Brute(operator), 0
        for step in range(12):
            now += dice.randint(0, 4)
            rows = [
                (
                    dice.choice([None, "a", "b"]),
                    dice.choice([None, 0.0, 1.0, 2.0, 3.0, 4.0]),
                    dice.randint(0, 5),
                    dice.randint(0, 1),
                    10 * step + i,
                )
                for i in range(dice.choice([0, 1, 3, 8]))
            ]
            end = step == 11 or dice.random() < 0.1
            emitted = driven.step(rows_of(COLUMNS, *rows) if rows else None, now, end=end)
            assert records(emitted, ["k", "x", "place"]) == brute.step(rows, now, end)
            assert driven.deadline == min(brute.due.values(), default=None)
