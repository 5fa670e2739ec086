"""From the batches of one run to its figures: start-up, first batch, steady rate.

The steady rate is all rows but the first batch's over the time from the end of
the first batch to the end of the last, gaps and closing batches included.

>>> batches = [Batch(1.0, 3.0, 100), Batch(3.0, 4.0, 100), Batch(4.5, 5.0, 100)]
>>> figures(began=0.0, batches=batches).rate
100.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean


@dataclass(frozen=True)
class Batch:
    """started, ended: seconds of the clock. rows: read. phases: milliseconds by Spark's names."""

    started: float
    ended: float
    rows: int
    phases: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Figures:
    """startup: seconds from the start of the process to the first batch. rate: rows a second."""

    startup: float
    first: float
    steady: float
    rows: int
    steady_rows: int
    batches: int
    rate: float
    phases: dict[str, float]


def figures(began: float, batches: Sequence[Batch]) -> Figures:
    """began: when the process was started. The steady part needs a second batch with rows."""
    first, *others = batches
    steady_rows = sum(batch.rows for batch in others)
    if not steady_rows:
        raise ValueError("there is one batch only: fewer rows a batch, or more rows")
    steady = max(batch.ended for batch in others) - first.ended
    full = [batch for batch in others if batch.rows]
    names = dict.fromkeys(name for batch in full for name in batch.phases)
    return Figures(
        startup=first.started - began,
        first=first.ended - first.started,
        steady=steady,
        rows=first.rows + steady_rows,
        steady_rows=steady_rows,
        batches=len(batches),
        rate=steady_rows / steady,
        phases={name: mean(batch.phases.get(name, 0) for batch in full) for name in names},
    )
