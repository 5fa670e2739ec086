"""What type an expression has, told by the engine that will run it.

DuckDB binds the expression over an empty relation of the right types, in the sandbox, and
runs nothing of it. Types that a column of ours cannot have are cast to the nearest that it
can: what is counted in 128 bits becomes a decimal, an instant without a zone is UTC.

>>> from sqlwin.schema import Column
>>> sql, type_ = typed('"a" + 1', (Column("a", pa.int32()),))
>>> sql, str(type_)
('"a" + 1', 'int32')
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.sqltypes import DuckDBPyType

from sqlwin.sandbox.clock import OutOfTime
from sqlwin.sandbox.locked import binding, running
from sqlwin.sandbox.running import Failed, TooLarge, run
from sqlwin.sandbox.tree import VALUES, Forbidden, calls
from sqlwin.schema import TIMESTAMP, Schema, arrow_schema
from sqlwin.sql.depth import MESSAGE

_CASTS: dict[str, tuple[str, pa.DataType]] = {
    "HUGEINT": ("DECIMAL(38, 0)", pa.decimal128(38, 0)),
    "UHUGEINT": ("DECIMAL(38, 0)", pa.decimal128(38, 0)),
    "UTINYINT": ("SMALLINT", pa.int16()),
    "USMALLINT": ("INTEGER", pa.int32()),
    "UINTEGER": ("BIGINT", pa.int64()),
    "UBIGINT": ("DECIMAL(38, 0)", pa.decimal128(38, 0)),
    "TIMESTAMP": ("TIMESTAMPTZ", TIMESTAMP),
    "TIMESTAMP_S": ("TIMESTAMPTZ", TIMESTAMP),
    "TIMESTAMP_MS": ("TIMESTAMPTZ", TIMESTAMP),
    "TIMESTAMP_NS": ("TIMESTAMPTZ", TIMESTAMP),
    "UUID": ("VARCHAR", pa.string()),
    "VARCHAR": ("", pa.string()),
    '"NULL"': ("VARCHAR", pa.string()),
}
_NO_COLUMN = ("INTERVAL", "TIME", "TIME WITH TIME ZONE", "TIME_NS", "BIT", "BIGNUM")
_NO_SUCH_CALL = re.compile(r"No function matches .* argument types '([^(]+)\((.*)\)'\.")
NO_PART = re.compile(r'extract specifier "(.*)" not recognized')
UNREADABLE = "this expression cannot be read"
_CANDIDATES = 4
_NAMES = {
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
    r"\bVARCHAR\b": "STRING",
    r"\bINTEGER(_LITERAL)?\b": "INT",
    r"\bSTRING_LITERAL\b": "STRING",
    r"\A(.*)\[\]\Z": r"ARRAY<\1>",
}
"""Of types, the engine's as patterns, and ours."""


class Untypable(ValueError):
    """The engine's word on an expression it cannot run. legal: what it could."""

    def __init__(self, reason: str, legal: str = "") -> None:
        super().__init__(reason)
        self.legal = legal


@lru_cache(maxsize=4096)
def typed(sql: str, schema: Schema) -> tuple[str, pa.DataType]:
    """The expression, cast where it must be, and its Arrow type. Untypable otherwise."""
    name = type_of(sql, schema)
    try:
        cast, type_ = _column_type(*_known(name))
    except (duckdb.Error, pa.ArrowException):  # a type that has no name, as of an empty tuple
        raise _no_column(name) from None
    if _is_foreign(type_):
        raise _no_column(name)
    return (f"CAST({sql} AS {cast})" if cast else sql), type_


def _no_column(name: str) -> Untypable:
    return Untypable(f"a column cannot be {name}; CAST it, to STRING for instance")


def _is_foreign(type_: pa.DataType) -> bool:
    """Whether Arrow has it, or what it is made of, as an extension of DuckDB's alone."""
    inner = [type_.field(at).type for at in range(type_.num_fields)]
    return isinstance(type_, pa.BaseExtensionType) or any(map(_is_foreign, inner))


@lru_cache(maxsize=4096)
def failure(sql: str, schema: Schema, nulls: bool = True) -> str:
    """Why the expression fails for a row, in the engine's words; none if it does not.

    nulls: of NULLs; else of the value 1 in each type, or what is likest to it.
    """
    fields = arrow_schema(schema)
    try:
        row = {
            field.name: pa.array([None if nulls else _sample(field.type)], field.type)
            for field in fields
        } or {"__none": pa.nulls(1)}
        run(pa.table(row), f"SELECT {sql} AS x FROM rows")
    except Failed as failed:
        return str(failed)
    except (Forbidden, OutOfTime, TooLarge, pa.ArrowException):
        return ""  # each is said where the expression is typed, or runs
    return ""


