"""Expressions in a session of New York, as the table of functions computes them."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import sqlglot

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.types import STRING, name
from sqlwin.sandbox.running import run
from sqlwin.sql.expressions.compile.compiled import compiled
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark

ROW = pa.table({"x": [1]})


def computed(text: str) -> tuple[str, str]:
    """Its type and the text of its value."""
    made = compiled(sqlglot.parse_one(text, read=SqlwinSpark), ())
    shown = made if made.type == STRING else cast(made, STRING)
    value = run(ROW, f"SELECT {shown.sql} AS x FROM rows")["x"][0].as_py()
    return name(made.type), "NULL" if value is None else value


def recorded(file: str) -> list[list[str]]:
    """An expression, its type and its text of each line."""
    text = (Path(__file__).parent / file).read_text()
    return list(csv.reader(text.splitlines(), delimiter="|"))
