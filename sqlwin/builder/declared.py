"""Streams declared in Python, with and without a name.

>>> stream_of(pa.schema([("value", pa.int64())]), delay="5 seconds").delay
5000000
>>> named_stream("orders", {"product": "TEXTS"})
Traceback (most recent call last):
sqlwin.errors.InputError: TEXTS, of product, is no type of a column
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from sqlwin.builder.query import QueryBuilder, source
from sqlwin.builder.text import length_of
from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.schema import RESERVED, Column, type_of


def stream_of(
    schema: pa.Schema, ts: str | None = None, delay: str = "0 seconds", offset: str | None = None
) -> Stream:
    """See `sqlwin.stream`."""
    columns = tuple(Column(field.name, field.type) for field in schema)
    _check_names(schema.names, (ts, offset))
    return Stream("", columns, ts, length_of(delay), offset=offset)


def named_stream(
    name: str,
    schema: pa.Schema | Mapping[str, str],
    ts: str | None = None,
    delay: str = "0 seconds",
    offset: str | None = None,
    static: bool = False,
) -> QueryBuilder:
    """See `sqlwin.stream`."""
    typed = schema if isinstance(schema, pa.Schema) else _typed(schema)
    return source(name, stream_of(typed, ts, delay, offset), static)


def _typed(columns: Mapping[str, str]) -> pa.Schema:
    return pa.schema([(name, _type(name, text)) for name, text in columns.items()])


def _type(name: str, text: str) -> pa.DataType:
    found = type_of(text)
    if found is None:
        raise InputError(f"{text}, of {name}, is no type of a column")
    return found


def _check_names(names: Sequence[str], used: Iterable[str | None]) -> None:
    for name in names:
        if name.startswith(RESERVED):
            raise InputError(f"names that begin with {RESERVED} are sqlwin's own: {name}")
        if [other.lower() for other in names].count(name.lower()) > 1:
            raise InputError(f"the column {name} is there twice; case does not distinguish them")
    for missing in used:
        if missing is not None and missing not in names:
            raise InputError(f"no column {missing!r}; there are {', '.join(names)}")
