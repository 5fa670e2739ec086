"""INTERSECT and EXCEPT: the rows of both queries, grouped by all their columns.

    a INTERSECT b          GROUP BY the columns of a UNION ALL b HAVING some row is of a, some of b
    a EXCEPT b             the same, HAVING every row is of a
    a INTERSECT ALL b      equal rows of each query are numbered, and the number is a key, too

So NULL equals NULL here, as in GROUP BY, and what is true of UNION holds: where the bounds of
windows are among the columns the windows are grouped again, and close.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.properties.changelog import lateness
from sqlwin.sql.relations.relation import NOWHERE, Relation
from sqlwin.sql.sources.from_clause import of_rows
from sqlwin.sql.sources.known import View
from sqlwin.sql.sources.unions import united, width
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import quoted

if TYPE_CHECKING:
    from sqlwin.sql.sources.known import Bind, Known

_HAVING = {
    "INTERSECT": "SUM({side}) > 0 AND SUM({side}) < COUNT(*)",
    "EXCEPT": "SUM({side}) = COUNT(*)",
}
"""Over 1 for a row of the first query and 0 for one of the second; sums fall as rows are retracted,
where BOOL_OR would have to keep the rows."""


def set_operation(select: ast.Select, known: Known, bind: Bind) -> tuple[ast.Select, Known]:
    """The same by GROUP BY, and what it names. select: `*` of an INTERSECT or EXCEPT."""
    union = select.relation.source
    assert isinstance(union, ast.Union)
    parts = [of_rows(bind(part, known), part.relation.source.span) for part in union.parts]
    if union.matching is not None:
        from sqlwin.sql.sources.by_name import matched  # by need

        parts, union = matched(parts, union), replace(union, matching=None)
    width(union, [part.schema() for part in parts])
    names = [name for name, _, _ in parts[0].columns]
    side, number = _free("side", names), _free("number", names)
    rows = united([_marked(part, side, 1 - at) for at, part in enumerate(parts)], union, known)
    name = ast.Name(_free(union.kind.lower(), known.views), union.span)
    known = known.inner()
    known.views[name.text] = View(name.text, select, known, lambda *_: rows, 1, 1)
    keys = tuple(quoted(each, union.span) for each in names)
    having = _run(_HAVING[union.kind].format(side=side), union.span)
    made = replace(select, items=keys, relation=ast.From(name), group=keys, having=having, ctes=())
    if not union.every:
        return made, known
    numbered = _numbered(select, rows, side, number, made.relation)
    where = _run(f"{number} <= {sys.maxsize}", union.span)
    group = (*keys, quoted(number, union.span))
    return replace(made, relation=ast.From(numbered), where=where, group=group), known


def _marked(part: Relation, name: str, side: int) -> Relation:
    """With a column that says whether a row is of the first query, 1, or the second, 0."""
    return replace(part, columns=(*part.columns, (name, exp.Literal.number(side), NOWHERE)))


def _numbered(
    select: ast.Select, rows: Relation, side: str, number: str, source: ast.From
) -> ast.Select:
    """The rows of `source` with numbers of equal ones, which are a top-n of any size.

    All equal rows have one event time, so their numbers are final when RETAIN has passed it.
    QueryError where none is among the columns, and equal rows may come for ever.
    """
    union = select.relation.source
    assert isinstance(union, ast.Union) and rows.stream is not None
    span, ts = union.span, rows.stream.ts
    if ts is None:
        message = (
            f"{union.kind} ALL counts equal rows, and they may come for ever where no event time "
            "is among the columns"
        )
        legal = f"window_end, or an event time, in both queries; {union.kind} without ALL"
        raise QueryError(message, span, legal=legal)
    keys = tuple(quoted(name, span) for name, _, _ in rows.columns)
    call = f"ROW_NUMBER() OVER {chr(ast.PLACEHOLDER)} AS {number}"
    spec = ast.Spec(span, partition=keys, order=(quoted(side, span),))
    late = lateness(rows.stream)
    retain = select.policies.retain or (None if late is None else ast.Duration(late, span))
    policies = ast.Policies(retain=retain, span=None if retain is None else span)
    ranked = replace(_run(call, span), overs=(spec,))
    return ast.Select((*keys, ranked), source, span, policies=policies)


def _run(text: str, span: Span) -> ast.Run:
    return ast.Run(text, text, span)


def _free(name: str, taken: Iterable[str]) -> str:
    lower = {each.lower() for each in taken}
    while name in lower:
        name += "_"
    return name
