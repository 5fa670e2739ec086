"""Rows that fail are found together, and are those that halving finds, with the same reasons."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import sqlwin
from sqlwin.plan.ir.nodes import Project, Scalar
from sqlwin.runtime.rows import scalars
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.sandbox import running
from sqlwin.sql import script

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
    monkeypatch.setattr(scalars, "failing", lambda *_: {})
    assert _evaluated(name, where) == found
    assert found[1]


@pytest.mark.parametrize(
    ("text", "calls"), [("CAST(s AS INT)", 4), ("a + CAST(s AS INT)", 4), ("conv(s, 10, a)", 1)]
)
def test_rows_that_fail_cost_no_call_each(
    text: str, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    real = running._run
    monkeypatch.setattr(running, "_run", lambda *given: made.append("") or real(*given))  # type: ignore[func-returns-value]
    done = evaluate(ROWS, (("x", _compiled(text)),))
    assert (len(done.rejected), len(made)) == (9 if calls > 1 else 0, calls)


NULL_BESIDE = (
    "date_format(CAST(NULLIF(a, 1) AS TIMESTAMP), s)",
    "split(IF(a > 5, NULL, s), IF(a < 2, '[', '1'), 2)",
    "IF(a > 5, NULL, a) + CAST(s AS INT)",
    "COALESCE(a, CAST(s AS INT)) % NULLIF(a, 2)",
    "regexp_replace(NULLIF(s, '7'), IF(a = 3, '(', '1'), s)",
    "transform(array(a, 1), v -> v + CAST(s AS INT))",
    "a IN (CAST(s AS INT), 3) OR s LIKE '1%'",
)


@pytest.mark.parametrize("text", NULL_BESIDE)
def test_beside_a_null(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What raises in a batch, and not by itself, is answered."""
    made = (("x", _compiled(text)),)
    found = evaluate(ROWS.head(150), made, keep=("s",))
    monkeypatch.setattr(scalars, "failing", lambda *_: {})
    halved = evaluate(ROWS.head(150), made, keep=("s",))
    assert found.rejected == halved.rejected
    assert found.frame.rows() == halved.frame.rows()


def _compiled(text: str) -> Scalar:
    schema = pa.schema({"a": pa.int64(), "s": pa.string()})
    (query,) = script(f"SELECT {text} AS x FROM input", {"input": sqlwin.stream(schema)}).queries
    assert isinstance(query.plan, Project)
    return query.plan.columns[0][1]


def test_beside_a_column_with_the_name_of_a_value_of_the_session() -> None:
    named = ROWS.rename({"s": "user"})
    made = Scalar("b", 'CAST("user" AS INTEGER)', pa.int32(), ("user",))
    whole = Scalar("user", '"user"', pa.string(), ("user",))
    found = evaluate(named, (("b", made), ("user", whole)))
    assert len(found.rejected) == 9
    assert len(found.frame) == 591
