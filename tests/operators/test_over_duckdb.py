"""The end of the input: the last revisions are DuckDB's answer, whatever came when."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.policies import Early, Late
from sqlwin.schema import OP, REVISION, ROW_KEY
from tests.support.operators.driving import Driven, rows_of
from tests.support.operators.overs import COLUMNS, Called, Step, over, steps
from tests.support.operators.overs_duckdb import answers, called, numbered


@given(
    called(),
    steps(),
    st.sampled_from([None, *Early]),
    st.sampled_from([Late.EVERY, Late.ON_UPDATE]),
    st.sampled_from([1, 4, 16]),
    st.booleans(),
)
def test_last_revisions_are_the_batch_answer(
    calls: list[Called],
    taken: list[Step],
    early: Early | None,
    late: Late,
    slice_width: int,
    restarts: bool,
) -> None:
    policy: dict[str, Any] = {"early": early, "early_rows": 2, "early_period": 3, "late": late}
    operator = over(*calls, slice_width=slice_width, retain=8, **policy)
    driven, rows, emissions, watermark, now = Driven(operator, restarts), [], [], 0, 0
    for step in taken:
        new = [
            (k, j, v, watermark + at, 0, len(rows) + n) for n, (k, j, v, at) in enumerate(step.rows)
        ]
        watermark, now = watermark + step.watermark, now + step.clock
        rows += new
        emissions.append(driven.step(rows_of(COLUMNS, *new) if new else None, now, watermark))
    emissions.append(driven.step(None, now + 9, watermark, end=True))
    last = pl.concat(emissions).sort(REVISION, maintain_order=True).unique(ROW_KEY, keep="last")
    assert set(last[OP]) <= {"+I", "+U"}
    found = {row[0]: row[1:] for row in numbered(last).rows()}
    assert found == dict(answers(calls, rows))
