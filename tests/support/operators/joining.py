"""A join and its definition, step by step."""

from __future__ import annotations

from sqlwin.instants import START
from tests.support.operators.driving import records
from tests.support.operators.joins import (
    Fast,
    Joined,
    Source,
    Step,
    specified,
)


def agree(operator: Fast, taken: list[Step], restarts: bool) -> None:
    fast, slow = Joined(operator, restarts), Joined(specified(operator))
    source, watermark, now = Source(operator), 0, 0
    retain, columns = operator.policy.retain, [*operator.output]
    for step in taken:
        horizon = START if retain is None else fast.stores.watermark - retain
        batch = source.batch(step, watermark, horizon)
        if operator.policy.retain_rows is not None:
            horizons = [each.horizons() for each in (fast, slow)]
            assert horizons[0] == horizons[1]
            batch = fast.unexpired(batch)
        watermark, now = watermark + step.watermark, now + step.clock
        found, expected = (
            records(each.step(*batch, now, watermark, step.end), columns) for each in (fast, slow)
        )
        assert found == expected
        deadlines = [each.operator.next_deadline(each.stores) for each in (fast, slow)]
        assert deadlines[0] == deadlines[1]
