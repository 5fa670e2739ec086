from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from sqlwin.kernels.folds import Fold, fold
from sqlwin.operators.over.framing import FrameCall
from sqlwin.operators.windows.slider import RING, TupleSlider
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from tests.support.draws import seeds
from tests.support.operators.driving import Driven, emissions, rows_of

COLUMNS: dict[str, pl.DataType] = {"k": pl.String(), "x": pl.Int64(), "ok": pl.Boolean()}
Row = tuple[Any, ...]
TOTAL = fold("s", "sum", ("x",), (pa.int64(),), pa.int64(), None)
MIDDLE = fold("m", "median", ("x",), (pa.int64(),), pa.float64(), None)
ALL = fold("l", "collect_list", ("x",), (pa.int64(),), pa.list_(pa.int64()), None)


def slider(size: int, folds: dict[Fold, pl.DataType], where: str | None = "ok") -> TupleSlider:
    frame = Frame(Unit.RANGE, size - 1)
    calls = tuple(FrameCall(each, ("k",), frame, dtype) for each, dtype in folds.items())
    return TupleSlider("s", size, ("k",), COLUMNS, calls, where)


def test_each_message_has_a_window_that_is_full_at_once() -> None:
    driven = Driven(slider(3, {TOTAL: pl.Int64()}))
    rows = [("a", 4, True, 0, 0, 1), ("a", 9, False, 0, 0, 2), ("a", 2, True, 0, 0, 3)]
    assert emissions(driven.step(rows_of(COLUMNS, *rows)), "window_start", "window_end", "s") == [
        ("+I", "full", 0, 1, 2, 4),
        ("+I", "full", 0, 1, 4, 6),
    ]
    assert driven.deadline is None
    assert driven.step(now=10**9, watermark=10**9, end=True).is_empty()


@pytest.mark.drawn
@pytest.mark.parametrize("restarts", [False, True])
def test_as_computed_anew_from_all_messages(restarts: bool) -> None:
    for seed in seeds(5 if restarts else 15):
        dice = random.Random(seed)
        size = dice.randint(1, 5)
        folds: dict[Fold, pl.DataType] = {
            TOTAL: pl.Int64(),
            MIDDLE: pl.Float64(),
            ALL: pl.List(pl.Int64()),
        }
        driven = Driven(slider(size, folds, dice.choice(["ok", None])), restarts)
        taken: dict[str | None, list[Row]] = defaultdict(list)
        for step in range(8):
            rows = [
                (
                    dice.choice([None, "a", "b"]),
                    dice.choice([None, 1, 2, 5]),
                    dice.random() < 0.7,
                    0,
                    0,
                    10 * step + i,
                )
                for i in range(dice.choice([1, 3, 8]))
            ]
            expected = []
            for row in rows:
                taken[row[0]].append(row)
                if driven.operator.where is None or row[2]:  # type: ignore[attr-defined]
                    expected.append(window(taken[row[0]], size, driven.operator.where))  # type: ignore[attr-defined]
            emitted = driven.step(rows_of(COLUMNS, *rows))
            shown = emitted.select("k", "window_start", "window_end", "s", "m", "l").rows()
            assert sorted(shown, key=repr) == sorted(expected, key=repr)
    assert len(driven.stores[RING]) <= 3 * (size - 1)


def window(taken: list[Row], size: int, where: str | None) -> Row:
    """Of the last message taken."""
    held = [row for row in taken[-size:] if where is None or row[2]]
    numbers = sorted(row[1] for row in held if row[1] is not None)
    middle = (
        (numbers[(len(numbers) - 1) // 2] + numbers[len(numbers) // 2]) / 2 if numbers else None
    )
    return (
        taken[-1][0],
        max(1, len(taken) - size + 1),
        len(taken) + 1,
        sum(numbers) if numbers else None,
        middle,
        [row[1] for row in held if row[1] is not None],
    )
