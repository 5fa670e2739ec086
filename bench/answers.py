"""Whether every variant gives the same answer: DuckDB's, row for row.

The check runs each variant once over fewer rows that are spread over more event
time, so that windows close and frames slide, and compares all results as
multisets. Timed runs keep no results; their counts are compared.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import duckdb

from bench.data import CLOSING_KEY, Data
from bench.queries import STREAMS, TUMBLE, Query
from bench.run import Failed, Outcome, RunSpec, once
from bench.variants import VARIANTS

PARQUET = "read_parquet('{results}/**/*.parquet', hive_partitioning = false)"


def expected(query: Query, data: Data) -> int:
    """How many results the whole data have, without the closing row's."""
    if " OVER w " in query.duckdb:  # a result for each row
        return data.rows
    with connected(data) as con:
        count = con.execute(f"SELECT count(*) FROM ({query.duckdb})").fetchone()
    assert count is not None
    return int(count[0])


def checked(spec: RunSpec, query: Query, module: str = "bench.once") -> Outcome:
    """Run for the answer and compare it; Failed where it is not DuckDB's."""
    with tempfile.TemporaryDirectory(prefix="bench-answers-") as folder:
        outcome = once(replace(spec, results=folder), module=module)
        wrong = differences(query, spec.data, Path(folder))
    if wrong:
        raise Failed(f"{spec.variant}, {query.name}: {wrong:,} rows differ from DuckDB's")
    return outcome


def counted(spec: RunSpec, query: Query, outcome: Outcome) -> None:
    """sqlwin also emits the closing row; for Spark it is still open, but for pairs."""
    wanted = expected(query, spec.data)
    closing = query.closing if query.paired or VARIANTS[spec.variant].engine != "baselines" else 0
    if outcome.emitted != wanted + closing or outcome.refused or outcome.read != spec.data.read:
        raise Failed(
            f"{spec.variant}, {spec.query} over {spec.data.shape} keys: "
            f"{outcome.read:,} rows read, {outcome.emitted:,} results of {wanted:,}, "
            f"{outcome.refused:,} refused"
        )


def differences(query: Query, data: Data, results: Path, read: str = PARQUET) -> int:
    """Rows in one answer that are not in the other; of each window its last revision.

    read: how DuckDB reads them from the folder `{results}`.
    """
    columns = ", ".join(map(_plain, query.columns))
    certain = f"SEMI JOIN ({query.certain}) USING (key, ts)" if query.certain else ""
    last = "QUALIFY row_number() OVER (PARTITION BY key, window_start ORDER BY n DESC) = 1"
    got = f"""
        SELECT {columns} FROM {read.format(results=results)} {certain}
        WHERE key <> {CLOSING_KEY} {last if query is TUMBLE else ""}"""
    want = f"SELECT {columns} FROM ({query.duckdb}) {certain}"
    both = "(FROM got EXCEPT ALL FROM want) UNION ALL (FROM want EXCEPT ALL FROM got)"
    with connected(data) as con:
        compared = f"WITH got AS MATERIALIZED ({got}), want AS MATERIALIZED ({want})"
        count = con.execute(f"{compared} SELECT count(*) FROM ({both})").fetchone()
    assert count is not None
    return int(count[0])


def _plain(column: str) -> str:
    """Instants as milliseconds: each writer of Parquet has its own unit and zone."""
    return (
        f"epoch_ms({column}) AS {column}"
        if column in ("ts", "other_ts", "window_start", "window_end")
        else column
    )


def connected(data: Data) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'; SET threads = 2; SET preserve_insertion_order = false")
    for name, folder in zip(STREAMS, data.folders, strict=False):
        con.execute(f"""
            CREATE VIEW {name} AS
            SELECT key, value, ts FROM read_csv('{folder}/*.csv', columns =
              {{'key': 'BIGINT', 'value': 'BIGINT', 'ts': 'TIMESTAMP'}}, header = true)
            WHERE key <> {CLOSING_KEY}""")
    return con
