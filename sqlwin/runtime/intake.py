"""Rows from outside, made into the columns a stream declares.

What comes may be dicts, Arrow, pandas or Polars, a parsed file. A value that is
not of its column's type makes its row malformed: the row goes to the error
stream whole, with what was found and what would be legal, and all others are
taken. A column that is missing is NULL.

>>> from sqlwin.schema import Column
>>> found = conform(pl.DataFrame({"n": ["1", "one", None]}), (Column("n", pa.int64()),))
>>> found.rows["n"].to_list(), [reason for _, reason in found.malformed]
([1, None, None], ["n is 'one', not a BIGINT"])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.errors import InputError
from sqlwin.runtime.formats.nested import DEEPEST, fitted, too_deep
from sqlwin.runtime.formats.values import of_values, python_text
from sqlwin.schema import Schema, polars_type, type_name

Rows = Any
"""A list of dicts, an Arrow table or batch, a pandas or a Polars frame."""
SHOWN = 80
"""Characters of a value that a reason repeats."""
TOO_DEEP = b"\xff: nested too deep"
"""In place of a value that is nested deeper than a line of JSON may be. It is no UTF-8, so that
its row is malformed."""
MISSING = ("NaTType", "NAType")
"""What pandas has for NULL."""


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
    out: dict[str, pl.Series] = {}
    malformed: dict[int, str] = {}
    for column in columns:
        if column.name not in frame.columns:
            out[column.name] = pl.Series([None] * len(frame), dtype=polars_type(column.type))
            continue
        given = frame[column.name]
        if given.dtype == pl.Object:
            given = _column(given.to_list(), column.type)
        out[column.name] = of_values(given, column.type)
        if out[column.name].null_count() == given.null_count():  # a NULL stays one
            continue
        for at in _lost(given, out[column.name], blanks):
            malformed.setdefault(
                at, f"{column.name} is {_shown(given, at)}, not a {type_name(column.type)}"
            )
    return Conformed(pl.DataFrame(out), sorted(malformed.items()))


def _lost(given: pl.Series, taken: pl.Series, blanks: bool) -> list[int]:
    lost = taken.is_null() & given.is_not_null()
    if blanks and given.dtype == pl.String and taken.dtype not in (pl.String, pl.Binary):
        lost &= given.str.strip_chars() != ""
    return lost.arg_true().to_list()


def _shown(given: pl.Series, at: int) -> str:
    """The value, not all of a long one."""
    value = given.to_physical()[at] if isinstance(given.dtype, pl.Datetime) else given[at]
    text = repr(value.to_list() if isinstance(value, pl.Series) else value)
    if text in (repr(TOO_DEEP), repr(repr(TOO_DEEP))):
        return f"nested deeper than {DEEPEST} levels"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text):,} characters)"


def unknown_columns(frame: pl.DataFrame, columns: Schema, stream: str) -> None:
    """InputError where `frame` has a column the stream does not declare."""
    declared = [column.name for column in columns]
    unknown = [name for name in frame.columns if name not in declared]
    if unknown:
        raise InputError(
            f"{stream} has no column {', '.join(unknown)}; it has {', '.join(declared)}"
        )


def _from_arrow(table: pa.Table) -> pl.DataFrame:
    series = [_arrow_series(table.column(at)) for at in range(table.num_columns)]
    named = zip(table.column_names, series, strict=True)
    return pl.DataFrame([column.alias(name) for name, column in named])


def _arrow_series(column: pa.ChunkedArray) -> pl.Series:
    """Texts that are no UTF-8 come as bytes: nothing has looked at them so far."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            column = column.cast(pa.large_binary())
    try:
        return pl.Series(values=column)
    except (pl.exceptions.PolarsError, pa.ArrowException, TypeError, ValueError):
        return pl.Series(values=column.to_pylist(), dtype=pl.Object)  # a type Polars has not


def _from_pandas(rows: Any, columns: Schema) -> pl.DataFrame:
    """Column by column as Arrow; by its Python values where one column mixes them."""
    try:
        return pl.from_pandas(rows)
    except (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        types = {column.name: column.type for column in columns}
        return pl.DataFrame(
            [_column(_none(rows[name]), types.get(name)).alias(str(name)) for name in rows.columns]
        )


def _none(values: Any) -> list[Any]:
    """Of a pandas column: what is missing there is NULL."""
    return [
        None if missing else value for value, missing in zip(values, values.isna(), strict=True)
    ]


def _from_dicts(rows: Sequence[Any], columns: Schema) -> pl.DataFrame:
    """Dicts as columns, each of its declared type where all values fit, else of text."""
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"row {at} is not a dict but {type(row).__name__}")
    names = dict.fromkeys(name for row in rows for name in row)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"a column's name is a str, not {name!r}")
    types = {column.name: column.type for column in columns}
    data = {name: _column([row.get(name) for row in rows], types.get(name)) for name in names}
    if not data:
        return pl.DataFrame({c.name: _column([None] * len(rows), c.type) for c in columns})
    return pl.DataFrame(data)


def _column(values: list[Any], type_: pa.DataType | None) -> pl.Series:
    """Typed where every value is of the type's own kind, bytes where one is no text, else texts."""
    if type_ is not None and pa.types.is_nested(type_):
        made = fitted(values, type_)
        if made.null_count() == values.count(None):
            return made
    if type_ is not None and all(map(_own(type_), values)):
        try:
            return pl.Series(values=values, dtype=polars_type(type_), strict=True)
        except (pl.exceptions.PolarsError, TypeError, OverflowError, UnicodeEncodeError):
            pass
    texts = [_text(value, type_) for value in values]
    if type_ is not None and pa.types.is_binary(type_) and TOO_DEEP in texts:
        raise InputError(f"a BINARY is nested deeper than {DEEPEST} levels")
    if type_ is not None and not (pa.types.is_string(type_) or pa.types.is_binary(type_)):
        texts = [
            repr(text) if isinstance(text, bytes) else text for text in texts
        ]  # no value of it
    if any(isinstance(text, bytes) for text in texts):
        coded = [text.encode(*_SURROGATES) if isinstance(text, str) else text for text in texts]
        return pl.Series(values=coded, dtype=pl.Binary)
    return pl.Series(values=texts, dtype=pl.String)


_SURROGATES = ("utf-8", "surrogatepass")


def _own(type_: pa.DataType) -> Callable[[Any], bool]:
    """Whether Polars may take a Python value for the type as it is; a bool is no number."""
    kinds: list[tuple[Callable[[pa.DataType], bool], tuple[type, ...]]] = [
        (pa.types.is_integer, (int,)),
        (pa.types.is_float64, (float, int)),
        (pa.types.is_string, (str,)),
        (pa.types.is_binary, (bytes,)),
    ]
    own = next((types for holds, types in kinds if holds(type_)), ())
    if pa.types.is_boolean(type_):
        return lambda v: v is None or isinstance(v, bool)
    return lambda v: v is None or (isinstance(v, own) and not isinstance(v, bool))


def _text(value: Any, type_: pa.DataType | None) -> str | bytes | None:
    """Half of a surrogate pair, which Python's texts may have, is bytes: it is no text."""
    if value is None or type(value).__name__ in MISSING:
        return None
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if too_deep(value, DEEPEST - 1):  # the row is a level, too
        return TOO_DEEP
    text = python_text(value, type_)
    return text if text.isascii() or _whole(text) else text.encode(*_SURROGATES)


def _whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
