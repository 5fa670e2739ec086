"""Aggregators over small windows, over rows as (key, value, minute)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.instants import MINUTE, SECOND
from sqlwin.kernels.folds import Fold, FoldCall, fold
from sqlwin.kernels.frames import Frames
from sqlwin.kernels.gather import lists_of
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.policies import Policy
from sqlwin.schema import EMIT, OP, REVISION
from sqlwin.windows.group import GroupWindow, Hop
from tests.support.operators.driving import Driven, rows_of

COLUMNS: dict[str, pl.DataType] = {"k": pl.String(), "b": pl.Int64(), "v": pl.Int64()}
TUMBLING = Hop(MINUTE, MINUTE)
HOPPING = Hop(2 * MINUTE, MINUTE)
TYPES = {
    "n": pl.Int64(),
    "total": pl.Int64(),
    "values": pl.List(pl.Int64()),
    "least": pl.Int64(),
}

Emission = tuple[Any, ...]


@dataclass(frozen=True)
class Listed(Fold):
    """All values in order of position: the least that a fold of full state can be."""

    call: FoldCall
    full_state = True

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.call.named("at"), self.call.named("is"))

    def lift(self) -> list[pl.Expr]:
        at = pl.struct("__ts", "__part", "__seq").implode().alias(self.columns[0])
        return [at, pl.col(self.call.args[0]).implode().alias(self.columns[1])]

    def merge(self) -> list[pl.Expr]:
        return [pl.col(name).explode(empty_as_null=False).implode() for name in self.columns]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        at, values = accumulators.select(self.columns)
        listed = [
            [v for _, v in sorted(zip(map(_place, ps), vs, strict=True))]
            for ps, vs in zip(at, values, strict=True)
        ]
        return pl.Series(self.call.name, listed, dtype=pl.List(pl.Int64))

    def over(self, rows: pl.DataFrame, frames: Frames) -> pl.DataFrame:
        at = rows.select(pl.struct("__ts", "__part", "__seq")).to_series()
        both = zip(self.columns, (at, rows[self.call.args[0]]), strict=True)
        return pl.DataFrame([lists_of(values, frames).alias(name) for name, values in both])


def _place(at: dict[str, int]) -> tuple[int, ...]:
    return tuple(at.values())


def folds_of(*names: str) -> tuple[Fold, ...]:
    bigint = pa.int64()
    known: dict[str, Fold] = {
        "n": fold("n", "count", (), (), bigint, None),
        "total": fold("total", "sum", ("v",), (bigint,), bigint, None),
        "least": fold("least", "min", ("v",), (bigint,), bigint, None),
        "values": Listed(FoldCall("values", "listed", ("v",), (bigint,), pa.list_(bigint))),
    }
    return tuple(known[name] for name in names)


def aggregator(
    window: GroupWindow = TUMBLING,
    keys: tuple[str, ...] = ("k",),
    values: tuple[str, ...] = ("total",),
    sets: tuple[tuple[str, ...], ...] = (),
    update_before: bool = False,
    weighted: bool = False,
    **policy: Any,
) -> WindowAggregator:
    return WindowAggregator(
        stream="s",
        window=window,
        below=COLUMNS,
        keys={key: COLUMNS[key] for key in keys},
        folds=folds_of(*values),
        values=tuple(TYPES[name] for name in values),
        policy=Policy(**{"retain": None, **policy}),
        update_before=update_before,
        sets=sets,
        weighted=weighted,
    )


class Fed:
    """An aggregator that is fed minutes and seconds, and tells what it emits in brief.

    A row is (key, value, minute); `now` is in seconds. An emission is
    (op, emit, revision, key, end in minutes, values …).
    """

    def __init__(self, operator: WindowAggregator, restarts: bool = False) -> None:
        self.driven, self.seq = Driven(operator, restarts), count(1)

    def __call__(
        self,
        *rows: tuple[Any, ...],
        now: float = 0,
        watermark: float | None = None,
        end: bool = False,
    ) -> list[Emission]:
        at = None if watermark is None else int(watermark * MINUTE)
        batch = self.batch(*rows) if rows else None
        return brief(self.driven.step(batch, int(now * SECOND), at, end))

    def batch(self, *rows: tuple[Any, ...]) -> pl.DataFrame:
        return rows_of(COLUMNS, *(self._row(*row) for row in rows))

    @property
    def deadline(self) -> float | None:
        at = self.driven.deadline
        return None if at is None else at / SECOND

    def records(self) -> int:
        return len(self.driven.stores["revisions"])

    def _row(self, key: Any, value: int | None, minute: float) -> tuple[Any, ...]:
        one, other = key if isinstance(key, tuple) else (key, 0)
        return (one, other, value, int(minute * MINUTE), 0, next(self.seq))


def brief(emitted: pl.DataFrame) -> list[Emission]:
    end = (pl.col(name).cast(pl.Int64) / MINUTE for name in emitted.columns if name == "window_end")
    keys = (name for name in ("k", "b", "__grouping") if name in emitted.columns)
    values = (name for name in TYPES if name in emitted.columns)
    return emitted.select(OP, EMIT, REVISION, *keys, *end, *values).rows()
