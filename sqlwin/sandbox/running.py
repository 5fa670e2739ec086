"""Scalars over rows, in the sandbox: one call is one table in and one table out.

>>> made = run(pa.table({"a": [1, 2]}), 'SELECT "a" + 1 AS b FROM rows')
>>> made["b"].to_pylist()
[2, 3]
>>> run(pa.table({"a": ["x"]}), 'SELECT CAST("a" AS INT) AS b FROM rows')
Traceback (most recent call last):
sqlwin.sandbox.running.Failed: [CAST_INVALID_INPUT] The value 'x' of the type "STRING" ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from sqlwin.functions.core.vectors import PREFIX
from sqlwin.sandbox import recording
from sqlwin.sandbox.bounds import rows_at_once
from sqlwin.sandbox.clock import watched
from sqlwin.sandbox.compiled import run_compiled
from sqlwin.sandbox.locked import know, running
from sqlwin.sandbox.tree import VALUES, calls

if TYPE_CHECKING:
    import duckdb

SECONDS = 5.0
"""Of the processor, for one row or few."""
SECONDS_A_ROW = 0.001
RESULT = 4 * 2**30
"""Bytes of all rows together, where values may be longer than what they are made of."""
FEW = 10_000
"""Rows of a call whose query may be planned once, see `compiled`: of more, the result's second copy
costs more than the plan."""


class Failed(Exception):
    """An expression fails for one of the rows; the engine's words."""


class TooLarge(Exception):
    """The rows of one call come to more than RESULT bytes."""


def seconds(rows: int) -> float:
    """How long a call over so many rows may take."""
    return SECONDS + SECONDS_A_ROW * rows


def run(rows: pa.Table, query: str) -> pa.Table:
    """`query` over the table `rows`. Failed, Forbidden, OutOfTime or TooLarge otherwise."""
    called = _called(rows, query)
    know(running(), called)
    return _run(running(), rows, query, called, _at_once(rows, called))


def run_recording(rows: pa.Table, query: str, at_once: int | None = None) -> pa.Table:
    """The same, on the connection of `recording`, whose functions are NULL where they raise.

    rows: with their numbers. at_once: how many DuckDB sees at once; None: as `run` does."""
    called = _called(rows, query)
    recording.know(called)
    size = _at_once(rows, called) if at_once is None else at_once
    return _run(recording.recording(), rows, recording.recording_text(query), called, size)


def _called(rows: pa.Table, query: str) -> tuple[str, ...]:
    return calls(query, VALUES.intersection(map(str.lower, rows.column_names)))


def _at_once(rows: pa.Table, called: tuple[str, ...]) -> int | None:
    return rows_at_once(called, rows.nbytes / max(rows.num_rows, 1))


def _run(
    con: duckdb.DuckDBPyConnection,
    rows: pa.Table,
    query: str,
    called: tuple[str, ...],
    at_once: int | None,
) -> pa.Table:
    import duckdb

    bounded = at_once is not None or any(name.startswith(PREFIX) for name in called)
    try:
        with watched(con, seconds(rows.num_rows)):
            few = not bounded and rows.num_rows <= FEW
            made = run_compiled(con, query, rows) if few else None
            return _planned_anew(con, rows, query, at_once, bounded) if made is None else made
    except (duckdb.Error, OSError, pa.ArrowException) as failure:
        from sqlwin.sandbox.reasons import reason  # by need

        raise Failed(reason(str(failure))) from None


def _planned_anew(
    con: duckdb.DuckDBPyConnection, rows: pa.Table, query: str, at_once: int | None, bounded: bool
) -> pa.Table:
    """bounded: the result may be too large, and is fetched in pieces."""
    con.register("rows", rows if at_once is None else _in_pieces(rows, at_once))
    try:
        found = con.sql(query)
        if not bounded:
            return found.to_arrow_table()
        with found.to_arrow_reader(10_000) as reader:
            return _collected(reader)
    finally:
        con.unregister("rows")


def _in_pieces(rows: pa.Table, size: int) -> pa.Table:
    return pa.Table.from_batches(rows.to_batches(max_chunksize=size), rows.schema)


def _collected(reader: pa.RecordBatchReader) -> pa.Table:
    batches, size = [], 0
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        if size > RESULT:
            raise TooLarge
    return pa.Table.from_batches(batches, reader.schema)
