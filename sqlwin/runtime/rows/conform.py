"""Rows from outside, converted to the columns a stream declares.

Rows are dicts, Arrow, pandas or Polars, or a parsed file. A value that is
not of its column's type makes its row malformed: the row goes to the error
stream whole, with what was found and what would be legal, and the others are
accepted. A missing column is NULL.

>>> from sqlwin.schema import Column
>>> found = conform(pl.DataFrame({"n": ["1", "one", None]}), (Column("n", pa.int64()),))
>>> found.rows["n"].to_list(), [reason for _, reason in found.malformed]
([1, None, None], ["n is 'one', not a BIGINT"])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.errors import InputError
from sqlwin.kernels.columns import table
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type
from sqlwin.runtime.formats.instants import clocks_of
from sqlwin.runtime.formats.nested import DEEPEST
from sqlwin.runtime.formats.presented import with_years
from sqlwin.runtime.formats.python_values import TOO_DEEP, NotText, column_of, shown
from sqlwin.runtime.formats.values import fits, of_values
from sqlwin.runtime.rows.declared import as_declared
from sqlwin.schema import Schema, a_type

Rows = Any
"""A list of dicts, an Arrow table or batch, a pandas or a Polars frame."""
_REFUSED = (pl.exceptions.PolarsError, pa.ArrowException, TypeError, ValueError)
MOST_SHOWN = 80
"""Characters of a value that a reason repeats."""


@dataclass(frozen=True)
class Conformed:
    """rows: of the declared columns, good and malformed. malformed: (row number, reason)."""

    rows: pl.DataFrame
    malformed: list[tuple[int, str]]


def frame_of(rows: Rows, columns: Schema) -> pl.DataFrame:
    """Any accepted form of rows as a frame, types as they come; InputError for others."""
    if isinstance(rows, pl.DataFrame):
        return rows
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    if isinstance(rows, pa.Table):
        return _from_arrow(rows)
    if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        return _from_dicts(rows, columns)
    if type(rows).__module__.split(".")[0] == "pandas":
        return _from_pandas(rows, columns)
    raise InputError(
        f"rows come as a list of dicts, an Arrow table, a pandas or a Polars frame, "
        f"not as {type(rows).__name__}"
    )


def conform(frame: pl.DataFrame, columns: Schema, blanks: bool = False) -> Conformed:
    """The declared columns of `frame`, cast to their types; others are left out.

    blanks: a text of white space is NULL where the type is not one of text.
    """
    if as_declared(frame, columns):
        return Conformed(frame, [])
    out: dict[str, pl.Series] = {}
    came = dict(zip(frame.columns, frame.get_columns(), strict=True))
    malformed: dict[int, str] = {}
    for column in columns:
        if column.name not in came:
            out[column.name] = pl.Series([None] * len(frame), dtype=polars_type(column.type))
            continue
        given = came[column.name]
        if fits(given, column.type):
            out[column.name] = given
            continue
        with clocks_of(column.zone):
            out[column.name] = of_values(given, column.type)
        if out[column.name].null_count() == given.null_count():  # a NULL stays one
            continue
        for at in _lost(given, out[column.name], blanks):
            malformed.setdefault(
                at, f"{column.name} is {_shown(given, at)}, not {a_type(column.type)}"
            )
    series = [values.alias(name) for name, values in out.items()]
    return Conformed(table(series), sorted(malformed.items()))


def _lost(given: pl.Series, taken: pl.Series, blanks: bool) -> list[int]:
    lost = taken.is_null() & given.is_not_null()
    if blanks and given.dtype == pl.String and taken.dtype not in (pl.String, pl.Binary):
        lost &= given.str.strip_chars() != ""
    return lost.arg_true().to_list()


def _shown(given: pl.Series, at: int) -> str:
    """The value, not all of a long one."""
    value = given.to_physical()[at] if isinstance(given.dtype, pl.Datetime) else given[at]
    text = shown(with_years(value).to_list() if isinstance(value, pl.Series) else value)
    if text in (repr(TOO_DEEP), repr(repr(TOO_DEEP))):
        return f"nested deeper than {DEEPEST} levels"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}… ({len(text):,} characters)"


def unknown_columns(frame: pl.DataFrame, columns: Schema, stream: str) -> None:
    """InputError where `frame` has a column the stream does not declare."""
    declared = [column.name for column in columns]
    unknown = [name for name in frame.columns if name not in declared]
    if unknown:
        raise InputError(
            f"{stream} has no column {', '.join(unknown)}; it has {', '.join(declared)}"
        )


def _once(names: Sequence[Any]) -> None:
    """InputError where a column stands twice: which of them is meant?"""
    twice = [str(name) for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise InputError(f"the column {', '.join(dict.fromkeys(twice))} stands twice in the rows")


def _from_arrow(table: pa.Table) -> pl.DataFrame:
    _once(table.column_names)
    series = [_arrow_series(table.column(at)) for at in range(table.num_columns)]
    named = zip(table.column_names, series, strict=True)
    return pl.DataFrame([column.alias(name) for name, column in named])


def _arrow_series(column: pa.ChunkedArray) -> pl.Series:
    """Texts that are no UTF-8 come as bytes: nothing has looked at them so far."""
    if column.type in (pa.timestamp("s"), pa.timestamp("s", _zone(column.type))):
        return pl.Series(values=_milliseconds(column))
    if pa.types.is_nested(column.type) and "timestamp[s" in str(column.type):
        return pl.Series(values=[_python(value) for value in column], dtype=pl.Object)
    if not _is_whole(column):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
            return pl.Series(values=[_python(value) for value in column], dtype=pl.Object)
        column = column.cast(pa.large_binary())
    try:
        return pl.Series(values=column)
    except (*_REFUSED, pl.exceptions.PanicException):
        return pl.Series(values=column.to_pylist(), dtype=pl.Object)  # a type Polars has not


def _is_whole(column: pa.ChunkedArray) -> bool:
    """Whether all texts are UTF-8, those within lists, structs and dictionaries, too."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_nested)
    if not (pa.types.is_dictionary(column.type) or any(holds(column.type) for holds in kinds)):
        return True
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _python(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return NotText("a text that is not UTF-8")
    except (OverflowError, ValueError):
        return NotText("an instant beyond the calendar")


def _zone(type_: pa.DataType) -> str | None:
    return type_.tz if pa.types.is_timestamp(type_) else None


def _milliseconds(seconds: pa.ChunkedArray) -> pa.ChunkedArray:
    """What Polars would wrap around is as far as it can be, and so in no calendar."""
    most = (2**63 - 1) // 1000
    numbers = seconds.cast(pa.int64())
    near = pc.min_element_wise(
        pc.max_element_wise(numbers, -most, skip_nulls=False), most, skip_nulls=False
    )
    return pc.multiply(near, 1000).cast(pa.timestamp("ms", _zone(seconds.type)))


def _from_pandas(rows: Any, columns: Schema) -> pl.DataFrame:
    """Column by column as Arrow; by its Python values where one column mixes them."""
    _once(list(rows.columns))
    try:
        if any("[s" in str(dtype) for dtype in rows.dtypes):  # seconds, which Polars has not
            return _from_arrow(pa.Table.from_pandas(rows, preserve_index=False))
        return pl.from_pandas(rows)
    except (*_REFUSED, OverflowError):
        types = {column.name: column.type for column in columns}
        made = {str(name): column_of(_none(rows[name]), types.get(name)) for name in rows.columns}
        return pl.DataFrame(made)


def _none(values: Any) -> list[Any]:
    """Of a pandas column: what is missing there is NULL."""
    return [
        None if missing else value for value, missing in zip(values, values.isna(), strict=True)
    ]


def _from_dicts(rows: Sequence[Any], columns: Schema) -> pl.DataFrame:
    """Dicts as columns, each of its declared type where all values fit, else of text."""
    values = _values_alike(rows)
    if values is None:
        values = _values(rows)
    types = {column.name: column.type for column in columns}
    if not values:
        return pl.DataFrame({c.name: column_of([None] * len(rows), c.type) for c in columns})
    return pl.DataFrame(
        [column_of(each, types.get(name)).alias(name) for name, each in values.items()]
    )


def _values_alike(rows: Sequence[Any]) -> dict[str, list[Any]] | None:
    """By name, of dicts that have the same names; None where they are not all such."""
    if set(map(type, rows)) != {dict} or len(set(map(len, rows))) > 1:
        return None
    names = list(rows[0])
    if set(map(type, names)) != {str}:
        return None
    try:
        return {name: list(map(itemgetter(name), rows)) for name in names}
    except KeyError:
        return None


def _values(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """By name, in the order in which names come; NULL where a row has not one."""
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"row {at} is not a dict but {type(row).__name__}")
    names = dict.fromkeys(name for row in rows for name in row)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"a column's name is a str, not {name!r}")
    return {name: [row.get(name) for row in rows] for name in names}
