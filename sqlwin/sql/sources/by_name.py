"""Set operations whose columns are matched by their names.

    SELECT a, b … UNION ALL BY NAME SELECT b, c …             a, b, c; NULL where a query has none
    SELECT a, b … UNION ALL CORRESPONDING SELECT b, c …       b
    SELECT a, b … UNION ALL CORRESPONDING BY (b) SELECT b, a …    b

Each query gives its columns in one order; what is by places from there on takes no notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.schema import type_name
from sqlwin.sql.relations.relation import NOWHERE, Relation, nearest
from sqlwin.sql.text import ast


def matched(parts: Sequence[Relation], union: ast.Union) -> list[Relation]:
    """The queries with their columns in the order of what all of them give."""
    matching = union.matching
    if matching is None:
        return list(parts)
    if matching.word.text == "BY NAME":
        names = _names(parts)
    elif matching.names:
        names = [name.text for name in matching.names]
    else:
        names = [name for name in _own(parts[0]) if all(part.find(name) for part in parts)]
    if not names:
        message = "the queries have no column in common"
        raise QueryError(message, matching.word.span, legal="names of both; UNION by places")
    padded = matching.word.text == "BY NAME" and union.kind == "UNION"
    if not padded:
        for name in names:
            _refuse_missing(name, parts, union)
    types = {name: _type(name, parts) for name in names if padded}
    return [_ordered(part, names, types) for part in parts]


def _own(part: Relation) -> list[str]:
    return [name for name, _, _ in part.columns]


def _names(parts: Sequence[Relation]) -> list[str]:
    """Of all, in the order in which they come first."""
    found = {name.lower(): name for part in reversed(parts) for name in _own(part)}
    order = dict.fromkeys(name.lower() for part in parts for name in _own(part))
    return [found[name] for name in order]


def _refuse_missing(name: str, parts: Sequence[Relation], union: ast.Union) -> None:
    assert union.matching is not None
    for part, select in zip(parts, union.parts, strict=True):
        if part.find(name) is None:
            own = _own(part)
            message = f"this query has no column {name}{nearest(name, own)}"
            raise QueryError(message, select.span, legal=", ".join(own))


def _type(name: str, parts: Sequence[Relation]) -> str:
    """Of the first query that has it."""
    part = next(part for part in parts if part.find(name))
    found = part.find(name)
    return next(type_name(column.type) for column in part.schema() if column.name == found)


def _ordered(part: Relation, names: Sequence[str], types: dict[str, str]) -> Relation:
    own = {name.lower(): (tree, run) for name, tree, run in part.columns}
    columns = []
    for name in names:
        tree, run = own.get(name.lower(), (None, NOWHERE))
        columns.append((name, tree or exp.cast(exp.null(), types[name], dialect="spark"), run))
    return replace(part, columns=tuple(columns))
