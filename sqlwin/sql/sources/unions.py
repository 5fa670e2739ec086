"""UNION ALL: the results of several queries as the rows of one derived stream, also of those with
INTERSECT or EXCEPT between them.

Columns go by their places and have the first query's names; numbers are widened as in
an INSERT. Its event time must be one in each of the queries, for what needs one above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.functions.core.widening import widest
from sqlwin.plan.ir.nodes import Scan, Stream
from sqlwin.schema import Schema, type_name
from sqlwin.sql.expressions.scalars import column
from sqlwin.sql.relations.relation import NOWHERE, Relation
from sqlwin.sql.sources.derived import UNION, stage, timed_by_itself
from sqlwin.sql.text import ast

if TYPE_CHECKING:
    from sqlwin.sql.sources.known import Known


def united(parts: Sequence[Relation], union: ast.Union, known: Known) -> Relation:
    if union.matching is not None:
        from sqlwin.sql.sources.by_name import matched  # by need

        parts = matched(parts, union)
    schemas = [part.schema() for part in parts]
    types = [_widest(union, at, schemas) for at in range(width(union, schemas))]
    names = [name for name, _, _ in parts[0].columns]
    pairs = zip(parts, schemas, strict=True)
    alike = [_alike(part, names, types, schema) for part, schema in pairs]
    plans = tuple(stage(part, known) for part in alike)
    stream = timed_by_itself(Stream(UNION, alike[0].schema(), None, of=plans))
    columns = tuple((name, column(name), NOWHERE) for name in names)
    reads = tuple(dict.fromkeys(name for part in parts for name in part.reads))
    return Relation(Scan(stream), columns, (), reads=reads)


def _word(union: ast.Union) -> str:
    return f"{union.kind} ALL" if union.kind == "UNION" or union.every else union.kind


def width(union: ast.Union, schemas: Sequence[Schema]) -> int:
    """How many columns all parts have; QueryError where one has more or fewer than the first."""
    first = len(schemas[0])
    for part, schema in zip(union.parts, schemas, strict=True):
        if len(schema) != first:
            message = (
                f"this query has {len(schema)} columns, the first of its {_word(union)} {first}"
            )
            legal = ", ".join(f"{c.name} {type_name(c.type)}" for c in schemas[0])
            raise QueryError(message, part.span, legal=legal)
    return first


def _widest(union: ast.Union, at: int, schemas: Sequence[Schema]) -> pa.DataType:
    found = schemas[0][at].type
    for part, schema in zip(union.parts, schemas, strict=True):
        other = schema[at].type
        wider = widest(found, other, loose=False)
        if wider is None:
            types = f"{type_name(other)}, and {type_name(found)} before"
            message = f"column {at + 1} of the {_word(union)} is {types}"
            span = part.items[min(at, len(part.items) - 1)].span
            if union.matching is not None:
                message = f"{schema[at].name} of the {_word(union)} is {types}"
                span = part.span
            legal = f"CAST({schema[at].name} AS {type_name(found)})"
            raise QueryError(message, span, legal=legal)
        found = wider
    return found


def _alike(
    part: Relation, names: Sequence[str], types: Sequence[pa.DataType], schema: Schema
) -> Relation:
    columns = []
    for name, wanted, own, (_, tree, run) in zip(names, types, schema, part.columns, strict=True):
        if own.type != wanted:
            tree = exp.cast(tree, type_name(wanted), dialect="spark")
        columns.append((name, tree, run))
    return replace(part, columns=tuple(columns))
