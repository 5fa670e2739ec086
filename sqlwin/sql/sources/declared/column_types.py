"""Types of declared columns: from the words behind a name to an Arrow type.

Invariant: what is no type is refused with what was probably meant: a watermark, a column behind a
missing comma, another database's type.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

import pyarrow as pa

from sqlwin.errors import QueryError
from sqlwin.functions.elsewhere import TYPES
from sqlwin.schema import type_named, type_names
from sqlwin.sql.relations.relation import nearest
from sqlwin.sql.sources.declared.nested_types import nested_type
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import QUOTED

_TYPE = re.compile(r"(\w+)\s*(?:\(\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?\))?\s*(.*)\Z", re.DOTALL)
_ZONE = re.compile(r"WITH\s+(LOCAL\s+)?TIME\s+ZONE\b", re.IGNORECASE)
_TAIL = re.compile(
    rf"(PRECISION|NOT\s+NULL|NULL|PRIMARY\s+KEY|COMMENT\s+(?:{QUOTED})|\s)*\Z", re.IGNORECASE
)


def column_type(column: ast.ColumnDef) -> pa.DataType:
    assert column.type is not None
    written = column.type
    nested = nested_type(written)
    if nested is not None:
        return nested
    read = _TYPE.match(written.original)
    legal = ", ".join(type_names())
    if read is None:
        raise QueryError(f"{written.original} is not a type", written.span, legal=legal)
    name, precision, scale, rest = read.groups()
    zoned = _ZONE.match(rest) if name.upper() == "TIMESTAMP" else None
    found = type_named(name)
    if found is not None and pa.types.is_decimal(found) and precision:
        if not (1 <= int(precision) <= 38 and int(scale or 0) <= int(precision)):
            message = f"{' '.join(written.original.split())} has no such precision and scale"
            raise QueryError(message, written.span, legal="DECIMAL(p, s), 1 <= p <= 38, s <= p")
        found = pa.decimal128(int(precision), int(scale or 0))
    if found is None or not _TAIL.match(rest[zoned.end() :] if zoned else rest):
        raise _no_type(column, written, name, legal)
    return found


def _no_type(column: ast.ColumnDef, written: ast.Run, name: str, legal: str) -> QueryError:
    """What follows a column's name is no type: a misspelt one, or something else was meant."""
    shown = " ".join(written.original.split())
    if get_close_matches(column.name.text.upper(), ["WATERMARK"], 1):
        message = f"{column.name.text} {shown} is no watermark, and no column"
        return QueryError(message, column.name.span, legal="WATERMARK FOR ts AS ts")
    first, _, rest = shown.partition(" ")
    if type_named(first) is not None and re.match(r"[^\W\d]\w*\s+\w", rest):
        message = f"a comma is missing behind {column.name.text} {first}"
        return QueryError(message, written.span, legal=f"{column.name.text} {first}, {rest}")
    keyed = {name.lower(): f"{name} PRIMARY KEY"} if rest.upper() == "KEY" else TYPES
    message = f"{shown} is not a type of a column{nearest(name, type_names(), keyed)}"
    return QueryError(message, written.span, legal=legal)
