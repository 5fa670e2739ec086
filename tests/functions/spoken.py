"""One expression over one row, as text: what the tests of single functions compare.

>>> spoken("i / 2")
('double', '3.5')
>>> spoken("i / 0")
('raises', 'DIVIDE_BY_ZERO')
>>> spoken("i + array(1)")[0]
'refused'
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import sqlglot

from sqlwin.functions.core.types import name
from sqlwin.sandbox.running import Failed, run
from sqlwin.schema import Column
from sqlwin.sql.expressions.compile.compiled import compiled
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark

ROW = pa.table(
    {
        "t": pa.array([-128], pa.int8()),
        "i": pa.array([7], pa.int32()),
        "n": pa.array([None], pa.int32()),
        "l": pa.array([-(2**63)], pa.int64()),
        "f": pa.array([0.1], pa.float32()),
        "d": pa.array([2.5]),
        "nan": pa.array([float("nan")]),
        "p": pa.array([Decimal("12.50")], pa.decimal128(10, 2)),
        "p38": pa.array([Decimal(10**38 - 1)], pa.decimal128(38, 0)),
        "s": pa.array(["abc"]),
        "b": pa.array([False]),
        "a": pa.array([[1, None]], pa.list_(pa.int32())),
    }
)
_SCHEMA = tuple(Column(field.name, field.type) for field in ROW.schema)
_CLASS = re.compile(r"\[([A-Z_0-9]+)")


def spoken(expression: str) -> tuple[str, str]:
    """Its type and its value; `raises` and Spark's error class; or `refused` and the reason."""
    try:
        made = compiled(sqlglot.parse_one(expression, read=SqlwinSpark), _SCHEMA)
    except Uncompiled as refusal:
        return "refused", str(refusal)
    try:
        value = run(ROW, f"SELECT {made.sql} AS x FROM rows")["x"][0].as_py()
    except Failed as failure:
        found = _CLASS.search(str(failure))
        return "raises", found[1] if found is not None else str(failure)
    return name(made.type), _text(value)


def _text(value: Any) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def table(text: str) -> list[tuple[str, str, str]]:
    """Lines of `expression | type | value`."""
    lines = (f"{line} ".rsplit(" | ", 2) for line in text.strip().splitlines())
    return [(e.strip(), type_.strip(), value.strip()) for e, type_, value in lines]
