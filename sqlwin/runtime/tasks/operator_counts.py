"""What an operator did in a batch, and what it keeps after it.

The counts come with the batch; sizes and open windows are read when somebody wants metrics. To
count open windows reads them all, as the state query of the windows from the watermark on does.
"""

from __future__ import annotations

from dataclasses import field

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.state_queries import OPEN_WINDOW, STATE, StateQuery, queryable
from sqlwin.plan.properties.facts import operator_of
from sqlwin.runtime.inputs.row_counts import RowCounts
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.rows.error_stream import EXPIRED, of_reason
from sqlwin.runtime.tasks.task import Output, Task


@dataclass(frozen=True)
class OperatorCounts:
    """Of one bucket and one batch. rows_in, late, expired, rows_out, replayed: rows. state_rows,
    state_bytes: as written by the last commit, NULL where none is kept. windows_open: NULL where
    the operator has no windows that can be counted. seconds: that it worked, no part of what it
    did."""

    rows_in: int = 0
    late: int = 0
    expired: int = 0
    rows_out: int = 0
    replayed: int = 0
    state_rows: int | None = None
    state_bytes: int | None = None
    windows_open: int | None = None
    seconds: float = field(default=0.0, compare=False)

    def __add__(self, other: OperatorCounts) -> OperatorCounts:
        """Of two buckets."""
        return OperatorCounts(
            self.rows_in + other.rows_in,
            self.late + other.late,
            self.expired + other.expired,
            self.rows_out + other.rows_out,
            self.replayed + other.replayed,
            _sum(self.state_rows, other.state_rows),
            _sum(self.state_bytes, other.state_bytes),
            _sum(self.windows_open, other.windows_open),
            self.seconds + other.seconds,
        )


def _sum(one: int | None, other: int | None) -> int | None:
    known = [each for each in (one, other) if each is not None]
    return sum(known) if known else None


def measured(
    task: Task,
    output: Output,
    taken: RowCounts,
    windows: bool = True,
    seconds: float = 0.0,
    sizes: bool = False,
) -> OperatorCounts:
    """After the commit of a batch. windows: whether to count those that are open. sizes: whether
    to measure state that is not written anywhere."""
    rows, size = task.written or (_in_memory(task) if sizes else (None, None))
    return OperatorCounts(
        taken.taken,
        taken.late,
        taken.expired + of_reason(output.errors, EXPIRED),
        len(output.results),
        output.replayed,
        rows,
        size,
        _open(task) if windows else None,
        seconds,
    )


def _in_memory(task: Task) -> tuple[int, int]:
    frames = [store.scan(START, END) for store in task.stores.named.values()]
    return sum(map(len, frames)), int(sum(frame.estimated_size() for frame in frames))


def name_of(query: Lowered) -> str:
    """What a stage does: the name of its node in the plan."""
    found = operator_of(query.query.plan)
    return "Project" if found is None else type(found).__name__


def _open(task: Task) -> int | None:
    try:
        operator = queryable(task.query.operator)
    except QueryError:
        return None
    wanted = StateQuery(None, task.stores.watermark, END)
    found = operator.windows(wanted, task.stores)
    return None if STATE not in found.columns else found.filter(pl.col(STATE) == OPEN_WINDOW).height
