"""Any calls, frames and policies: each call emits what the definitions emit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.operators.over.operator import OverAggregator
from tests.support.operators.driving import Defined, Driven, records, rows_of
from tests.support.operators.overs import (
    COLUMNS,
    Step,
    admitted,
    operators,
    reach_of,
    specified,
    steps,
)


@given(operators(), steps(), st.booleans())
def test_each_call_emits_what_the_reference_emits(
    operator: OverAggregator, taken: list[Step], restarts: bool
) -> None:
    fast, slow = Driven(operator, restarts), Defined(specified(operator))
    columns, seq, watermark, now = [*operator.output], 0, 0, 0
    for step in taken:
        rows = [(k, j, v, watermark + at, 0, seq + n) for n, (k, j, v, at) in enumerate(step.rows)]
        seq, watermark, now = seq + len(rows), watermark + step.watermark, now + step.clock
        batch = rows_of(COLUMNS, *rows)
        batches = [
            admitted(batch, driven, operator.policy, reach_of(operator)) for driven in (fast, slow)
        ]
        assert batches[0].equals(batches[1])
        found, expected = (
            records(driven.step(kept if rows else None, now, watermark, step.end), columns)
            for driven, kept in zip((fast, slow), batches, strict=True)
        )
        assert found == expected
        assert fast.deadline == slow.deadline
