"""Casts that no value survives, written or implied: `k = s` of a number and a struct.

The engine binds them, and fails for each row. So an expression that casts or compares is tried
on one row of ordinary values; where the engine has no such cast at all, it is refused by name.

>>> told("Conversion Error: Unimplemented type for cast (BIGINT -> STRUCT(a VARCHAR)) when …")
('a BIGINT cannot be a STRUCT(a STRING)', 'values of one type; a field or an element of it')
>>> told('Conversion Error: extract specifier "FORTNIGHT" not recognized')
('FORTNIGHT is no unit of time', 'YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND')
>>> told("Conversion Error: Could not convert string 'x' to INT64")
"""

from __future__ import annotations

import re

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.schema import Schema, with_article
from sqlwin.sql import ast
from sqlwin.sql.engine import NO_PART, failure, no_part, plain_types

UNITS = "YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND"
_CASTING = (exp.Cast, exp.EQ, exp.NEQ, exp.In, exp.NullSafeEQ, exp.NullSafeNEQ)
_PARTS = (exp.TimestampTrunc, exp.DateTrunc, exp.Extract)
_NO_CAST = re.compile(r"Unimplemented type for cast \((.*) -> (.*)\)")


def refuse_casts(tree: exp.Expr, sql: str, schema: Schema, run: ast.Run) -> None:
    """sql: the tree in the engine's SQL, over columns of `schema`."""
    if not schema or tree.find(*_CASTING, *_PARTS) is None:
        return
    found = told(failure(sql, schema, nulls=False))
    if found is not None:
        raise QueryError(found[0], run.span, legal=found[1])


def told(reason: str) -> tuple[str, str] | None:
    """The message and what is legal, where it fails for whatever row comes."""
    cast = _NO_CAST.search(reason)
    if cast is not None:
        have, wanted = (plain_types(name) for name in cast.groups())
        legal = "values of one type; a field or an element of it"
        return f"{with_article(have)} cannot be {with_article(wanted)}", legal
    part = NO_PART.search(reason)
    if part is None or not part[1].isalpha():  # else it is of the row that was tried
        return None
    return no_part(part[1]), UNITS
