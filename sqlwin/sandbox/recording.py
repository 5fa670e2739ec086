r"""A connection on which functions say of which rows they raise, and go on with NULL for those.

In the text, a function that is computed in Python has another name, and the number of the row,
`AT`, before its arguments. Where a call raises, it is cut in halves until each part is computed, or
is one row, whose reason is kept: the first one of each row. So is what DuckDB's `error` says; what
else DuckDB raises remains an error.

>>> rows = pa.table({AT: pa.array([7, 8]), "a": ["x", None]})
>>> text = 'SELECT error(\'[ODD] \' || "a") AS x FROM rows'
>>> recording_text(text)
'SELECT __recorded_error("__at", \'[ODD] \' || "a") AS x FROM rows'
>>> _ = recording().register("rows", rows)
>>> with recorded() as reasons:
...     recording().execute(recording_text(text)).fetchall()
[(None,), (None,)]
>>> reasons
{7: '[ODD] x'}
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlwin.functions.core.vectors import PREFIX, computing, create
from sqlwin.sandbox.bounds import MACROS
from sqlwin.sandbox.locked import AS_WRITTEN, MEMORY, locked

if TYPE_CHECKING:
    import duckdb

AT = "__at"
"""The column that numbers the rows."""
_OWN = "__recorded_"
_CALLED = re.compile(
    rf"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\b(?P<name>error|{PREFIX}\w+)\((?P<none>\s*\))?"""
)
"""A text, a name in quotes, or a call of what may raise."""
_local = threading.local()
Compute = Callable[..., pa.Array]


@contextmanager
def recorded() -> Iterator[dict[int, str]]:
    """The reasons of this thread's calls until the end, by the number of the row."""
    _local.reasons = {}
    yield _local.reasons


def recording() -> duckdb.DuckDBPyConnection:
    """This thread's."""
    if not hasattr(_local, "con"):
        con = _local.con = locked(MEMORY, AS_WRITTEN)
        _local.known = set()
        create(con, f"{_OWN}error", _error, [pa.int64(), pa.string()], pa.null())
        # TRY takes no DuckDB function that is volatile, as `error` is, which these macros call
        from duckdb.func import FunctionNullHandling
        from duckdb.sqltypes import VARCHAR

        special = FunctionNullHandling.SPECIAL
        con.create_function("__raise", _raise, [VARCHAR], VARCHAR, null_handling=special)
        con.execute(f'CREATE TEMP MACRO error(m) AS CAST(__raise(m) AS "NULL"); {MACROS}')
    return _local.con  # type: ignore[no-any-return]


def _raise(message: str) -> str:
    raise ValueError(message)


def know(called: Iterable[str]) -> None:
    """Make functions that are computed in Python known to this thread's connection."""
    con = recording()
    for name in called:
        if name.startswith(PREFIX) and name not in _local.known:
            compute, types, result = computing(name)
            create(con, _OWN + name, _recorded(compute, result), [pa.int64(), *types], result)
            _local.known.add(name)


def recording_text(text: str) -> str:
    """The same, of the functions that say of which rows they raise."""
    return _CALLED.sub(_renamed, text)


def _renamed(found: re.Match[str]) -> str:
    if found["name"] is None:
        return found[0]
    return f'{_OWN}{found["name"]}("{AT}"' + (")" if found["none"] else ", ")


def _recorded(compute: Compute, result: pa.DataType) -> Compute:
    def made(*arrays: pa.Array) -> pa.Array:
        at, *own = arrays
        return pa.concat_arrays(list(_parts(compute, own, at, result)))

    return made


def _parts(
    compute: Compute, arrays: list[pa.Array], at: pa.Array, result: pa.DataType
) -> Iterator[pa.Array]:
    try:
        yield compute(*arrays)
        return
    except Exception as failure:  # noqa: BLE001  as DuckDB takes it
        if len(at) <= 1:
            _keep(at, f"Python exception occurred while executing the UDF: {_named(failure)}")
            yield pa.nulls(len(at), result)
            return
    half = len(at) // 2
    for start, size in ((0, half), (half, len(at) - half)):
        cut = [array.slice(start, size) for array in arrays]
        yield from _parts(compute, cut, at.slice(start, size), result)


def _named(failure: Exception) -> str:
    return f"{type(failure).__name__}: {failure}"


def _keep(at: pa.Array, error: str) -> None:
    from sqlwin.sandbox.reasons import reason  # by need

    for number in at.to_pylist():
        _local.reasons.setdefault(number, reason(error))


def _error(at: pa.Array, messages: pa.Array) -> pa.Array:
    """DuckDB's: NULL where there is no message."""
    from sqlwin.sandbox.reasons import reason  # by need

    for message, number in zip(messages, at, strict=True):
        if message.is_valid:
            _local.reasons.setdefault(number.as_py(), reason(f"Invalid Input Error: {message}"))
    return pa.nulls(len(messages))
