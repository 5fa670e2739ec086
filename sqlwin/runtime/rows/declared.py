"""Whether a frame has the columns that a stream declares as they stand: nothing is converted then.

>>> import pyarrow as pa
>>> from sqlwin.schema import Column
>>> columns = (Column("n", pa.int64()),)
>>> as_declared(pl.DataFrame({"n": [1]}), columns), as_declared(pl.DataFrame({"n": ["1"]}), columns)
(True, False)
"""

from __future__ import annotations

import polars as pl

from sqlwin.polars_frames import polars_type
from sqlwin.runtime.formats.presented import in_the_calendar
from sqlwin.schema import Schema


def as_declared(frame: pl.DataFrame, columns: Schema) -> bool:
    """Whether each column `fits` its type, and there are no others."""
    same, types, instants = _DECLARED.get(id(columns), ((), {}, []))
    if same is not columns:
        types, instants = _declared(columns)
    if frame.columns != list(types) or frame.dtypes != list(types.values()):
        return False
    given = map(frame.get_column, instants)
    return all(in_the_calendar(each) is each for each in given)


MOST_DECLARED = 1_000
_DECLARED: dict[int, tuple[Schema, dict[str, pl.DataType | None], list[str]]] = {}
"""Of schemas by their identity, for the hash of an Arrow type is that of its text, which takes
longer than all else here. Each is held, so no other has its identity."""


def _declared(columns: Schema) -> tuple[dict[str, pl.DataType | None], list[str]]:
    """The dtype of each column, None of one whose values are looked at; and those of instants."""
    dtypes = {column.name: polars_type(column.type) for column in columns}
    instants = [name for name, dtype in dtypes.items() if isinstance(dtype, pl.Datetime)]
    types = {name: None if dtype.is_nested() else dtype for name, dtype in dtypes.items()}
    if len(_DECLARED) >= MOST_DECLARED:
        _DECLARED.clear()
    _DECLARED[id(columns)] = columns, types, instants
    return types, instants
