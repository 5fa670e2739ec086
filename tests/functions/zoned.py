"""Expressions in a session of New York, as the table of functions computes them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import sqlglot

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.types import STRING, name
from sqlwin.sandbox.running import Failed, run
from sqlwin.sql.expressions.compile.compiled import compiled
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark

ROW = pa.table({"x": [1]})
TOGETHER = 32
"""In one query, for its plan takes longest."""
REFUSED = ("!", "")


def answers(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Of each its type and the text of its value; REFUSED where it has none, or fails."""
    for at in range(0, len(texts), TOGETHER):
        made = [_compiled(text) for text in texts[at : at + TOGETHER]]
        values = _values([each[1] for each in made if each is not None])
        for each in made:
            value = None if each is None else next(values)
            yield REFUSED if each is None or value is None else (each[0], value)


def _compiled(text: str) -> tuple[str, str] | None:
    """Its type, and what gives its text."""
    try:
        made = compiled(sqlglot.parse_one(text, read=SqlwinSpark), ())
    except Uncompiled:
        return None
    shown = made if made.type == STRING else cast(made, STRING)
    return name(made.type), shown.sql


def _values(scalars: list[str]) -> Iterator[str | None]:
    """In one query; where that fails, each by itself. None: it fails."""
    if not scalars:
        return
    columns = ", ".join(f"{scalar} AS x{at}" for at, scalar in enumerate(scalars))
    try:
        (row,) = run(ROW, f"SELECT {columns} FROM rows").to_pylist()
    except Failed:
        if len(scalars) == 1:
            yield None
        else:
            for scalar in scalars:
                yield from _values([scalar])
    else:
        yield from ("NULL" if value is None else value for value in row.values())


def recorded(file: str) -> list[list[str]]:
    """An expression, its type and its text of each line."""
    text = (Path(__file__).parent / file).read_text()
    return list(csv.reader(text.splitlines(), delimiter="|"))
