"""A sink of one's own: a Python function of (Arrow table, number of the batch).

It is called for every batch, also one without rows: a batch that runs again after a crash has the
same number and may have other rows, or none, so a function that replaces what it has under a
number delivers each batch once.

>>> kept = {}
>>> sink = FunctionSink("totals", lambda rows, batch: kept.update({batch: rows}))
>>> import polars as pl
>>> sink.write(7, pl.DataFrame({"n": [1]}))
>>> sink.write(7, pl.DataFrame({"n": [2]}))
>>> kept[7].to_pylist()
[{'n': 2}]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlwin.errors import InputError, QueryError, RunError, SqlwinError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.names import nearest

if TYPE_CHECKING:
    import polars as pl

TakeBatch = Callable[[pa.Table, int], object]
"""Of the rows of a batch, and its number."""
PYTHON = "python"
"""The connector's name."""


@dataclass(frozen=True)
class FunctionSink:
    """name: for messages."""

    name: str
    function: TakeBatch

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        try:
            self.function(rows.to_arrow(), batch)
        except SqlwinError:
            raise
        except Exception as failure:
            what = f"{type(failure).__name__}: {failure}"
            message = f"sink {self.name} failed in batch {batch}: {what}"
            raise RunError(f"{message}; the last commit stands") from failure


def function_sink(name: str, functions: Mapping[str, TakeBatch], writer: int) -> FunctionSink:
    """writer: the number of this one among those that write to the same sink, from 1. QueryError
    where no function is given, or where it would get two tables of one number."""
    found = {known.lower(): function for known, function in functions.items()}.get(name.lower())
    if found is None:
        message = f"sink {name} is a Python function, and none is given"
        raise QueryError(message, legal=f"sinks={{{name!r}: function}}, of (Arrow table, batch)")
    if writer > 1:
        message = f"two queries write to sink {name}, whose function would get two tables a batch"
        raise QueryError(message, legal="a sink each")
    return FunctionSink(name, found)


def check_functions(functions: Mapping[str, TakeBatch], known: list[str]) -> None:
    """known: names of the sinks that are functions. InputError for a function of no sink."""
    lower = [name.lower() for name in known]
    for name, function in functions.items():
        if name.lower() not in lower:
            near = nearest(name, known)
            message = f"no query writes to a sink {name} with connector = '{PYTHON}'{near}"
            raise InputError(f"{message}; there are: {', '.join(known) or 'none'}")
        if not callable(function):
            raise InputError(f"sink {name} is a function of (Arrow table, batch), not {function!r}")
