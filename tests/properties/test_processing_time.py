"""Windows of processing time: whatever the clock does between batches, and however often the query
is opened again, the last revisions equal DuckDB's answer over the rows with the time of their
batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs

BEGIN, SECOND = 1_704_099_600_000_000, 1_000_000
STREAM = "CREATE STREAM orders (id BIGINT, k STRING, v BIGINT, pt AS PROCTIME());\n"


@dataclass(frozen=True)
class Asked:
    """sqlwin's query, and DuckDB's over `rows_` (id, k, v, pt in microseconds)."""

    query: str
    answer: str


def edges(size: int) -> str:
    return f"(pt // {size}) * {size} AS s, (pt // {size}) * {size} + {size} AS e"


MINUTE = 60 * SECOND
ASKED = {
    "tumble": Asked(
        "SELECT k, window_start AS s, window_end AS e, SUM(v) AS a, COUNT(*) AS n, MAX(pt) AS m "
        "FROM TUMBLE(TABLE orders, DESCRIPTOR(pt), INTERVAL '1' MINUTE) "
        "GROUP BY k, window_start, window_end",
        f"SELECT k, {edges(MINUTE)}, SUM(v) AS a, COUNT(*) AS n, MAX(pt) AS m "
        "FROM rows_ GROUP BY ALL",
    ),
    "hop": Asked(
        "SELECT window_start AS s, SUM(v) AS a, COUNT(*) AS n "
        "FROM HOP(TABLE orders, DESCRIPTOR(pt), INTERVAL '20' SECOND, INTERVAL '1' MINUTE) "
        "GROUP BY window_start, window_end",
        f"SELECT (pt // {20 * SECOND} - i) * {20 * SECOND} AS s, SUM(v) AS a, COUNT(*) AS n "
        "FROM rows_, range(3) t(i) GROUP BY ALL",
    ),
    "session": Asked(
        "SELECT k, window_start AS s, window_end AS e, SUM(v) AS a, COUNT(*) AS n "
        "FROM SESSION(TABLE orders PARTITION BY k, DESCRIPTOR(pt), INTERVAL '10' SECOND) "
        "GROUP BY k, window_start, window_end",
        f"""SELECT k, MIN(pt) AS s, MAX(pt) + {10 * SECOND} AS e, SUM(v) AS a, COUNT(*) AS n FROM (
              SELECT *, SUM(began) OVER (PARTITION BY k ORDER BY pt, id) AS session FROM (
                SELECT *, CASE WHEN pt - LAG(pt) OVER (PARTITION BY k ORDER BY pt, id)
                                    <= {10 * SECOND} THEN 0 ELSE 1 END AS began FROM rows_))
            GROUP BY k, session""",
    ),
    "over": Asked(
        "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY pt "
        "RANGE BETWEEN INTERVAL '30' SECOND PRECEDING AND CURRENT ROW) AS a, "
        "COUNT(*) OVER (PARTITION BY k ORDER BY pt ROWS 2 PRECEDING) AS n FROM orders",
        f"""SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY pt
                       RANGE BETWEEN {30 * SECOND} PRECEDING AND CURRENT ROW) AS a,
                   COUNT(*) OVER (PARTITION BY k ORDER BY pt, id ROWS 2 PRECEDING) AS n
            FROM rows_""",
    ),
    "chain": Asked(
        "SELECT window_start AS s, MAX(a) AS a, COUNT(*) AS n FROM TUMBLE(TABLE ("
        "SELECT k, window_start AS ws, window_end AS we, window_time AS wt, SUM(v) AS a "
        "FROM TUMBLE(TABLE orders, DESCRIPTOR(pt), INTERVAL '20' SECOND) "
        "GROUP BY k, window_start, window_end, window_time), "
        "DESCRIPTOR(wt), INTERVAL '1' MINUTE) GROUP BY window_start, window_end",
        f"""SELECT (s // {MINUTE}) * {MINUTE} AS s, MAX(a) AS a, COUNT(*) AS n FROM (
              SELECT k, {edges(20 * SECOND)}, SUM(v) AS a FROM rows_ GROUP BY ALL) GROUP BY 1""",
    ),
}
EMITS = ["", "EMIT CHANGES", "EMIT EARLY EVERY INTERVAL '7' SECOND", "EMIT EARLY EVERY 2 ROWS"]
BATCHES = st.lists(
    st.tuples(
        st.sampled_from([0, 1, SECOND, 10 * SECOND, 10 * SECOND + 1, 25 * SECOND, 3 * MINUTE]),
        st.lists(st.tuples(st.sampled_from("ab"), st.integers(-3, 3)), max_size=4),
        st.booleans(),
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("kind", ASKED)
@given(batches=BATCHES, emit=st.sampled_from(EMITS))
def test_the_last_revisions_are_the_batch_answer(
    kind: str, batches: Sequence[tuple[int, list[tuple[str, int]], bool]], emit: str
) -> None:
    """Each batch: how far the clock moves before it, its rows, whether the query is opened anew."""
    parsed = script(f"{STREAM}{ASKED[kind].query} {emit}")
    blobs, now = DictBlobs(), BEGIN
    query = EmbeddedQuery(parsed, blobs=blobs, token="0")
    query.advance(now=now)
    rows: list[tuple[int, str, int, int]] = []
    emitted: list[pl.DataFrame] = []
    for number, (later, given_rows, again) in enumerate(batches):
        now += later
        query.advance(now=now)
        new = [(len(rows) + at, k, v, now) for at, (k, v) in enumerate(given_rows)]
        rows += new
        query.push("orders", [{"id": i, "k": k, "v": v} for i, k, v, _ in new])
        emitted.append(query.results().pl())
        if again:
            query.commit()
            query = EmbeddedQuery(parsed, blobs=blobs, token=str(number + 1))
    query.advance(now=now + 10 * MINUTE)
    emitted.append(query.results().pl())
    assert query.deadlines()[-1] is None, "nothing is open any more"
    assert last(emitted) == answer(kind, rows)


def last(emitted: Sequence[pl.DataFrame]) -> list[tuple[object, ...]]:
    found = pl.concat(emitted).unique("row_key", keep="last", maintain_order=True)
    there = found.filter(pl.col("op") != "-D").drop("op", "emit", "revision", "row_key")
    numbers = there.with_columns(pl.col(pl.Datetime).dt.timestamp("us"))
    return sorted(numbers.rows(), key=str)


def answer(kind: str, rows: Sequence[tuple[int, str, int, int]]) -> list[tuple[object, ...]]:
    schema = {"id": pl.Int64, "k": pl.String, "v": pl.Int64, "pt": pl.Int64}
    with duckdb.connect() as connection:
        connection.register("rows_", pl.DataFrame(rows, schema=schema, orient="row").to_arrow())
        found = connection.execute(ASKED[kind].answer).fetchall()
    return sorted(found, key=str)
