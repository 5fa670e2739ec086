from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest

from sqlwin.instants import from_datetime
from sqlwin.kernels.panes import ENDLESS
from sqlwin.operators.emitter.schema import STORE
from sqlwin.operators.state_queries import StateQuery
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.policies import Early, Late
from sqlwin.schema import EMIT, OP, REVISION, ROW_KEY
from sqlwin.windows.group import Cumulate, GroupWindow, Whole
from tests.support.draws import seeds
from tests.support.operators.driving import Driven, emissions, rows_of
from tests.support.operators.ranking import COLUMNS, WINDOWS, ranker

Row = tuple[Any, ...]


def row(seq: int, ts: int, k: str | None, x: int | None, j: int = 0) -> Row:
    return (k, j, x, ts, 0, seq)


TEA, MILK = row(1, 10, "tea", 3), row(2, 20, "milk", 2)


def test_a_late_row_moves_its_own_group_and_the_one_it_passes() -> None:
    driven = Driven(ranker(late=Late.ON_UPDATE), restarts=True)
    full = driven.step(rows_of(COLUMNS, TEA, MILK, row(3, 30, "rice", 1)), watermark=60)
    assert emissions(full, "k", "total", "place") == [
        ("+I", "full", 0, "tea", 3, 1),
        ("+I", "full", 0, "milk", 2, 2),
        ("+I", "full", 0, "rice", 1, 3),
    ]
    late = driven.step(rows_of(COLUMNS, row(4, 40, "milk", 4)))
    assert emissions(late, "k", "total", "place") == [
        ("+U", "late", 1, "milk", 6, 1),
        ("+U", "late", 1, "tea", 3, 2),
    ]


def test_what_changes_nothing_is_not_sent_before_the_window_is_full() -> None:
    driven = Driven(ranker(early=Early.ON_UPDATE))
    assert emissions(driven.step(rows_of(COLUMNS, TEA)), "place") == [("+I", "early", 0, 1)]
    assert driven.step(rows_of(COLUMNS, row(5, 11, "tea", 0))).is_empty()
    assert emissions(driven.step(watermark=60), "place") == [("+U", "full", 1, 1)]


def test_a_window_goes_out_as_it_is_now() -> None:
    """What waits with others goes out with them, and then waits no more."""
    driven = Driven(ranker(early=Early.EVERY, early_period=10))
    driven.step(rows_of(COLUMNS, TEA), now=0)
    driven.step(rows_of(COLUMNS, MILK), now=4)
    assert emissions(driven.step(now=10), "k", "place") == [
        ("+I", "early", 0, "tea", 1),
        ("+I", "early", 0, "milk", 2),
    ]
    assert driven.deadline is None


def test_a_filter_above_sees_both_sides() -> None:
    driven = Driven(ranker(update_before=True, late=Late.ON_UPDATE))
    driven.step(rows_of(COLUMNS, TEA, MILK), watermark=60)
    late = driven.step(rows_of(COLUMNS, row(4, 40, "milk", 4)))
    assert emissions(late, "k", "total", "place") == [
        ("-U", "late", 0, "milk", 2, 2),
        ("+U", "late", 1, "milk", 6, 1),
        ("-U", "late", 0, "tea", 3, 1),
        ("+U", "late", 1, "tea", 3, 2),
    ]


def test_windows_out_of_retention_are_forgotten() -> None:
    driven = Driven(ranker(retain=100))
    driven.step(rows_of(COLUMNS, TEA, MILK), watermark=159)
    assert len(driven.stores[STORE]) == 2
    driven.step(watermark=160)
    assert len(driven.stores[STORE]) == 0


def test_a_query_of_no_window_finds_none() -> None:
    driven = Driven(ranker())
    found = driven.operator.windows(StateQuery(lo=0, hi=60), driven.stores)
    assert found.is_empty() and found.schema["place"] == pl.Int64


