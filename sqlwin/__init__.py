"""Streaming window SQL for PySpark: OVER windows, hops and corrections for late rows.

    import sqlwin
    q = sqlwin.query("CREATE STREAM …; SELECT …")
    q.push("orders", rows)
    q.drain()
    q.table()

Spark is not imported before `sqlwin.spark` is.
"""

from sqlwin.api import explain, query, stream
from sqlwin.errors import InputError, QueryError, RunError, SqlwinError

__version__ = "0.1.0"
__all__ = [
    "InputError",
    "QueryError",
    "RunError",
    "SqlwinError",
    "explain",
    "query",
    "stream",
]
