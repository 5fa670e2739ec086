"""What DuckDB answers to a question over all rows, and whether an answer is the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from sqlwin.instants import format_instant, from_datetime
from tests.properties.deliveries import Delivery, once
from tests.properties.question import Question

Answer = Sequence[tuple[Any, ...]]
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("k", pa.string()),
        ("i", pa.int64()),
        ("d", pa.decimal128(6, 2)),
        ("f", pa.float64()),
        ("b", pa.bool_()),
        ("ts", pa.string()),
    ]
)


@cache
def connection(views: str = "") -> duckdb.DuckDBPyConnection:
    """One of the process for each set of views."""
    con = duckdb.connect(config={"threads": 1})
    con.execute("SET TimeZone = 'UTC'")
    return con


def batch_answer(question: Question, delivery: Delivery) -> Answer:
    con = _stream()
    con.register("fed", pa.Table.from_pylist(once(delivery), SCHEMA))
    return list(con.sql(question.batch).fetchall())


@cache
def _stream() -> duckdb.DuckDBPyConnection:
    """With the views that questions read, over what is registered as `fed` at the time."""
    con = connection("s")
    con.register("fed", SCHEMA.empty_table())
    con.execute(
        "CREATE VIEW s AS SELECT * REPLACE (ts::TIMESTAMPTZ AS ts), id AS seq, "
        "epoch_us(ts::TIMESTAMPTZ) AS us FROM fed"
    )
    # messages are ordered by position alone
    con.execute("CREATE VIEW untimed AS SELECT * REPLACE (0 AS us) FROM s")
    return con


def assert_answer(question: Question, expected: Answer, found: Answer) -> None:
    theirs, ours = keyed(expected, question.known), keyed(found, question.known)
    assert ours.keys() == theirs.keys()
    for key, values in theirs.items():
        assert all(map(close, values, ours[key])), (key, values, ours[key])


def keyed(answer: Answer, known: int) -> dict[tuple[Any, ...], list[Any]]:
    plain = [[_plain(value) for value in row] for row in answer]
    out = {tuple(row[:known]): row[known:] for row in plain}
    assert len(out) == len(plain), "a row came twice"
    return out


def _plain(value: Any) -> Any:
    return format_instant(from_datetime(value)) if isinstance(value, datetime) else value


def close(expected: Any, found: Any) -> bool:
    """Exact but for floats. DuckDB's AVG of decimals is one, ours is a decimal of six digits."""
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(close, expected, found))
    if isinstance(expected, float) and isinstance(found, Decimal):
        return math.isclose(expected, float(found), abs_tol=6e-7)
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-9)
    return bool(expected == found)
