"""What a query gives: rows as an Arrow table, with what a notebook and a DataFrame library ask for.

`Results` stands in for the `pyarrow.Table` that it holds, which cannot be subclassed: Arrow's own
code makes its tables. It has every attribute of the table, `isinstance` takes it for one, as of any
transparent proxy, and it has Arrow's PyCapsule interface. So Polars, pandas, DuckDB and
`pyarrow.table` read it as they read the table, without a copy. Only functions that are compiled
against the type refuse it, with a TypeError: `pyarrow.parquet.write_table`,
`pyarrow.concat_tables`. These take `arrow()`.

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

import polars as pl
import pyarrow as pa

from sqlwin.runtime.rows import html

if TYPE_CHECKING:
    import pandas as pd


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

    def __repr__(self) -> str:
        return str(self.pl())

    def _repr_html_(self) -> str:
        shown = self._table[: html.MOST_ROWS].to_pylist()
        return html.table(self._table.column_names, shown, self._table.num_rows)


def _arrow(rows: Results | pa.Table) -> pa.Table:
    return rows.arrow() if type(rows) is Results else rows


class PlanText(str):
    """EXPLAIN of a query: a text, which a notebook shows as a page.

    >>> PlanText("Operator: aggregator")._repr_html_().count("<b>Operator:</b>")
    1
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html.plan(self)
