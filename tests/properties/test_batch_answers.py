"""The main promise: last revisions are the answer of a batch over all rows, by DuckDB."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwin.embedded.board import fold
from sqlwin.embedded.host import EmbeddedQuery
from sqlwin.instants import SECOND, format_instant, from_datetime
from sqlwin.sql import script
from tests.properties.hosts import Host, fast_hosts, reference
from tests.properties.plans import rows
from tests.properties.queries import Question, questions

START = 1_704_099_600 * SECOND  # 2024-01-01 09:00 UTC; windows of 7 s do not begin there
Row = dict[str, Any]

arrivals = st.lists(
    st.lists(rows(st.integers(0, 40).map(lambda s: START + s * SECOND)), min_size=1, max_size=12),
    min_size=1,
    max_size=6,
)
hosts = fast_hosts() | st.just(reference)


@given(questions(), arrivals, hosts)
@settings(max_examples=settings.default.max_examples * 8)
def test_last_revisions_are_the_batch_answer(
    question: Question, batches: list[list[Row]], host: Host
) -> None:
    numbered = iter(range(10**6))
    fed = [[{"id": next(numbered), **row} for row in batch] for batch in batches]
    found = keyed(streamed(question.text, fed, host), question.known)
    expected = keyed(
        batch_answer(question.batch, [row for part in fed for row in part]), question.known
    )
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert all(map(close, values, found[key])), (key, values, found[key])


def streamed(text: str, batches: list[list[Row]], host: Host) -> list[tuple[Any, ...]]:
    """The last revisions; hosts that restart do so after each batch."""
    lives = host(script(text))
    told: list[pl.DataFrame] = []
    for number, batch in enumerate(batches):
        query = next(lives)
        query.push("s", batch)
        query.advance(now=2 * number * SECOND)  # some corrections go out between the batches
        told.append(_told(query))
    query = next(lives)
    query.drain()
    last = fold(pl.concat([*told, _told(query)])).filter(pl.col("op") != "-D")
    return last.drop("op", "emit", "revision", "row_key").rows()


def _told(query: EmbeddedQuery) -> pl.DataFrame:
    query._check()
    assert query.expired().num_rows == 0
    return pl.DataFrame(pl.from_arrow(query.results()))


def batch_answer(sql: str, every: list[Row]) -> list[tuple[Any, ...]]:
    with duckdb.connect(config={"threads": 1}) as con:
        con.execute("SET TimeZone = 'UTC'")
        con.register("fed", pa.Table.from_pylist(every, SCHEMA))
        con.execute(
            "CREATE VIEW s AS SELECT * REPLACE (ts::TIMESTAMPTZ AS ts), id AS seq, "
            "epoch_us(ts::TIMESTAMPTZ) AS us FROM fed"
        )
        # messages are ordered by position alone
        con.execute("CREATE VIEW untimed AS SELECT * REPLACE (0 AS us) FROM s")
        return list(con.sql(sql).fetchall())


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


def keyed(answer: Sequence[tuple[Any, ...]], known: int) -> dict[tuple[Any, ...], list[Any]]:
    plain = [[_plain(value) for value in row] for row in answer]
    out = {tuple(row[:known]): row[known:] for row in plain}
    assert len(out) == len(plain), "a row came twice"
    return out


def _plain(value: Any) -> Any:
    return format_instant(from_datetime(value)) if isinstance(value, datetime) else value


def close(expected: Any, found: Any) -> bool:
    """Exact but for floats. DuckDB's AVG of decimals is one, ours is a decimal of six digits."""
    if isinstance(expected, float) and isinstance(found, Decimal):
        return math.isclose(expected, float(found), abs_tol=6e-7)
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-9)
    return bool(expected == found)
