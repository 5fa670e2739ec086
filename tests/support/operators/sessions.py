"""Sessions by definition, over rows in seconds.

A plan as the binder makes it, lowered to the reference operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.instants import SECOND
from sqlwin.plan.ir.nodes import Aggregate, Scan, Stream, WindowAggregate
from sqlwin.plan.ir.statements import Query
from sqlwin.polars_frames import polars_schema
from sqlwin.policies import Policy
from sqlwin.schema import EMIT, OP, REVISION, TIMESTAMP, Column
from sqlwin.windows import Unit
from sqlwin.windows.session import Session
from tests.reference.lowering import specified
from tests.reference.operator import ReferenceOperator
from tests.support.operators.driving import Defined, rows_of

BIGINT = pa.int64()
COLUMNS = (
    Column("k", pa.string()),
    Column("page", pa.string()),
    Column("v", BIGINT),
    Column("wait", BIGINT),
    Column("login", pa.bool_()),
    Column("logout", pa.bool_()),
    Column("at", BIGINT),
    Column("ts", TIMESTAMP),
)
STREAM = Stream("clicks", COLUMNS, "ts", delay=0)
CALLS = {
    "n": Aggregate("n", "count", (), BIGINT),
    "last": Aggregate("last", "max", ("at",), BIGINT),
    "listed": Aggregate("listed", "collect_list", ("v",), pa.list_(BIGINT)),
}
OWN = polars_schema(COLUMNS)
Emission = tuple[Any, ...]


def session(seconds: float = 10, **more: Any) -> Session:
    most = more.pop("most", None)
    return Session(int(seconds * SECOND), most=most and int(most * SECOND), **more)


WINDOWS = [
    session(10),
    session(10, most=25),
    session(10, starts="login"),
    session(10, ends="logout"),
    session(10, most=25, starts="login", ends="logout"),
    Session(None, gap_by="wait"),
]


def plan(
    window: Session | None = None,
    keys: tuple[str, ...] = ("k",),
    partition: tuple[str, ...] = ("k",),
    values: tuple[str, ...] = ("n",),
    where: str | None = None,
    stream: Stream = STREAM,
    **policy: Any,
) -> WindowAggregate:
    return WindowAggregate(
        Scan(stream),
        window or session(),
        keys,
        tuple(CALLS[name] for name in values),
        Policy(**{"retain": None, **policy}),
        partition,
        where,
    )


def row(k: str | None, at: float, **more: Any) -> dict[str, Any]:
    """At a second; more: its other columns, `wait` in seconds."""
    if "wait" in more:
        more["wait"] = int(more["wait"] * SECOND)
    return {"k": k, "at": at, **more}


class Fed:
    """A plan's operator, fed. An emission is (op, emit, revision, keys, start, end, values)."""

    def __init__(self, parsed: WindowAggregate | None = None) -> None:
        self.plan = parsed or plan()
        operator = specified(Query(self.plan)).operator
        assert isinstance(operator, ReferenceOperator)
        self.driven, self.seq = Defined(operator), count()

    def __call__(
        self,
        *rows: Mapping[str, Any],
        now: float = 0,
        watermark: float | None = None,
        end: bool = False,
    ) -> list[Emission]:
        at = None if watermark is None else int(watermark * SECOND)
        batch = rows_of(OWN, *(self._placed(each) for each in rows)) if rows else None
        return self._brief(self.driven.step(batch, int(now * SECOND), at, end))

    @property
    def deadline(self) -> float | None:
        at = self.driven.deadline
        return None if at is None else at / SECOND

    def _placed(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        return (*(given.get(name) for name in OWN), int(given["at"] * SECOND), 0, next(self.seq))

    def _brief(self, emitted: pl.DataFrame) -> list[Emission]:
        if self.plan.window.unit is Unit.RANGE:
            bounds = pl.col("window_start", "window_end").cast(pl.Int64) / SECOND
            emitted = emitted.with_columns(bounds)
        names = [name for name in self.driven.operator.output if name in emitted.columns]  # type: ignore[attr-defined]
        return emitted.select(OP, EMIT, REVISION, *names).rows()
