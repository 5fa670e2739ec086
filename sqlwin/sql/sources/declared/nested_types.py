"""Types of columns that hold others: arrays, maps and structs, as each engine spells them.

    ARRAY<INT>, ARRAY(INT), INT[], INT ARRAY        Spark, Trino, DuckDB, Flink
    MAP<STRING, INT>, MAP(STRING, INT)
    STRUCT<a: INT, b STRING>, STRUCT(a INT), ROW<a INT, b STRING>, ROW(a INT)

What stands behind a type within, NOT NULL or COMMENT, means nothing: any value may be NULL.

>>> str(_type("MAP<STRING, ROW<a INT NOT NULL, b INT[]>>"))
'map<string, struct<a: int32, b: list<item: int32>>>'
"""

from __future__ import annotations

import re

import pyarrow as pa

from sqlwin.errors import QueryError
from sqlwin.schema import split_types, type_named, type_of
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import QUOTED

_TAIL = re.compile(rf"\s+(NOT\s+NULL|NULL|COMMENT\s+(?:{QUOTED}))\s*\Z", re.IGNORECASE)
_HOLDS = re.compile(
    r"\s*(ARRAY|MAP|STRUCT|ROW|MULTISET)\s*(?:<(.*)>|\((.*)\))\s*", re.IGNORECASE | re.DOTALL
)
_LIST = re.compile(r"(.*\S)\s*(?:\[\s*\d*\s*\]|\bARRAY)\s*", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r"\s*(?:`([^`]+)`|\"([^\"]+)\"|(\w+))(?:\s*:\s*|\s+)(.*)", re.DOTALL)
_TIME = re.compile(
    r"\s*TIMESTAMP(_LTZ|TZ)?\s*(\(\s*\d\s*\))?\s*(WITH\s+(LOCAL\s+)?TIME\s+ZONE)?\s*", re.IGNORECASE
)
LEGAL = "ARRAY<INT>, MAP<STRING, INT>, STRUCT<a: INT, b: STRING>, INT[]"


def nested_type(written: ast.Run) -> pa.DataType | None:
    """None where it is no such type. QueryError where it is one of something unknown."""
    text = _bare(written.original)
    if not (_HOLDS.fullmatch(text) or _LIST.fullmatch(text)):
        return None
    found = _type(text)
    if found is None:
        shown = " ".join(text.split())
        raise QueryError(f"{shown} is not a type of a column", written.span, legal=LEGAL)
    return found


def _bare(text: str) -> str:
    while tail := _TAIL.search(text):
        text = text[: tail.start()]
    return text


def _type(text: str) -> pa.DataType | None:
    text = _bare(text)
    holds = _HOLDS.fullmatch(text)
    if holds is not None:
        return _of(holds[1].upper(), split_types(holds[2] if holds[2] is not None else holds[3]))
    listed = _LIST.fullmatch(text)
    if listed is not None:
        return _of("ARRAY", [listed[1]])
    return type_named("TIMESTAMP") if _TIME.fullmatch(text) else type_of(text)


def _of(name: str, parts: list[str]) -> pa.DataType | None:
    if name in ("STRUCT", "ROW"):
        return _struct(parts)
    types = [_type(part) for part in parts]
    if None in types:
        return None
    if name == "ARRAY" and len(types) == 1:
        return pa.list_(types[0])
    if name == "MAP" and len(types) == 2 and not pa.types.is_map(types[0]):
        return pa.map_(*types)
    return None


def _struct(parts: list[str]) -> pa.DataType | None:
    fields = [_FIELD.fullmatch(part) for part in parts]
    if None in fields:
        return None
    named = [(f[1] or f[2] or f[3], _type(f[4])) for f in fields if f is not None]
    names = {name.lower() for name, _ in named}
    whole = len(names) == len(named) and all(type_ is not None for _, type_ in named)
    return pa.struct(named) if whole else None
