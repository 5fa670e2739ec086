"""Streaming window SQL for PySpark: OVER windows, hops and corrections for late rows.

    import sqlwin
    q = sqlwin.query("CREATE STREAM …; SELECT …")
    q.push("orders", rows)
    q.drain()
    q.table()

Spark is not imported before `sqlwin.spark` is. Nor is anything else before it is
asked for: the workers of a cluster import this package and need no parser.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlwin.api import explain, query, run, stream
    from sqlwin.errors import (
        FunctionError,
        Incomplete,
        InputDisabled,
        InputError,
        QueryError,
        RunError,
        SqlwinError,
    )
    from sqlwin.python_aggregates import aggregate

__version__ = "0.2.0"
__all__ = [
    "FunctionError",
    "Incomplete",
    "InputDisabled",
    "InputError",
    "QueryError",
    "RunError",
    "SqlwinError",
    "aggregate",
    "explain",
    "query",
    "run",
    "stream",
]
_HOMES = {"aggregate": "sqlwin.python_aggregates"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name, "sqlwin.api" if name.islower() else "sqlwin.errors")
    return getattr(import_module(home), name)
