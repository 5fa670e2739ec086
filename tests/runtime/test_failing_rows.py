"""Rows that fail are found together, and are those that halving finds, with the same reasons."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from sqlwin.plan.ir.nodes import Scalar
from sqlwin.runtime.rows import scalars
from sqlwin.runtime.rows.scalars import evaluate

ROWS = pl.DataFrame(
    {
        "a": pl.Series([None if n % 50 == 3 else n % 10 for n in range(600)], dtype=pl.Int64),
        "s": [f"{'x' * (n % 70 == 5)}{n}" for n in range(600)],
    }
)
TEXTS = {
    "a cast": ('CAST("s" AS INTEGER)', pa.int32()),
    "an error": (
        'CASE WHEN "a" = 7 THEN error(\'[SEVEN] it is \' || "s") ELSE "a" END',
        pa.int64(),
    ),
    "a quotient": ('(9 // ("a" - 5))', pa.int64()),
    "a limit": ('repeat("s", CASE WHEN "a" = 4 THEN 9000000 ELSE 1 END)', pa.string()),
    "a value too large": (
        "CASE WHEN \"a\" = 4 THEN repeat('b', 4000000) || repeat('b', 4000000) ELSE \"s\" END",
        pa.string(),
    ),
    "every row": ("CAST('x' || \"s\" AS INTEGER)", pa.int32()),
}


def _evaluated(name: str, where: str | None) -> Any:
    text, type_ = TEXTS[name]
    made = Scalar(name, text, type_, ("a", "s"))
    filter_ = None if where is None else Scalar(where, where, pa.bool_(), ("a", "s"))
    done = evaluate(ROWS.head(10 if "large" in name else 100), (("x", made),), filter_, keep=("s",))
    return done.frame.rows(), done.rejected


@pytest.mark.parametrize("where", [None, '"a" > 2', 'CAST("s" AS INTEGER) % 2 = 0'])
@pytest.mark.parametrize("name", TEXTS)
def test_as_by_halving(name: str, where: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _evaluated(name, where)
    monkeypatch.setattr(scalars, "TRIED", 0)
    assert _evaluated(name, where) == found
    assert found[1]


def test_rows_that_fail_cost_no_call_each(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = scalars.run
    monkeypatch.setattr(scalars, "run", lambda *given: calls.append(1) or real(*given))
    made = Scalar("CAST(s AS INT)", 'CAST("s" AS INTEGER)', pa.int32(), ("s",))
    done = evaluate(ROWS, (("x", made),))
    assert len(done.rejected) == 9
    assert len(calls) == 2


def test_beside_a_column_with_the_name_of_a_value_of_the_session() -> None:
    named = ROWS.rename({"s": "user"})
    made = Scalar("b", 'CAST("user" AS INTEGER)', pa.int32(), ("user",))
    whole = Scalar("user", '"user"', pa.string(), ("user",))
    found = evaluate(named, (("b", made), ("user", whole)))
    assert len(found.rejected) == 9
    assert len(found.frame) == 591
