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
    from IPython.core.interactiveshell import InteractiveShell

    from sqlwin.aggregates.python import aggregate
    from sqlwin.api import explain, query, run, stream
    from sqlwin.builder.over import over
    from sqlwin.builder.query import QueryBuilder
    from sqlwin.builder.windows import cumulate, hop, session, sliding, tumble
    from sqlwin.errors import (
        FunctionError,
        Incomplete,
        InputDisabled,
        InputError,
        QueryError,
        RunError,
        SqlwinError,
    )
    from sqlwin.python_functions.declared import udf, udtf
    from sqlwin.runtime.rows.results import Results

__version__ = "0.2.0"
__all__ = [
    "FunctionError",
    "Incomplete",
    "InputDisabled",
    "InputError",
    "QueryBuilder",
    "QueryError",
    "Results",
    "RunError",
    "SqlwinError",
    "aggregate",
    "cumulate",
    "explain",
    "hop",
    "over",
    "query",
    "run",
    "session",
    "sliding",
    "stream",
    "tumble",
    "udf",
    "udtf",
]
_WINDOWS = ("cumulate", "hop", "session", "sliding", "tumble")
_HOMES = {
    "QueryBuilder": "sqlwin.builder.query",
    "Results": "sqlwin.runtime.rows.results",
    "aggregate": "sqlwin.aggregates.python",
    "over": "sqlwin.builder.over",
    "udf": "sqlwin.python_functions.declared",
    "udtf": "sqlwin.python_functions.declared",
    **dict.fromkeys(_WINDOWS, "sqlwin.builder.windows"),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name, "sqlwin.api" if name.islower() else "sqlwin.errors")
    return getattr(import_module(home), name)


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """What `%load_ext sqlwin` calls: the magics `%sqlwin` and `%%sqlwin`."""
    import_module("sqlwin.magic").load(shell)
