"""Connections to DuckDB that reach nothing but the tables they are given.

No files, network or extensions; no variables of Python as tables; nothing spills to disk;
and none of it can be set otherwise, since the configuration is locked. Registering Arrow
tables goes on working.

>>> import pyarrow as pa
>>> con = locked()
>>> _ = con.register("rows", pa.table({"a": [1, 2]}))
>>> con.execute("SELECT SUM(a) FROM rows").fetchall()
[(3,)]
>>> con.execute("SELECT * FROM read_text('/etc/hostname')")
Traceback (most recent call last):
_duckdb.PermissionException: Permission Error: Cannot access file "/etc/hostname" - file system ...
>>> con.execute("SET enable_external_access = true")
Traceback (most recent call last):
_duckdb.InvalidInputException: Invalid Input Error: ... the configuration has been locked
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlwin.functions.core.vectors import PREFIX, register
from sqlwin.sandbox.bounds import MACROS

if TYPE_CHECKING:
    import duckdb

MEMORY = "1GB"
"""Of what DuckDB allocates for the scalars of a thread. Values are limited by `bounds`."""
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "enable_external_access": False,
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "python_scan_all_frames": False,
    "temp_directory": "",
}
AS_WRITTEN = "SET disabled_optimizers = 'expression_rewriter';"
"""DuckDB makes `n > -1` of `n + 1 > 0`, which does not overflow where that does."""
_local = threading.local()


def locked(memory: str | None = None, setup: str = "") -> duckdb.DuckDBPyConnection:
    """A new connection, in UTC. memory: DuckDB's limit; None: its own default.

    setup: statements to run before the configuration is locked.
    """
    import duckdb

    con = duckdb.connect(config=_CONFIG | ({} if memory is None else {"memory_limit": memory}))
    con.sql(f"SET TimeZone = 'UTC'; {setup} SET lock_configuration = true")
    return con


def know(con: duckdb.DuckDBPyConnection, called: Iterable[str]) -> None:
    """Make functions that are computed in Python known to this thread's connection `con`."""
    known: set[str] = _local.__dict__.setdefault("known", set())
    for name in called:
        if name.startswith(PREFIX) and name not in known:
            register(con, name)
            known.add(name)


def binding() -> duckdb.DuckDBPyConnection:
    """This thread's connection for looking at expressions: nothing is run on it."""
    if not hasattr(_local, "binding"):
        _local.binding = locked(MEMORY)
    return _local.binding  # type: ignore[no-any-return]


def running() -> duckdb.DuckDBPyConnection:
    """This thread's connection for rows: functions that make long values have a limit."""
    if not hasattr(_local, "running"):
        _local.running = locked(MEMORY, MACROS + AS_WRITTEN)
    return _local.running  # type: ignore[no-any-return]
