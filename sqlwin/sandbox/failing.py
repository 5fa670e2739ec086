"""Which rows an expression fails for, and why: in two calls for all of them together.

The first call goes over the rows as they come, and finds those that may fail: functions of Python
say of which they raise, see `recording`, and where DuckDB itself raises, TRY of DuckDB goes row by
row, and is NULL for those. The second takes each of them by itself, as a batch of one row: one may
fail beside others only, since what is NULL in all rows is not looked at. What DuckDB raises has a
reason only where the row is run by itself, in a call of its own.

>>> rows = pa.table({AT: pa.array([7, 8, 9]), "a": ["1", "x", "y"]})
>>> failing(rows, ('CAST("a" AS INTEGER)',))
{8: '[CAST_INVALID_INPUT] The value ...', 9: '... cannot be cast to "INT".'}
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.sandbox.clock import OutOfTime
from sqlwin.sandbox.recording import AT, recorded
from sqlwin.sandbox.running import Failed, TooLarge, run, run_recording


def failing(rows: pa.Table, computed: Sequence[str], where: str | None = None) -> dict[int, str]:
    """The number of each row that fails by itself, with the reason; not those that take too long,
    or make too much.

    computed: what is computed of each row for which `where` is true."""
    fields = ", ".join(f"'c{at}': {text}" for at, text in enumerate(computed))
    chosen = "true" if where is None else where
    whole = f"CASE WHEN {chosen} THEN {{'c': 0, {fields}}} END"
    query = f"SELECT TRY({{'v': {whole}}}) AS v FROM rows"
    try:
        found, reasons = _tried(rows, query)
        doubtful = pc.or_(pc.is_null(found), pc.is_in(rows[AT], pa.array(reasons, pa.int64())))
        return _judged(rows.filter(doubtful), query, f"SELECT {whole} AS v FROM rows")
    except (Failed, TooLarge, OutOfTime):
        return {}


def _tried(
    rows: pa.Table, query: str, at_once: int | None = None
) -> tuple[pa.Array, dict[int, str]]:
    with recorded() as reasons:
        return run_recording(rows, query, at_once)["v"], reasons


def _judged(rows: pa.Table, query: str, plain: str) -> dict[int, str]:
    found, reasons = _tried(rows, query, at_once=1)
    failed = dict(reasons)
    for at in pc.indices_nonzero(pc.is_null(found)).to_pylist():
        number = rows[AT][at].as_py()
        if number not in failed:
            failed |= _alone(rows.slice(at, 1), number, plain)
    return failed


def _alone(row: pa.Table, number: int, plain: str) -> dict[int, str]:
    try:
        run(row, plain)
    except Failed as failure:
        return {number: str(failure)}
    return {}
