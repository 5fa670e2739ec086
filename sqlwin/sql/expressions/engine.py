"""What the engine that computes expressions says of them and of its own functions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pyarrow as pa

from sqlwin.sandbox.clock import OutOfTime
from sqlwin.sandbox.locked import binding
from sqlwin.sandbox.running import Failed, TooLarge, run
from sqlwin.sandbox.tree import Forbidden
from sqlwin.schema import Schema, arrow_schema
from sqlwin.sql.text.depth import MESSAGE

TOO_LARGE = "this expression is too large: some 100,000 operators at most"
_SHALLOW = 4000
"""Characters of a text that cannot be too deep for the engine: an operator takes some."""


@lru_cache(maxsize=4096)
def failure(sql: str, schema: Schema) -> str:
    """Why the expression fails for a row of NULLs; nothing if it does not."""
    fields = arrow_schema(schema)
    row = {field.name: pa.nulls(1, field.type) for field in fields} or {"__none": pa.nulls(1)}
    try:
        run(pa.table(row), f"SELECT {sql} AS x FROM rows")
    except Failed as failed:
        return str(failed)
    except (Forbidden, OutOfTime, TooLarge):
        return ""  # it is said where the expression runs
    return ""


def unreadable(sql: str) -> str:
    """Why the engine cannot read a text: it is too deep, or too large; nothing if it can."""
    if len(sql) < _SHALLOW:
        return ""
    import duckdb

    query = f"SELECT {sql} AS x FROM rows"
    try:
        ((tree,),) = binding().execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    except duckdb.OutOfMemoryException:
        return TOO_LARGE
    deep = tree.startswith('{"error":true') and "Max expression depth" in tree
    return MESSAGE if deep else ""


def constant(sql: str) -> Any:
    """The value of a text over no columns; None where it is NULL or fails."""
    found = _computed(sql)
    return None if found is None else found.as_py()


def is_null(sql: str) -> bool:
    """Whether a text over no columns is NULL, and does not fail."""
    found = _computed(sql)
    return found is not None and not found.is_valid


def _computed(sql: str) -> pa.Scalar | None:
    """None where it fails."""
    try:
        return run(pa.table({"__none": pa.nulls(1)}), f"SELECT {sql} AS x FROM rows")["x"][0]
    except (Failed, Forbidden, OutOfTime, TooLarge):
        return None


@lru_cache(maxsize=1)
def aggregate_names() -> frozenset[str]:
    """Functions that the engine has as aggregates and not as scalars."""
    query = """
        SELECT function_name FROM duckdb_functions() GROUP BY function_name
        HAVING bool_and(function_type = 'aggregate')"""
    return frozenset(str(name) for (name,) in binding().sql(query).fetchall())


@lru_cache(maxsize=1)
def function_names() -> frozenset[str]:
    """Every function of the engine."""
    found = binding().sql("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    return frozenset(str(name) for (name,) in found)
