"""An expression of constants that fails does so for each row, and for no batch without rows."""

from __future__ import annotations

import polars as pl
import pytest

from sqlwin.plan.ir.nodes import Project
from sqlwin.runtime.rows.scalars import evaluate
from tests.support.sql.cases import plan


@pytest.mark.parametrize(
    "text", ["ASSERT_TRUE(FALSE)", "TRY_DIVIDE(1, 2147483647 + 1)", "RAISE_ERROR('x')"]
)
@pytest.mark.parametrize("count", [0, 1, 5])
def test_of_constants(text: str, count: int) -> None:
    made = plan(f"SELECT {text} AS x FROM orders")
    assert isinstance(made, Project)
    frame = pl.DataFrame({"id": pl.Series(range(count), dtype=pl.Int64)})
    done = evaluate(frame, made.columns, keep=("id",))
    assert [at for at, _ in done.rejected] == list(range(count))
    assert done.frame.columns == ["x", "id"]
    assert len(done.frame) == 0