def _sample(type_: pa.DataType) -> Any:
    if pa.types.is_map(type_):
        return [(_sample(type_.key_type), _sample(type_.item_type))]
    if pa.types.is_struct(type_):
        return {field.name: _sample(field.type) for field in type_}
    if pa.types.is_nested(type_):
        return [_sample(type_.value_type)]
    if pa.types.is_temporal(type_):
        return date(2000, 1, 1) if pa.types.is_date(type_) else datetime(2000, 1, 1)
    if pa.types.is_boolean(type_):
        return True
    text = pa.types.is_string(type_) or pa.types.is_binary(type_)
    return b"1" if text else Decimal(1) if pa.types.is_decimal(type_) else 1


def type_of(sql: str, schema: Schema) -> str:
    """The engine's own name of an expression's type, which need not be a column's.

    What is constant in it is computed, within the bounds of what runs; where that fails,
    the connection without them says better why.
    """
    query = f"SELECT {sql} AS x FROM rows"
    try:
        calls(query, VALUES.intersection(column.name.lower() for column in schema))
        try:
            return _described(running(), query, schema)
        except duckdb.BinderException:
            return _described(binding(), query, schema)
    except duckdb.Error as error:
        raise Untypable(_reason(str(error)), _legal(str(error))) from None
    except Forbidden as forbidden:
        raise Untypable(str(forbidden)) from None


def _described(con: duckdb.DuckDBPyConnection, query: str, schema: Schema) -> str:
    con.register("rows", _empty(schema))
    try:
        ((_, type_, *_),) = con.execute(f"DESCRIBE {query}").fetchall()
        return str(type_)
    finally:
        con.unregister("rows")


@lru_cache(maxsize=256)
def _known(type_name: str) -> tuple[DuckDBPyType, pa.DataType]:
    """A type of the engine by its name, and in Arrow."""
    none = binding().sql(f"SELECT CAST(NULL AS {type_name}) AS x")
    return none.types[0], none.to_arrow_table().schema.field(0).type


def _column_type(told: DuckDBPyType, arrow: pa.DataType) -> tuple[str, pa.DataType]:
    """What to cast to, nothing where it is as it should be, and the type it then has."""
    name = str(told)
    if name in _NO_COLUMN:
        raise _no_column(name)
    if told.id == "list":
        inner = told.children[0][1]
        assert isinstance(inner, DuckDBPyType)
        cast, type_ = _column_type(inner, arrow.value_type)
        return f"{cast}[]" if cast else "", pa.list_(type_)
    cast, named = _CASTS.get(name, ("", None))
    return cast, arrow if named is None else named


def _empty(schema: Schema) -> pa.Table:
    # A relation has at least one column in DuckDB; no expression can name this one.
    table = arrow_schema(schema).empty_table()
    return table if schema else pa.table({"__none": pa.array([], pa.int8())})


def _reason(error: str) -> str:
    """The first line, without the kind of error before it."""
    if "Max expression depth limit" in error:
        return MESSAGE
    if "syntax error at or near" in error:
        return UNREADABLE
    part = NO_PART.search(error)
    if part:
        return no_part(part[1])
    unknown = re.search(
        r'Function with name (\w+) does not exist!(?:\s*Did you mean "(\w+)")?', error
    )
    if unknown:
        near = f"; did you mean {unknown[2]}?" if unknown[2] else ""
        return f"no function is called {unknown[1]}{near}"
    wrong = _NO_SUCH_CALL.search(error)
    if wrong:
        return f"{wrong[1]} does not take {plain_types(wrong[2]) or 'nothing'}"
    return error.splitlines()[0].split(" Error: ", 1)[-1]


def no_part(name: str) -> str:
    return f"{name.upper()} is no unit of time"


def _legal(error: str) -> str:
    """What the function takes, where the error is that it does not take this."""
    wrong = _NO_SUCH_CALL.search(error)
    if wrong is None:
        return ""
    if not wrong[1].isidentifier():
        return f"a CAST of what stands beside {wrong[1]}"
    taken = [_plain(args) for args in re.findall(r"^\t.+?\((.*)\) -> ", error, re.MULTILINE)]
    more = ", …" if len(taken) > _CANDIDATES else ""
    return ", ".join(f"{wrong[1]}({args})" for args in taken[:_CANDIDATES]) + more


def _plain(args: str) -> str:
    """`x TIMESTAMP WITH TIME ZONE, /`: the types alone."""
    given = [arg.rpartition(" ")[2] for arg in plain_types(args).split(", ")]
    return ", ".join(arg for arg in given if arg != "/")


def plain_types(types: str) -> str:
    for theirs, ours in _NAMES.items():
        types = re.sub(theirs, ours, types)
    return types


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
