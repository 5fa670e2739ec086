"""One expression over few rows, as tests of single functions want it.

>>> value("array(1, 2)[0]")
1
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import sqlglot

from sqlwin.functions.core.types import name
from sqlwin.sandbox.running import run
from sqlwin.schema import Column
from sqlwin.sql.expressions.compile.compiled import compiled
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark

ONE = pa.table({"one": [1]})


def values(text: str, rows: pa.Table = ONE) -> list[Any]:
    """Of each row. Failed where one fails, Uncompiled where it has no meaning."""
    made = compiled(sqlglot.parse_one(text, read=SqlwinSpark), _schema(rows))
    return run(rows, f"SELECT {made.sql} AS x FROM rows")["x"].to_pylist()  # type: ignore[no-any-return]


def value(text: str) -> Any:
    (found,) = values(text)
    return found


def type_of(text: str, rows: pa.Table = ONE) -> str:
    return name(compiled(sqlglot.parse_one(text, read=SqlwinSpark), _schema(rows)).type)


def _schema(rows: pa.Table) -> tuple[Column, ...]:
    return tuple(Column(field.name, field.type) for field in rows.schema)
