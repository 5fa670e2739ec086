"""Which rows an expression fails for, and why: in one call for many rows.

TRY of DuckDB goes row by row where some of them fail, and is NULL for those; it takes no function
that is volatile, as DuckDB's own `error` is, so here a function of Python stands for it. Each row
found is run by itself, by a statement that was prepared for all of them: what it raises is the
reason.

>>> rows = pa.table({AT: [7, 8, 9], "a": ["1", "x", "y"]})
>>> failing(rows, ('CAST("a" AS INTEGER)',))
{8: "[CAST_INVALID_INPUT] Could not convert string 'x' ...", 9: "... 'y' to INT32 ..."}
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from sqlwin.sandbox.clock import OutOfTime, watched
from sqlwin.sandbox.locked import know, running, trying
from sqlwin.sandbox.reasons import reason
from sqlwin.sandbox.running import Failed, TooLarge, run, seconds
from sqlwin.sandbox.tree import calls_over

AT = "__at"
"""The column that numbers the rows."""


def failing(
    rows: pa.Table, computed: Sequence[str], where: str | None = None
) -> dict[int, str] | None:
    """The number of each row that fails, with the reason. None where it cannot be said: a row
    fails beside others and not by itself, or it takes too long.

    computed: what is computed of each row for which `where` is true."""
    fields = ", ".join(f"'c{at}': {text}" for at, text in enumerate(computed))
    chosen = "" if where is None else f"WHEN {where} "
    whole = f"CASE {chosen or 'WHEN true '}THEN {{'c': 0, {fields}}} END"
    try:
        found = run(rows, f"SELECT TRY({{'v': {whole}}}) AS v FROM rows", trying)["v"]
        failed = rows.filter(pc.is_null(found))
        return dict(_reasons(failed, f"SELECT {whole} AS v FROM __some"))
    except (Failed, TooLarge, OutOfTime, _Succeeded):
        return None


class _Succeeded(Exception):
    """A row does not fail by itself."""


def _reasons(rows: pa.Table, query: str) -> list[tuple[int, str]]:
    con = running()
    know(con, calls_over(query.replace("__some", "rows"), rows.column_names))
    con.register("rows", rows)
    try:
        con.execute("CREATE OR REPLACE TEMP TABLE __some AS SELECT * FROM rows")
    finally:
        con.unregister("rows")
    try:
        con.execute(f'PREPARE __one AS {query} WHERE "{AT}" = $1')
        return [(at, _reason(con, at)) for at in rows[AT].to_pylist()]
    finally:
        con.execute("DEALLOCATE __one; DROP TABLE __some")


def _reason(con: duckdb.DuckDBPyConnection, at: int) -> str:
    try:
        with watched(con, seconds(1)):
            con.execute(f"EXECUTE __one({at})").to_arrow_reader(1).read_all()  # type: ignore[union-attr]
    except (duckdb.Error, OSError, pa.ArrowException) as failure:
        return reason(str(failure))
    raise _Succeeded
