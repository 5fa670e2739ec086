"""What a query gives: rows as an Arrow table, with what a notebook and a DataFrame library ask for.

`Results` stands in for the `pyarrow.Table` that it holds, which cannot be subclassed: Arrow's own
code makes its tables. It passes on the table's attributes, `isinstance` takes it for one, and it
has the protocols by which Polars, pandas, NumPy, DuckDB and `pyarrow.table` read a table: Arrow's
PyCapsule interface, `__array__` and `__dataframe__`. Code that is compiled against Arrow's type,
such as `pyarrow.parquet.write_table` and `pyarrow.concat_tables`, refuses it with a TypeError, and
takes `arrow()`.

>>> found = Results(pa.table({"product": ["tea"], "total": [5]}))
>>> found.to_pylist(), found["total"].to_pylist(), len(found)
([{'product': 'tea', 'total': 5}], [5], 1)
>>> found.pl().rows(), found.arrow().num_rows, list(found.df().columns)
([('tea', 5)], 1, ['product', 'total'])
>>> pl.DataFrame(found).columns, isinstance(found, pa.Table), type(found).__name__
(['product', 'total'], True, 'Results')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
from polars.exceptions import DuplicateError

from sqlwin.instants import format_instant
from sqlwin.runtime.rows import html

if TYPE_CHECKING:
    import pandas as pd

ROW_KEY = "row_key"
"""The identity of a result, a column of each; it is in the data, and not in what is looked at."""


class Results(pa.lib._Weakrefable):  # type: ignore[misc] # Arrow has no types
    """Rows of one batch, of a table or of the error stream; they never change.

    The base class is that of all of Arrow's; by it Polars knows that a check for a table pays.
    """

    __slots__ = ("_table",)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """As `isinstance` sees it."""
        table: type = pa.Table
        return table

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table; no copy."""
        return self._table

    def pl(self) -> pl.DataFrame:
        """The rows as a Polars frame; no copy."""
        return pl.DataFrame(pl.from_arrow(self._table))

    def df(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        return self._table.to_pandas()

    def equals(self, other: Results | pa.Table, **options: bool) -> bool:
        """As `pyarrow.Table.equals`."""
        same: bool = self._table.equals(_arrow(other), **options)
        return same

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols are those declared here
            raise AttributeError(name)
        return getattr(self._table, name)

    def __getitem__(self, at: str | int | slice) -> Any:
        return self._table[at]

    def __len__(self) -> int:
        rows: int = self._table.num_rows
        return rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, pa.Table) and self.equals(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Results], tuple[pa.Table]]:
        return Results, (self._table,)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._table, dtype=dtype)  # a copy in any case

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self._table.__dataframe__(nan_as_null=nan_as_null, allow_copy=allow_copy)

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *dir(self._table)})

    def __repr__(self) -> str:
        try:
            return str(self.pl())
        except DuplicateError:  # of names
            return str(self._table)

    def _repr_html_(self) -> str:
        """Without `row_key`, as on a terminal: it repeats the keys and the window."""
        shown = self._table[: html.MOST_ROWS]
        if ROW_KEY in shown.column_names:  # no column of a select list is called so
            shown = shown.drop_columns([ROW_KEY])
        columns = [map(_value, column) for column in shown.columns]
        rows = zip(*columns, strict=True) if columns else ()
        return html.table(shown.column_names, list(rows), self._table.num_rows)


def _arrow(rows: Results | pa.Table) -> pa.Table:
    return rows.arrow() if type(rows) is Results else rows


def _value(cell: pa.Scalar) -> object:
    """Python's, or a text where Python has none: its instants end with the year 9999."""
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        if pa.types.is_timestamp(cell.type):
            micros = cell.cast(pa.timestamp("us", cell.type.tz)).value
            shown = format_instant(micros).replace("T", " ")
            return shown.removesuffix("Z") if cell.type.tz is None else shown
        plain = pa.types.is_date(cell.type)
        return cell.cast(pa.string()).as_py() if plain else "out of range of Python"


class PlanText(str):
    """EXPLAIN of a query: a text, which a notebook shows as a page.

    >>> PlanText("Operator: aggregator")._repr_html_().count("<b>Operator:</b>")
    1
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html.plan(self)