@dataclass
class Brute:
    """Folds what was sent, and knows what a batch over all rows would say."""

    operator: WindowAggregator
    rows: list[Row] = field(default_factory=list)
    sent: dict[str, tuple[int, Row]] = field(default_factory=dict)

    def take(self, emitted: pl.DataFrame) -> None:
        """Revisions count on; early and late, no row is sent that is as it was."""
        columns = list(self.operator.output)
        for values in emitted.select(ROW_KEY, OP, EMIT, REVISION, *columns).rows():
            name, op, emit, revision, *shown = values
            last, old = self.sent.get(name, (-1, ()))
            if op == "-U":
                assert (revision, tuple(shown)) == (last, old)
                continue
            assert revision == last + 1 and op == ("+U" if old else "+I")
            assert emit == "full" or tuple(shown) != old
            self.sent[name] = (revision, tuple(shown))

    def answer(self, watermark: int | None) -> set[Row]:
        """(keys, end, total, place) of every window that ends by the watermark."""
        inner, ranks = self.operator, self.operator.ranks
        assert ranks is not None
        groups: dict[Row, list[Row]] = {}
        for taken in self.rows:
            named = dict(zip(COLUMNS, taken, strict=False))
            for end in ends(inner.window, taken[3]):
                if watermark is None or end <= watermark:
                    groups.setdefault((*(named[k] for k in inner.keys), end), []).append(taken)
        totals = {at: total(held) for at, held in groups.items()}
        names = list(inner.keys)

        def family(at: Row) -> Row:
            return (at[-1], *(at[names.index(p)] for p in ranks.partition))

        out = set()
        for at, value in totals.items():
            others = [v for other, v in totals.items() if family(other) == family(at)]
            better = [v for v in others if greater(v, value)]
            place = 1 + len(better if ranks.standing.function == "rank" else set(better))
            out.add((*at, value, place))
        return out


def total(held: list[Row]) -> int | None:
    numbers = [r[2] for r in held if r[2] is not None]
    return sum(numbers) if numbers else None


def greater(one: int | None, other: int | None) -> bool:
    return one is not None and (other is None or one > other)


def ends(window: GroupWindow, ts: int) -> list[int]:
    if isinstance(window, Whole):
        return [ENDLESS]
    if isinstance(window, Cumulate):
        run = ts - ts % window.size
        return [run + n for n in range(window.step, window.size + 1, window.step) if ts < run + n]
    first = ts - ts % window.advance
    return [s + window.size for s in range(first, ts - window.size, -window.advance)]


def shown(brute: Brute) -> set[Row]:
    """What was sent last, as `Brute.answer` has it."""
    out = set()
    for _, values in brute.sent.values():
        named = dict(zip(brute.operator.output, values, strict=True))
        end = named.get("window_end")
        at = ENDLESS if end is None else from_datetime(end)
        keys = (named[key] for key in brute.operator.keys)
        out.add((*keys, at, named["total"], named["place"]))
    return out


POLICIES: list[dict[str, Any]] = [
    {"late": Late.ON_UPDATE},
    {"late_period": 7, "update_before": True},
    {"late_period": 3, "early": Early.ON_UPDATE},
    {"late": Late.ON_UPDATE, "early": Early.EVERY, "early_period": 4, "update_before": True},
    {"late": Late.ON_UPDATE, "early": Early.ROWS, "early_rows": 3, "timeout": 3},
]


@pytest.mark.drawn
@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("policy", range(len(POLICIES)))
def test_the_last_of_every_row_is_the_answer_of_a_batch(policy: int, restarts: bool) -> None:
    for seed in seeds(3 if restarts else 8):
        dice = random.Random(f"{policy} {seed}")
        keys = ("k", "j") if dice.random() < 0.6 else ("k",)
        partition = ("j",) if "j" in keys and dice.random() < 0.5 else ()
        function = dice.choice(["rank", "dense_rank"])
        operator = ranker(
            WINDOWS[seed % 4], keys, partition, function, **POLICIES[policy], retain=None
        )
        driven, brute, now, watermark = Driven(operator, restarts), Brute(operator), 0, 0
        for step in range(10):
            now += dice.randint(0, 4)
            rows = [
                row(
                    10 * step + i,
                    dice.randint(0, 60),
                    dice.choice([None, "a", "b", "c"]),
                    dice.choice([None, 1, 2, 3]),
                    dice.randint(0, 1),
                )
                for i in range(dice.choice([0, 1, 3, 8]))
            ]
            watermark += dice.randint(0, 8)
            brute.rows += rows
            taken = rows_of(COLUMNS, *rows) if rows else None
            brute.take(driven.step(taken, now, watermark, end=step == 9))
            if operator.policy.late is Late.ON_UPDATE:
                assert brute.answer(watermark) <= shown(brute)
        assert brute.answer(None) == shown(brute)
        assert driven.deadline is None or operator.policy.timeout is not None
